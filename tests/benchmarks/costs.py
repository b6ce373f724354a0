"""Counts what each step costs: ``make costs`` writes docs/costs.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from benchmarks import conversation
from benchmarks.conversation import PerContext
from benchmarks.figures import Figures, Measured
from benchmarks.money import section
from benchmarks.prices import Prices, Stack, Work
from benchmarks.steps import STEPS, Prepare
from contract.world import World, task
from slate.adapters.dynamodb.table import TIMER_SHARDS
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.testing.meter import Meter

PAGE: Final = Path(__file__).parents[2] / "docs" / "costs.md"


def measured(**instead: Prepare) -> dict[str, Figures]:
    """Every step, each in a world of its own whose data keys are known already; some, by name, prepared otherwise."""
    figures: dict[str, Figures] = {}
    with MotoEngine(region="eu-central-1") as engine:
        dynamodb, s3 = engine.client("dynamodb"), engine.client("s3")
        for name, prepare in {**STEPS, **instead}.items():
            world = World(dynamodb, s3)
            world.graph(task("other", role="other"), graph_id="other")
            act = prepare(world)
            with Meter(dynamodb).measure() as cost:
                act()
            figures[name] = Figures(cost.calls, cost.reads, cost.writes)
            world.close()
    return figures


def derived(known: Measured) -> dict[str, Figures]:
    """What one more of a thing costs; of a poll that does something, what is left without the idle shards' queries."""
    idle = known["poll, nothing due"]
    others = idle.less(idle.each(TIMER_SHARDS))
    return {
        "create, each task": known["create, 11 tasks"].less(known["create, 1 task"]).each(10),
        "create, each edge": known["create, 10 tasks and a join of 10"]
        .less(known["create, 10 tasks and a join of 2"])
        .each(8),
        "create in parts, each task": known["create in parts, 300 tasks"]
        .less(known["create in parts, 200 tasks"])
        .each(100),
        "reap a lapsed lease": known["poll, a lapsed lease"].less(others),
        "move the entry of an extended lease": known["poll, a lease extended by heartbeat"].less(others),
        "end a rest": known["poll, a rest over"].less(others),
    }


def life(known: Measured) -> Figures:
    """A task with one parent and one child: made, claimed, kept alive once, completed."""
    more = derived(known)
    steps = (
        more["create, each task"],
        more["create, each edge"],
        known["claim, 100 ready"],
        known["heartbeat"],
        known["complete, 1 child"],
    )
    return Figures(*(sum(figures) for figures in zip(*steps, strict=True)))


HEAD: Final = """\
# What a step costs

Written by `make costs`; do not edit. The calls are counted on the local engine, and their units (read and write units
of DynamoDB on demand) computed from the items by the rules that AWS publishes: sizes, rounding, index entries, failed
conditions and transactions included. Your own flows can be counted the same way:
[`fresh_slate.meter()`](testing.md).

It is counted for one role, task items of up to 1 KB, no subject, data keys and the credential's decision in the cache,
and no contention. Each further KB of a task's item makes each of its writes one unit more.
"""

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "A worker's steps": (
        "claim, 100 ready",
        "claim, 10,000 ready",
        "claim, none ready",
        "claim with Idempotency-Key",
        "heartbeat",
        "heartbeat with progress",
        "complete, nobody waits",
        "complete, 1 child",
        "complete, 5 children",
        "complete, 20 children",
        "complete, 5 children that wait for more",
        "complete, 5 children, last of 2 parents",
        "complete, child added since the claim",
        "complete, late and nobody reclaimed",
        "complete, result of 10 KB",
        "fail, to be tried again",
        "fail for good, nobody waits",
        "fail for good, 1 child cancelled",
        "wait",
        "release",
    ),
    "A person's steps": ("resume", "resume, an approval", "retry", "cancel", "get a task", "get a graph, 90 tasks"),
    "A planner's steps": (
        "create, 1 task",
        "create, each task",
        "create, each edge",
        "create in parts, each task",
        "add a task with 1 parent",
    ),
    "Values and locks": (
        "read a value",
        "list 10 values",
        "first value of a graph",
        "new value",
        "put over a value, increment, append or merge",
        "increment with Idempotency-Key",
        "change 10 values together",
        "delete a value",
        "complete with a value, nobody waits",
        "acquire a lock",
        "acquire a lock that another holds",
        "heartbeat of a lock",
        "release a lock",
        "look at a lock",
    ),
    "The change feed": (
        "number a change",
        "number 40 changes of one batch",
        "number a change that was numbered",
        "follow, nothing new",
        "follow, 99 entries",
    ),
    "The sweeper's steps": (
        "poll, nothing due",
        "reap a lapsed lease",
        "move the entry of an extended lease",
        "end a rest",
    ),
}

NOTES: Final[Mapping[str, str]] = {
    "A worker's steps": """\
A completion with d children that become ready costs 3 + 2d write units and one consistent query: 1 for the task, 2 for
each child (its item and its entry in the queue), 2 when all are told. A child that still waits for others costs 1. Which
of its two forms a child needs is guessed from whether it has other parents; a wrong guess costs 1 more, as does a child
that came after the claim, or a completion after the lease has lapsed: the call is made once more in the right form.""",
    "A person's steps": """\
What people do reads first, so that it can be pinned to what they saw. A graph's counts are a query of its tasks.""",
    "A planner's steps": """\
The head of a graph and its place in the list cost 4 write units, once. A task is written twice where it starts out on
hold, as the roots of a graph in parts do.""",
    "Values and locks": """\
A change of a value reads the graph's head and the value, then writes the value and what it was, in one transaction, whose
parts count twice: each further KB of a value costs 2 units more in either. Beyond 100 KB an object is written instead. A
completion without values costs what it did. A lock costs one call a step.""",
    "The change feed": """\
The consumer reads the heads and the marks of a batch's tasks, writes them and one page of entries in one transaction, whose
parts count twice, and then notes that the bus was told. What comes close together is cheap: a batch is up to 90 changes.""",
    "The sweeper's steps": """\
A poll asks the 16 shards of the timer. The other rows are one entry's: its own shard's query and what is done; the
queries of the 15 other shards are the idle cost.""",
}


def page(known: Measured, context: PerContext, prices: Prices, stack: Stack) -> str:
    """The document."""
    every = {**known, **derived(known)}
    parts = [HEAD]
    for title, steps in SECTIONS.items():
        rows = [every[step].row(step) for step in steps]
        table = ["| step | calls | RCU | WCU |", "|---|--:|--:|--:|", *rows]
        parts.append("\n".join([f"## {title}", "", *table, "", NOTES[title], ""]))
    return "\n".join([*parts, section(known, life(known), context, prices, stack, Work())])


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(measured(), conversation.measured(), Prices(), Stack()))


if __name__ == "__main__":
    main()
