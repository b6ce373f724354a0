"""Indexes are hints: however far they lag, the condition on the item decides, and nothing is done twice or lost."""

from __future__ import annotations

import pytest

from contract.invariants import broken, unsettled
from contract.scenarios import die
from contract.world import TENANT, World, all_ended, many, task
from slate.domain.tasks import TaskState
from slate.ports.task_store import Parent


def test_workers_who_see_an_old_index_get_each_task_once(w: World) -> None:
    w.graph(*(task(t) for t in many("t", 20)))
    w.freeze("ready")
    workers = [w.principal(f"worker-{i}") for i in range(5)]
    got = [c.task.task_id for _ in range(6) for worker in workers for c in w.claims(worker)]
    assert sorted(got) == many("t", 20)
    assert not broken(w.items())


def test_tasks_behind_those_that_an_old_index_still_shows_are_reached(w: World) -> None:
    """Ten are looked at first; all ten are taken already, and the index does not say so."""
    w.graph(*(task(t) for t in many("t", 15)))
    w.freeze("ready")
    first = w.claims(max=10)
    later = [w.claims(w.principal("late")) for _ in range(5)]
    assert len({c.task.task_id for c in first} | {c.task.task_id for (c,) in later}) == 15


def test_a_task_that_left_the_index_in_every_way_is_not_claimed_through_it(w: World) -> None:
    w.graph(task("a"), task("b"), task("c"), task("d"))
    w.freeze("ready")
    claims = {c.task.task_id: c for c in w.claims(max=3)}
    (left,) = set("abcd") - claims.keys()
    one, two, three = claims
    w.complete(claims[one])
    w.fail(claims[two])
    w.wait(claims[three])
    w.cancel(left)
    before = w.items()
    assert w.claims(max=4) == ()
    assert w.items() == before


def test_a_deleted_graphs_tasks_are_no_ghosts_in_an_old_index(w: World) -> None:
    w.graph(task("a"))
    w.freeze("ready", "timer")
    w.delete_graph()
    assert w.claims() == ()
    w.clock.advance(120)
    w.sweep()
    w.faults.thaw()
    w.settle()
    assert not w.items()


def test_a_released_task_that_an_old_index_shows_elsewhere_is_claimed_again(w: World) -> None:
    w.graph(task("a"))
    w.freeze("ready")
    w.release(w.claim())
    assert w.claim().epoch == 3


def test_a_sweeper_that_sees_an_old_index_harms_nobody(w: World) -> None:
    """Every entry it sees was dealt with, or is another one's by now."""
    w.graph(task("p", lease_seconds=10), task("q", lease_seconds=10), task("r", backoff_seconds=5), task("s", "p"))
    claims = {c.task.task_id: c for c in w.claims(max=3)}
    w.fail(claims["r"])
    w.clock.advance(11)
    w.freeze("timer")
    w.heartbeat(claims["p"], lease_seconds=600)
    w.complete(claims["q"])
    w.faults.disarm()
    w.sweep()
    before, states = w.items(), w.states()
    assert states == {"p": "RUNNING", "q": "DONE", "r": "READY", "s": "BLOCKED"}
    w.sweep()
    assert w.items() == before
    w.complete(claims["p"])
    w.complete(w.claims(max=2)[0])
    before = w.items()
    w.sweep()
    assert w.items() == before
    w.faults.thaw()
    w.settle()
    assert not unsettled(w.items())


def test_what_an_index_does_not_show_yet_is_done_once_it_does(w: World) -> None:
    w.freeze("ready", "timer")
    w.graph(task("a"), task("b", "a"), more=True)
    w.add()
    assert w.claims() == ()
    w.faults.thaw()
    w.freeze("timer")
    w.claim()
    w.clock.advance(61)
    w.sweep()
    assert w.states()["a"] == "RUNNING"
    w.faults.thaw()
    w.sweep()
    assert w.states()["a"] == "READY"
    w.work_off()
    assert all_ended(w.states())


@pytest.mark.parametrize("guess", [True, False])
def test_an_edges_guess_that_it_is_the_last_decides_nothing(w: World, *, guess: bool) -> None:
    w.graph(task("p"), task("q"), task("c", "p", "q"))
    for parent, expected in (("p", "BLOCKED"), ("q", "READY")):
        claim = w.claims()[0]
        die(w, 1, lambda claim=claim: w.complete(claim))
        done = Parent("g", claim.task.task_id, TaskState.DONE, claim.epoch)
        (edge,) = w.cascade.edges(TENANT, done)
        told = w.cascade.tell(TENANT, done, edge._replace(likely_last=guess))
        assert (told.ready, w.states()["c"]) == (expected == "READY", expected), parent
        assert not broken(w.items())


def test_a_cancelled_graph_is_swept_whole_whatever_the_indexes_show(w: World) -> None:
    w.freeze("ready", "timer")
    w.graph(task("a"), task("b"), task("c", "a"))
    w.cancel_graph()
    assert set(w.states().values()) == {"CANCELLED"}
