"""Two calls at once: one happens whole between any two calls of the other, and it comes out as if one had come first.

Each pair is run with either one interrupted, before each of its writes to the storage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from contract import faults
from contract.invariants import broken, unsettled
from contract.scenarios import Act, die
from contract.world import DAY, TENANT, World, after, all_ended, task
from slate.domain.errors import SlateError
from slate.domain.leases import Claim
from slate.domain.slots import HOLD_ADD
from slate.domain.tasks import EdgeKind
from slate.ports.task_store import Due, Edge
from slate.service.tasks.unlocking import Unlocking

Pair = Callable[[World], tuple[Act, Act]]
PAIRS: Final[dict[str, Pair]] = {}


def pair(prepare: Pair) -> Pair:
    PAIRS[prepare.__name__] = prepare
    return prepare


def family(w: World, **more: Any) -> dict[str, Claim]:
    """Two running parents, a child of both, a grandchild."""
    w.graph(task("p", max_attempts=1), task("q", max_attempts=1), task("c", "p", "q", **more), task("g", "c"))
    return {claim.task.task_id: claim for claim in w.claims(max=2)}


# ---- ends and adds


@pair
def two_parents_complete(w: World) -> tuple[Act, Act]:
    claims = family(w)
    return lambda: w.complete(claims["p"]), lambda: w.complete(claims["q"])


@pair
def one_parent_completes_and_one_fails(w: World) -> tuple[Act, Act]:
    claims = family(w)
    return lambda: w.complete(claims["p"]), lambda: w.fail(claims["q"])


@pair
def the_last_parent_completes_and_a_person_approves(w: World) -> tuple[Act, Act]:
    claims = family(w, needs_approval=True)
    w.complete(claims["p"])
    return lambda: w.complete(claims["q"]), lambda: w.resume("c")


@pair
def a_parent_fails_and_a_person_approves(w: World) -> tuple[Act, Act]:
    claims = family(w, needs_approval=True)
    w.complete(claims["p"])
    return lambda: w.fail(claims["q"]), lambda: w.resume("c")


@pair
def a_task_without_children_completes_and_gets_one(w: World) -> tuple[Act, Act]:
    w.graph(task("a"))
    claim = w.claim()
    return lambda: w.complete(claim), lambda: w.add(task("b", "a"), task("c", "b"))


@pair
def a_task_without_children_fails_and_gets_one(w: World) -> tuple[Act, Act]:
    w.graph(task("a"))
    claim = w.claim()
    return lambda: w.fail(claim, retryable=False), lambda: w.add(task("b", "a"), task("c", after("a")))


@pair
def a_task_is_cancelled_and_gets_a_child(w: World) -> tuple[Act, Act]:
    w.graph(task("a"))
    return lambda: w.cancel("a"), lambda: w.add(task("b", "a"), task("c", "b"))


@pair
def a_failed_task_is_retried_and_gets_a_child(w: World) -> tuple[Act, Act]:
    w.graph(task("a"))
    w.fail(w.claim(), retryable=False)
    return lambda: w.retry("a"), lambda: w.add(task("b", "a"), task("c", after("a")))


# ---- edge by edge


def join(w: World) -> Act:
    return lambda: w.graphs.add_in_parts(TENANT, w.graphs.head(TENANT, "g"), task("z", "p", after("q")))


@pair
def an_add_in_parts_and_its_parent_completes(w: World) -> tuple[Act, Act]:
    claims = family(w)
    return join(w), lambda: w.complete(claims["p"])


@pair
def an_add_in_parts_and_its_parent_fails(w: World) -> tuple[Act, Act]:
    claims = family(w)
    return join(w), lambda: w.fail(claims["p"])


@pair
def an_add_in_parts_and_its_repeat(w: World) -> tuple[Act, Act]:
    claims = family(w)
    w.complete(claims["p"])
    return join(w), join(w)


@pair
def an_add_in_parts_and_the_last_call_of_its_repeat(w: World) -> tuple[Act, Act]:
    """Every edge is there, and a parent has ended untold: its slot must not go after the hold, unnoticed."""
    claims = family(w)
    w.complete(claims["q"])
    die(w, 3, join(w))
    die(w, 1, lambda: w.complete(claims["p"]))
    hold = Edge("z", HOLD_ADD, EdgeKind.COMPLETION, "default", "worker", 5, 60, None, likely_last=False)
    return join(w), lambda: w.cascade.free(TENANT, "g", hold, epoch=0)


@pair
def an_add_in_parts_and_a_retry_of_the_task_that_stopped_halfway(w: World) -> tuple[Act, Act]:
    """The retry set a hold of its own, which the add must leave."""
    claims = family(w)
    w.complete(claims["p"])

    def cancel_and_begin_a_retry() -> None:
        w.cancel("z")
        die(w, 1, lambda: w.retry("z"))

    return join(w), cancel_and_begin_a_retry


@pair
def an_add_in_parts_and_a_cancel_of_the_task(w: World) -> tuple[Act, Act]:
    family(w)
    return join(w), lambda: w.cancel("z")


@pair
def a_retry_in_parts_and_its_parent_ends(w: World) -> tuple[Act, Act]:
    claims = family(w)
    die(w, 2, join(w))
    w.cancel("z")
    return lambda: w.retry("z"), lambda: w.complete(claims["p"])


# ---- retries


@pair
def a_child_is_retried_and_its_parent_fails(w: World) -> tuple[Act, Act]:
    claims = family(w)
    w.cancel("c")
    return lambda: w.retry("c"), lambda: w.fail(claims["p"])


@pair
def a_child_is_retried_and_its_parent_completes(w: World) -> tuple[Act, Act]:
    claims = family(w)
    w.cancel("c")
    return lambda: w.retry("c"), lambda: w.complete(claims["p"])


@pair
def two_people_retry(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), task("b", "a"))
    w.fail(w.claim(), retryable=False)
    return lambda: w.retry("a", cascade=True), lambda: w.retry("a", w.principal("bob"), cascade=True)


@pair
def a_failure_is_told_while_it_is_retried(w: World) -> tuple[Act, Act]:
    """The sweeper is about to cancel a child for a failure that is being taken back."""
    w.graph(task("a", max_attempts=1), task("b", "a"), task("c", after("a")))
    claim = w.claim()
    die(w, 1, lambda: w.fail(claim))
    w.clock.advance(61)
    return w.sweep, lambda: w.retry("a", cascade=True)


@pair
def two_people_cancel(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), task("b", "a"))
    return lambda: w.cancel("a"), lambda: w.cancel("a", w.principal("bob"))


@pair
def a_person_answers_what_is_cancelled(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), task("b", "a"))
    w.wait(w.claim())
    return lambda: w.resume("a"), lambda: w.cancel("a")


@pair
def a_person_approves_what_is_cancelled(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), task("b", "a", needs_approval=True))
    return lambda: w.resume("b"), lambda: w.cancel("b")


# ---- workers and the sweeper


@pair
def a_lapsed_task_completes_and_is_reaped(w: World) -> tuple[Act, Act]:
    claims = family(w)
    w.complete(claims["q"])
    w.clock.advance(61)
    return lambda: w.complete(claims["p"]), w.sweep


@pair
def a_lapsed_task_is_heard_of_and_is_reaped(w: World) -> tuple[Act, Act]:
    w.graph(task("a"))
    claim = w.claim()
    w.clock.advance(61)
    return lambda: w.heartbeat(claim), w.sweep


@pair
def an_extended_lease_is_moved_while_the_task_ends(w: World) -> tuple[Act, Act]:
    w.graph(task("a"))
    claim = w.claim()
    w.heartbeat(claim, lease_seconds=DAY)
    w.clock.advance(61)
    return w.sweep, lambda: w.complete(claim)


@pair
def two_sweepers_meet(w: World) -> tuple[Act, Act]:
    w.graph(task("a", max_attempts=1), task("b", "a"), task("c", after("a"), "b"), task("d", after("b")))
    w.claim()
    w.clock.advance(61)
    return w.sweep, w.sweep


@pair
def a_completion_and_the_sweeper_tell_the_same_children(w: World) -> tuple[Act, Act]:
    claims = family(w)
    w.complete(claims["q"])

    def late_sweep() -> None:
        w.clock.advance(61)
        w.sweep()

    return lambda: w.complete(claims["p"]), late_sweep


# ---- whole graphs


@pair
def the_last_part_and_a_cancel_of_a_root(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), task("b", "a"), task("c", after("a")), more=True)

    def cancelled_by_one_who_dies() -> None:
        die(w, 1, lambda: w.cancel("a"))

    return w.add, cancelled_by_one_who_dies


@pair
def a_part_and_the_last_part_that_overtakes_it(w: World) -> tuple[Act, Act]:
    """And all that could run has run before the first part goes on."""
    w.graph(task("a"), task("d"), more=True)

    def the_rest() -> None:
        w.add()
        w.complete(w.claims()[0])
        w.work_off()

    return lambda: w.add(task("b", "a"), task("e", "b"), task("c", after("a"), "d"), more=True), the_rest


@pair
def the_last_part_and_its_repeat(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), more=True)
    return lambda: w.add(task("b", "a"), task("c")), lambda: w.add(task("b", "a"), task("c"))


@pair
def the_last_part_and_a_cancel_of_the_graph(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), more=True)
    return lambda: w.add(task("b", "a"), task("c")), w.cancel_graph


@pair
def the_last_part_and_a_delete_of_the_graph(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), more=True)
    return lambda: w.add(task("b", "a"), task("c")), w.delete_graph


@pair
def an_add_and_a_cancel_of_the_graph(w: World) -> tuple[Act, Act]:
    family(w)
    return lambda: w.add(task("x", "p")), w.cancel_graph


@pair
def an_add_in_parts_and_a_delete_of_the_graph(w: World) -> tuple[Act, Act]:
    family(w)
    return join(w), w.delete_graph


@pair
def a_retry_and_a_cancel_of_the_graph(w: World) -> tuple[Act, Act]:
    claims = family(w)
    w.fail(claims["p"])
    return lambda: w.retry("p"), w.cancel_graph


@pair
def a_failure_and_a_cancel_of_the_graph(w: World) -> tuple[Act, Act]:
    w.graph(task("a", max_attempts=1), task("b", "a"), task("c", after("a")), task("d", after("c")))
    claim = w.claim()
    return lambda: w.fail(claim), w.cancel_graph


@pair
def a_cancel_of_the_graph_and_one_who_would_start_what_it_frees(w: World) -> tuple[Act, Act]:
    w.graph(task("a"), task("b", after("a")), task("c", after("b")))

    def tell_and_claim() -> None:
        """A sweeper that works off this one task, and a worker."""
        parent = w.timer.tick_task(Due(TENANT, "g", "a"))
        if parent is not None:
            Unlocking(w.cascade, w.clock).inline(TENANT, parent)
        w.claims()

    return w.cancel_graph, tell_and_claim


@pair
def a_completion_and_a_delete_of_the_graph(w: World) -> tuple[Act, Act]:
    claims = family(w)
    return lambda: w.complete(claims["p"], "x" * 10_000), w.delete_graph


@pair
def two_graphs_of_one_id(w: World) -> tuple[Act, Act]:
    return lambda: w.graph(task("a"), goal="one"), lambda: w.graph(task("a"), goal="another")


# ---- the law


def attempt(act: Act) -> None:
    """A refusal is an outcome like any other."""
    try:
        act()
    except SlateError:
        return


def outcome(w: World) -> dict[str, Any]:
    """How the tasks stand once the sweeper has looked, and under which epoch."""
    assert not broken(w.items())
    if w.waits():
        w.sweep()
    tasks = {key.sk: item for key, item in w.items().items() if key.sk.startswith("T#")}
    return {sk: (item["state"], item["epoch"], item["attempts"]) for sk, item in tasks.items()}


def in_turn(worlds: Callable[..., World], prepare: Pair, first: int) -> dict[str, Any]:
    w = worlds()
    acts = prepare(w)
    attempt(acts[first])
    attempt(acts[1 - first])
    return outcome(w)


# Before a write is where what was read may have changed; `make race` interrupts before each read as well.
POINTS: Final = [
    pytest.param(faults.WRITES, id="before-writes"),
    pytest.param(faults.READS | faults.WRITES, id="before-calls", marks=pytest.mark.race),
]


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("interrupted", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize("name", PAIRS)
def test_two_calls_at_once_come_out_as_one_after_the_other(
    worlds: Callable[..., World], name: str, interrupted: int, points: frozenset[str]
) -> None:
    prepare = PAIRS[name]
    serial = [in_turn(worlds, prepare, 0), in_turn(worlds, prepare, 1)]
    checked: list[Any] = []
    for at in range(1, 1_000):
        w = worlds()
        acts = prepare(w)
        ran: list[bool] = []

        def other(act: Act = acts[1 - interrupted], ran: list[bool] = ran) -> None:
            ran.append(True)
            attempt(act)

        w.faults.arm(at, faults.meanwhile(other), among=points)
        attempt(acts[interrupted])
        w.faults.disarm()
        if not ran:
            return
        assert outcome(w) in serial, f"before the {at}. of the calls"
        if (left := to_do(w)) not in checked:
            checked.append(left)
            comes_to_an_end(w)


def to_do(w: World) -> dict[str, Any]:
    """All that decides how a graph goes on: two worlds that agree in it end alike."""
    names = ("state", "attempts", "need", "unlocking", "dependents", "child", "slot")
    return {
        key.sk: ([item.get(name) for name in names], "timer_pk" in item, "ready_pk" in item)
        for key, item in w.items().items()
        if "#G#" in key.pk
    }


def comes_to_an_end(w: World) -> None:
    w.settle()
    assert not unsettled(w.items())
    w.work_off()
    assert all_ended(item["state"] for key, item in w.items().items() if key.sk.startswith("T#"))
