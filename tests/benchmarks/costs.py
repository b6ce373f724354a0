"""Counts what each step costs: ``make costs`` writes docs/costs.md."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.prices import Prices, Stack
from benchmarks.steps import STEPS
from contract.world import World, task
from slate.adapters.dynamodb.table import TIMER_SHARDS
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.adapters.inprocess.wakeups import NoWakeups
from slate.service.waiting import POLLED, Waiting
from slate.testing.meter import Meter

PAGE: Final = Path(__file__).parents[2] / "docs" / "costs.md"


class Figures(NamedTuple):
    """Calls of DynamoDB, and the units they use."""

    calls: float
    reads: float
    writes: float

    @property
    def units(self) -> float:
        """Both kinds together."""
        return self.reads + self.writes

    def less(self, other: Figures) -> Figures:
        """What this costs beyond another."""
        return Figures(*(a - b for a, b in zip(self, other, strict=True)))

    def each(self, count: int) -> Figures:
        """What one of so many costs."""
        return Figures(*(figure / count for figure in self))

    def row(self, step: str) -> str:
        """A row of the table."""
        return f"| {step} | {' | '.join(f'{figure:g}' for figure in self)} |"


Measured = Mapping[str, Figures]


def measured() -> dict[str, Figures]:
    """Every step, each in a world of its own whose data keys are known already."""
    figures: dict[str, Figures] = {}
    with MotoEngine(region="eu-central-1") as engine:
        dynamodb, s3 = engine.client("dynamodb"), engine.client("s3")
        for name, prepare in STEPS.items():
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


def idle_month(known: Measured, prices: Prices, stack: Stack) -> list[tuple[str, str, float]]:
    """What is paid while nobody calls: the item, how it comes about, USD."""
    runs = stack.month_minutes
    decays = stack.month_minutes // stack.decay_minutes
    reads = runs * stack.polls * known["poll, nothing due"].reads
    seconds = runs * stack.run_seconds * stack.sweeper_gb
    return [
        (
            "polls of the timer",
            f"{runs:,} runs x {stack.polls} polls x {known['poll, nothing due'].reads:g} read units",
            reads / 1e6 * prices.million_reads,
        ),
        (
            "the sweeper's time",
            f"{runs:,} runs x {stack.run_seconds} s x {stack.sweeper_gb:g} GB",
            seconds * prices.gb_second,
        ),
        ("its starts", f"{runs:,} runs", runs / 1e6 * (prices.million_invocations + prices.million_schedules)),
        ("the KMS keys", f"{stack.keys} keys", stack.keys * prices.key_month),
        (
            "decay",
            f"{decays:,} runs x ({known['poll, nothing due'].reads:g} read units, {stack.decay_seconds:g} s)",
            decays * known["poll, nothing due"].reads * prices.million_reads / 1e6
            + decays * stack.decay_seconds * stack.decay_gb * prices.gb_second
            + decays * (prices.million_schedules + prices.million_invocations) / 1e6,
        ),
        ("alarms", f"{stack.alarm_metrics} metrics", stack.alarm_metrics * prices.alarm_month),
    ]


def looks_while_waiting(seconds: float, waits: int = 200) -> float:
    """How often one who waits so long in vain looks, in the mean, where nobody tells it when to."""
    now, looks = 0.0, 0

    def sleep(rest: float) -> None:
        nonlocal now
        now += rest

    def look() -> None:
        nonlocal looks
        looks += 1

    rng = random.Random(1)  # noqa: S311  # the same figure each time
    waiting = Waiting(NoWakeups(sleep), rng, pauses=POLLED, places=1, stopwatch=lambda: now)
    for _ in range(waits):
        waiting.until(look, topics=(), seconds=seconds)
    return looks / waits


def idle_worker(known: Measured, prices: Prices, stack: Stack) -> list[tuple[str, str, float]]:
    """What one worker without work costs a month, by how it asks: the way, how soon it learns of work, USD."""
    month = stack.month_minutes * 60
    reads = known["claim, none ready"].reads

    def usd(seconds_between: float, looks: float, busy: float) -> float:
        asked = month / seconds_between
        request = (prices.million_requests + prices.million_invocations + looks * reads * prices.million_reads) / 1e6
        return asked * (request + busy * stack.waiting_gb * prices.gb_second)

    waited = stack.wait_seconds
    looks = looks_while_waiting(waited)
    return [
        (f"waits {waited} s at a time: {looks:.0f} looks", "1 s in the mean", usd(waited, looks, waited)),
        ("asks every second", "0.5 s", usd(1, 1, stack.claim_seconds)),
        ("asks every 5 s", "2.5 s", usd(5, 1, stack.claim_seconds)),
        ("asks every 30 s", "15 s", usd(30, 1, stack.claim_seconds)),
        ("is started by `task.ready`", "when the event comes", 0.0),
    ]


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


def page(known: Measured, prices: Prices, stack: Stack) -> str:
    """The document."""
    every = {**known, **derived(known)}
    parts = [HEAD]
    for title, steps in SECTIONS.items():
        rows = [every[step].row(step) for step in steps]
        table = ["| step | calls | RCU | WCU |", "|---|--:|--:|--:|", *rows]
        parts.append("\n".join([f"## {title}", "", *table, "", NOTES[title], ""]))
    return "\n".join([*parts, _money(known, prices, stack)])


def _money(known: Measured, prices: Prices, stack: Stack) -> str:
    items = idle_month(known, prices, stack)
    rows = [f"| {name} | {how} | {usd:.2f} |" for name, how, usd in items]
    one = life(known)
    million = one.reads * prices.million_reads + one.writes * prices.million_writes
    return f"""\
## In money

The prices are inputs ([prices.py](../tests/benchmarks/prices.py)), not promises. They are those of {prices.source}, in
USD, without a free tier; put in your own and run `make costs`.

| price | USD |
|---|--:|
| a million read units | {prices.million_reads:g} |
| a million write units | {prices.million_writes:g} |
| a GB-second of Lambda, arm64 | {prices.gb_second:.10f} |
| a million invocations | {prices.million_invocations:g} |
| a million requests of the HTTP API | {prices.million_requests:g} |
| a million schedules | {prices.million_schedules:g} |
| a KMS key, a month | {prices.key_month:g} |
| a metric of an alarm, a month | {prices.alarm_month:g} |

**A month in which nobody calls**

| what | how much | USD |
|---|---|--:|
{chr(10).join(rows)}
| **together** | | **{sum(usd for _, _, usd in items):.2f}** |

**An idle worker, a month**, at one role, by how it asks for work

| a worker that | learns of work after | USD |
|---|---|--:|
{chr(10).join(f"| {way} | {soon} | {usd:.2f} |" for way, soon, usd in idle_worker(known, prices, stack))}

Who waits keeps a function of {stack.waiting_gb:g} GB for as long, and Lambda is paid by that time; who asks is paid by the request
(a claim that finds nothing is taken to last {stack.claim_seconds * 1000:.0f} ms). Each further role of a worker is a read more a look. On a laptop
waiting costs nothing. [Claims](claims.md) says when to do which.

`SLATE_SWEEP_POLL_SECONDS` and `SLATE_SWEEP_RUN_SECONDS` trade the first two rows against how soon a lapsed lease is
seen. Stored data, its backups and logs come on top, by what there is of them.

**A million tasks**, each with one parent and one child, created within a graph, claimed, kept alive by one heartbeat
and completed: {one.reads:g} read and {one.writes:g} write units a task, {million:,.2f} USD of DynamoDB for all of them. API Gateway
and Lambda are paid by the request.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(measured(), Prices(), Stack()))


if __name__ == "__main__":
    main()
