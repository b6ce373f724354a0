"""The process dies between any two writes: a repeat finishes the call, and where nobody repeats it the sweeper does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from contract.faults import Killed
from contract.invariants import broken, unsettled
from contract.scenarios import NOT_REPEATED, SCENARIOS, SWEEPS, Act
from contract.world import DAY, World, after, all_ended, many, task
from slate.domain.errors import Unavailable

ALL = {**SCENARIOS, **SWEEPS}
KEYED = {name for name in SCENARIOS if name.endswith("_under_a_key")}


def writes_of(act: Act, w: World) -> int:
    w.faults.disarm()
    act()
    return w.faults.disarm()


def die(w: World, act: Act, writes: int) -> None:
    """Run the call in a process that dies after so many writes."""
    w.faults.kill_after(writes)
    with pytest.raises(Killed):
        act()
    w.faults.disarm()
    assert not broken(w.items()), f"right after write {writes}"


def deaths_until_done(w: World, act: Act, step: int) -> int:
    """Repeat a call in processes that die a little later each time, until one comes through."""
    for deaths in range(1_000):
        w.faults.kill_after(deaths * step)
        try:
            act()
        except Killed:
            w.faults.disarm()
            assert not broken(w.items()), f"after {deaths * step} writes"
        else:
            w.faults.disarm()
            return deaths
    raise AssertionError("it never comes through")


@pytest.mark.parametrize("name", [s for s in ALL if s not in NOT_REPEATED | KEYED])
def test_a_repeat_goes_on_where_the_last_process_died(worlds: Callable[..., World], name: str) -> None:
    clean, w = worlds(), worlds()
    ALL[name](clean)()
    clean.sweep()
    assert deaths_until_done(w, ALL[name](w), 1) > 0
    w.sweep()
    assert w.shape() == clean.shape()


@pytest.mark.parametrize("name", sorted(KEYED - NOT_REPEATED))
def test_a_repeat_under_its_key_finishes_what_a_dead_process_began(worlds: Callable[..., World], name: str) -> None:
    clean = worlds()
    writes = writes_of(ALL[name](clean), clean)
    for k in range(writes - 1):
        w = worlds()
        act = ALL[name](w)
        die(w, act, k)
        w.clock.advance(31)  # a request lives no longer: until then the first is taken to be at work
        act()
        if "claim" not in name:
            assert w.states() == clean.states()
        assert not broken(w.items())


@pytest.mark.parametrize("name", ALL)
def test_time_alone_leaves_nothing_stuck_and_no_garbage(worlds: Callable[..., World], name: str) -> None:
    clean = worlds()
    writes = writes_of(ALL[name](clean), clean)
    for k in range(writes):
        w = worlds()
        die(w, ALL[name](w), k)
        w.settle()
        assert not unsettled(w.items()), f"died after write {k} of {writes}"
        w.work_off()
        w.settle()
        assert not unsettled(w.items())
        assert all_ended(w.states()), f"died after write {k} of {writes}"


def test_an_error_is_raised_once_all_that_ran_beside_it_has_ended(w: World) -> None:
    """Else something is still being written when the caller, and the Lambda, take the request to be over."""
    failed, ended = threading.Event(), threading.Event()

    def do(fails: bool) -> None:
        if fails:
            failed.set()
            raise Unavailable("busy")
        failed.wait()
        threading.Event().wait(0.05)
        ended.set()

    with ThreadPoolExecutor(2) as executor:
        storage = replace(w.storage, executor=executor)
        with pytest.raises(Unavailable):
            storage.each(do, [True, False])
        assert ended.is_set()


# ---- 100 parents: more than a transaction holds, so the task is added and retried edge by edge

PARENTS = many("p", 100)
JOIN = task("join", *map(after, PARENTS))


def wide(w: World) -> None:
    """100 parents, nine of them ended, in either way."""
    w.graph(*(task(p, max_attempts=1) for p in PARENTS))
    for i, claim in enumerate(w.claims(max=9, lease_seconds=DAY)):
        w.complete(claim) if i % 3 else w.fail(claim, retryable=False)


def test_an_add_of_100_parents_goes_on_where_the_last_process_died(worlds: Callable[..., World]) -> None:
    clean, w = worlds(), worlds()
    wide(clean)
    wide(w)
    clean.add(JOIN)
    assert deaths_until_done(w, lambda: w.add(JOIN), 24) > 1
    assert w.shape() == clean.shape()
    assert not broken(w.items())


def test_a_retry_of_100_parents_goes_on_where_the_last_process_died(worlds: Callable[..., World]) -> None:
    clean, w = worlds(), worlds()
    for each in (clean, w):
        wide(each)
        each.add(JOIN)
        each.cancel("join")
    clean.retry("join")
    assert deaths_until_done(w, lambda: w.retry("join"), 3) > 1
    assert w.shape() == clean.shape()
    assert not broken(w.items())


def test_an_add_of_100_parents_that_nobody_finishes_is_given_up_after_a_day(w: World) -> None:
    wide(w)
    die(w, lambda: w.add(JOIN), 60)
    w.settle()
    assert (w.task("join").state, w.task("join").cause) == ("CANCELLED", "unfinished")
    assert not unsettled(w.items())
    w.retry("join")
    w.work_off()
    assert w.task("join").state == "DONE"
    assert not unsettled(w.items())
