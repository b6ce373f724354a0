"""Every step from every state: what it becomes, or the refusal; and a refused step changes nothing that is stored.

The task ``t`` runs under a parent ``p`` that has failed (over a completion edge) and before a child ``c``. ``mine`` is
the first claim on it, ann's, whatever has become of it since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from contract.invariants import broken
from contract.world import World, after, task
from slate.domain.errors import AlreadyTerminal, Conflict, LeaseLost, NotFound, SlateError
from slate.domain.leases import Claim

LEASE: Final = 60

# ---- the states, each made by the steps that lead there


def never_claimed(w: World) -> None:
    w.graph(task("p", role="other", max_attempts=1), task("t", after("p")), task("c", "t", role="other"))
    w.fail(w.claim(roles=("other",)), retryable=False)


def running(w: World) -> Claim:
    never_claimed(w)
    return w.claim()


def lapsed(w: World) -> Claim:
    mine = running(w)
    w.clock.advance(LEASE + 1)
    w.sweep()
    return mine


def with_an_heir(w: World) -> Claim:
    mine = lapsed(w)
    w.claim(w.principal("bob"))
    return mine


def delayed(w: World) -> Claim:
    mine = running(w)
    w.fail(mine)
    return mine


def waiting(w: World) -> Claim:
    mine = running(w)
    w.wait(mine)
    return mine


def released(w: World) -> Claim:
    mine = running(w)
    w.release(mine)
    return mine


def done(w: World) -> Claim:
    mine = running(w)
    w.complete(mine)
    return mine


def done_by_the_heir(w: World) -> Claim:
    mine = lapsed(w)
    bob = w.principal("bob")
    w.complete(w.claim(bob), by=bob)
    return mine


def failed(w: World) -> Claim:
    mine = running(w)
    w.fail(mine, retryable=False)
    return mine


def cancelled(w: World) -> Claim:
    mine = running(w)
    w.cancel("t")
    return mine


def blocked(w: World) -> Claim:
    """Retried after its parent was: it waits again."""
    mine = failed(w)
    w.retry("p")
    w.retry("t")
    return mine


def deleted(w: World) -> Claim:
    mine = running(w)
    w.delete_graph()
    return mine


HELD = (running, lapsed, with_an_heir, delayed, waiting, released, done, done_by_the_heir, failed, cancelled, blocked)
ENDED = {done, done_by_the_heir, failed, cancelled}

# ---- the steps of a worker, and what they come to where they are not refused

Step = Callable[[World, Claim], Any]
STEPS: Final[dict[str, Step]] = {
    "heartbeat": lambda w, c: w.heartbeat(c),
    "complete": lambda w, c: w.complete(c, "late"),
    "fail": lambda w, c: w.fail(c, "late"),
    "fail for good": lambda w, c: w.fail(c, "late", retryable=False),
    "wait": lambda w, c: w.wait(c, "late?"),
    "release": lambda w, c: w.release(c),
}
APPLIED: Final = {
    ("heartbeat", running): "RUNNING",
    ("complete", running): "DONE",
    ("complete", lapsed): "DONE",  # nobody else has it: the late result counts
    ("fail", running): "DELAYED",
    ("fail for good", running): "FAILED",
    ("wait", running): "WAITING",
    ("release", running): "READY",
}
SAID_BEFORE: Final = {
    # The same step of the same token is already there: its reply was lost, so it is given again.
    ("complete", done): "DONE",
    ("fail", delayed): "DELAYED",
    ("fail for good", delayed): "DELAYED",
    ("fail", failed): "FAILED",
    ("fail for good", failed): "FAILED",
    ("wait", waiting): "WAITING",
    ("release", released): "READY",
}
TOLD_TO_STOP: Final = {("heartbeat", cancelled)}


def refusal(step: str, state: Callable[..., Any]) -> type[SlateError] | None:
    """What a token comes to that no longer holds the task."""
    if (step, state) in {**APPLIED, **SAID_BEFORE} or (step, state) in TOLD_TO_STOP:
        return None
    # Its own end, and no other's, is told apart from a lease that another has.
    return AlreadyTerminal if state in {done, failed, cancelled} else LeaseLost


@pytest.mark.parametrize("state", HELD, ids=lambda s: s.__name__)
@pytest.mark.parametrize("step", STEPS)
def test_a_workers_step_from_each_state(w, step, state):
    mine = state(w)
    before = w.items()
    expected = refusal(step, state)
    if expected is not None:
        with pytest.raises(expected) as refused:
            STEPS[step](w, mine)
        assert type(refused.value) is expected
        assert refused.value.data["state"] == w.task("t").state
        assert w.items() == before
        return
    answer = STEPS[step](w, mine)
    if (step, state) in TOLD_TO_STOP:
        assert answer.cancel_requested
        assert w.items() == before
    elif (step, state) in SAID_BEFORE:
        assert answer.state == SAID_BEFORE[step, state]
        assert w.items() == before
    else:
        assert w.task("t").state == APPLIED[step, state]
        assert w.items() != before or step == "heartbeat"
    assert broken(w.items()) == []


@pytest.mark.parametrize("step", STEPS)
def test_a_workers_step_on_a_deleted_graph_is_not_found(w, step):
    mine = deleted(w)
    before = w.items()
    with pytest.raises(NotFound):
        STEPS[step](w, mine)
    assert w.items() == before


@pytest.mark.parametrize("state", [never_claimed, *HELD], ids=lambda s: s.__name__)
def test_only_what_is_ready_is_claimed(w, state):
    state(w)
    before = w.items()
    claims = w.claims()
    if state in (never_claimed, lapsed, released):
        assert [c.task.task_id for c in claims] == ["t"]
        assert w.task("t").state == "RUNNING"
    else:
        assert claims == ()
        assert w.items() == before


def people(w: World, before: Any, expected: type[SlateError], act: Callable[[], Any]) -> None:
    with pytest.raises(expected):
        act()
    assert w.items() == before


@pytest.mark.parametrize("state", [never_claimed, *HELD], ids=lambda s: s.__name__)
def test_only_what_asks_is_answered(w, state):
    state(w)
    before = w.items()
    if state is waiting:
        assert w.resume("t").state == "READY"
    else:
        people(w, before, Conflict, lambda: w.resume("t"))


@pytest.mark.parametrize("state", [never_claimed, *HELD], ids=lambda s: s.__name__)
def test_only_what_is_open_is_cancelled_and_its_epoch_grows(w, state):
    state(w)
    before, epoch = w.items(), w.task("t").epoch
    if state in ENDED:
        people(w, before, AlreadyTerminal, lambda: w.cancel("t", w.principal("bob")))
        return
    assert w.cancel("t").state == "CANCELLED"
    assert w.task("t").epoch == epoch + 1
    assert w.task("c").state == "CANCELLED"
    assert broken(w.items()) == []


@pytest.mark.parametrize("state", [never_claimed, *HELD], ids=lambda s: s.__name__)
def test_only_what_failed_or_was_cancelled_is_tried_again_from_its_first_attempt(w, state):
    state(w)
    before, epoch = w.items(), w.task("t").epoch
    if state not in (failed, cancelled):
        people(w, before, Conflict, lambda: w.retry("t", w.principal("bob")))
        return
    again = w.retry("t")
    assert (again.state, again.epoch, again.attempts) == ("READY", epoch + 1, 0)
    assert broken(w.items()) == []


def test_a_persons_own_repeat_is_answered_the_same_and_changes_nothing(w):
    """Its first answer may have been lost; another's cancel or retry is told from it by the name."""
    running(w)
    for step in (w.cancel, w.retry):
        first = step("t")
        before = w.items()
        assert step("t") == first
        assert w.items() == before


@pytest.mark.parametrize("state", [never_claimed, *HELD], ids=lambda s: s.__name__)
def test_time_moves_only_what_waits_for_it(w, state):
    state(w)
    before, standing = w.items(), w.states()
    w.sweep()
    assert w.items() == before, "nothing is due yet"
    w.clock.advance(LEASE + 1)
    w.sweep()
    moved = {running: "READY", with_an_heir: "READY", delayed: "READY"}
    assert w.states() == {**standing, "t": moved.get(state, standing["t"])}
    assert broken(w.items()) == []


def test_the_last_lease_that_lapses_fails_the_task_and_cancels_what_waited(w):
    w.graph(task("t", max_attempts=2), task("c", "t"))
    for state in ("READY", "FAILED"):
        w.claim()
        w.clock.advance(LEASE + 1)
        w.sweep()
        assert w.task("t").state == state
    assert w.task("t").cause == "lease_lapsed"
    assert w.task("c").state == "CANCELLED"
    assert broken(w.items()) == []
