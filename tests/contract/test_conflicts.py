"""Another transaction in the way, or too much traffic: the first is waited out, the second is a 503 that may be repeated."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contract import faults
from contract.invariants import broken
from contract.scenarios import NOT_REPEATED, SCENARIOS, SWEEPS
from contract.test_lost_replies import check, plain
from contract.world import World, after, task
from slate.domain.errors import AlreadyTerminal, Conflict, InProgress, Unavailable

KEYED = {name for name in SCENARIOS if name.endswith("_under_a_key")} - NOT_REPEATED


@pytest.mark.parametrize("name", [*SCENARIOS, *SWEEPS])
def test_a_conflict_is_waited_out_and_changes_nothing(worlds: Callable[..., World], name: str) -> None:
    check(worlds, name, faults.conflict, faults.WRITES)


@pytest.mark.parametrize("name", [s for s in SCENARIOS if s not in NOT_REPEATED | KEYED])
def test_a_throttled_call_is_unavailable_and_repeats_finish_it(worlds: Callable[..., World], name: str) -> None:
    """Every repeat comes one write further before it is throttled."""
    clean, w = worlds(), worlds()
    SCENARIOS[name](clean)()
    clean.sweep()
    act = SCENARIOS[name](w)
    for at in range(1, 100):
        w.faults.arm(at, faults.transaction_throttled, times=10)
        try:
            act()
        except Unavailable:
            assert not broken(w.items())
        else:
            break
    w.faults.disarm()
    assert at > 1
    w.sweep()
    assert w.shape() == clean.shape()


@pytest.mark.parametrize("name", sorted(KEYED))
def test_a_throttled_call_under_a_key_is_done_once_however_often_it_is_repeated(
    worlds: Callable[..., World], name: str
) -> None:
    clean = worlds()
    SCENARIOS[name](clean)()
    for at in (1, 2):
        w = worlds()
        act = SCENARIOS[name](w)
        w.faults.arm(at, faults.transaction_throttled, times=10)
        with pytest.raises(Unavailable):
            act()
        w.faults.disarm()
        w.clock.advance(31)
        act()
        act()
        assert sorted(w.states().values()) == sorted(clean.states().values())


def test_an_answer_that_could_not_be_remembered_is_given_all_the_same(worlds: Callable[..., World]) -> None:
    w = worlds()
    act = SCENARIOS["claim_under_a_key"](w)
    w.faults.arm(3, faults.throttled)
    assert len(act()) == 1
    w.faults.disarm()
    with pytest.raises(InProgress) as refused:
        act()
    assert refused.value.retryable


@pytest.mark.parametrize("name", SWEEPS)
def test_a_throttled_sweep_does_later_what_it_could_not_do(worlds: Callable[..., World], name: str) -> None:
    clean = worlds()
    act = SWEEPS[name](clean)
    clean.faults.disarm()
    act()
    for at in range(1, clean.faults.disarm() + 1):
        w = worlds()
        act = SWEEPS[name](w)
        w.faults.arm(at, faults.transaction_throttled, times=10)
        act()
        w.faults.disarm()
        assert not broken(w.items())
        w.clock.advance(31)
        w.sweep()
        assert w.states() == clean.states()


def test_what_was_claimed_before_the_throttling_is_answered(w: World) -> None:
    w.graph(task("a"), task("b"))
    w.faults.arm(2, faults.throttled)
    assert len(w.claims(max=2)) == 1
    w.faults.disarm()
    assert len(w.claims(max=2)) == 1


def test_a_conflict_on_a_read_is_waited_out(worlds: Callable[..., World]) -> None:
    check(worlds, "retry", faults.conflict, faults.READS)


def test_ten_conflicts_in_a_row_are_unavailable_and_each_was_waited_for(w: World) -> None:
    w.graph(task("a"))
    w.faults.arm(1, faults.conflict, times=10)
    with pytest.raises(Unavailable):
        w.claim()
    w.faults.disarm()
    assert len(w.slept) == 9
    assert w.claim().epoch == 1


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("create_with_other_content", Conflict),
        ("add_of_other_content", Conflict),
        ("cancel_of_the_finished", AlreadyTerminal),
        ("retry_in_a_cancelled_graph", Conflict),
    ],
)
def test_a_refusal_beside_a_conflict_is_the_refusal_that_it_is_without_one(
    worlds: Callable[..., World], name: str, refused: type[Exception]
) -> None:
    answers = []
    for fault in (None, faults.conflict_hides_conditions):
        w = worlds()
        act = REFUSALS[name](w)
        before = w.content()
        if fault is not None:
            w.faults.arm(1, fault)
        with pytest.raises(refused) as error:
            act()
        w.faults.disarm()
        assert w.content() == before
        answers.append((type(error.value), error.value.detail, dict(error.value.data)))
    assert answers[0] == answers[1]


def _other_content(w: World) -> Callable[[], object]:
    w.graph(task("a"), goal="one goal")
    return lambda: w.graph(task("a"), goal="another goal")


def _other_task(w: World) -> Callable[[], object]:
    w.graph(task("a"))
    w.add(task("b", "a", priority=1))
    seen = w.graphs.head("acme", "g")
    parents = w.graphs.states("acme", "g", ["a"])
    return lambda: w.graphs.add("acme", seen, [task("b", "a", priority=2)], parents)


def _finished(w: World) -> Callable[[], object]:
    w.graph(task("a"))
    claim = w.claim()
    seen = w.task("a")
    w.complete(claim)
    return lambda: w.steering.cancel("acme", seen, "ann")


def _cancelled(w: World) -> Callable[[], object]:
    w.graph(task("a"))
    w.cancel_graph()
    seen = w.task("a")
    return lambda: w.steering.retry("acme", seen, "ann")


REFUSALS = {
    "create_with_other_content": _other_content,
    "add_of_other_content": _other_task,
    "cancel_of_the_finished": _finished,
    "retry_in_a_cancelled_graph": _cancelled,
}


@pytest.mark.parametrize("name", ["add_under_the_failed", "fail_for_good", "retry_blocked", "cancel"])
def test_a_lost_reply_whose_repeat_meets_a_conflict_is_still_made_good(worlds: Callable[..., World], name: str) -> None:
    """The reply is lost, the call sent again is refused beside a conflict, and the third send sees all."""
    clean = worlds()
    wanted = plain(SCENARIOS[name](clean)())
    w = worlds()
    act = SCENARIOS[name](w)
    w.faults.arm(1, faults.reply_lost)
    w.faults.also(2, faults.conflict_hides_conditions)
    assert plain(act()) == wanted
    w.faults.disarm()
    assert w.content() == clean.content()


def test_two_calls_at_once_on_one_parent_both_count(w: World) -> None:
    """Each add counts on the parent; the one that meets the other comes after it."""
    w.graph(task("a"))
    w.faults.arm(1, faults.conflict, times=3)
    w.add(task("b", "a"))
    w.add(task("c", "a"), task("d", after("a")))
    w.faults.disarm()
    assert w.item("a")["dependents"] == 3
    assert not broken(w.items())
