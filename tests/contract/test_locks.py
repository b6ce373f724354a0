"""Named locks: one holder until its lease ends, under an epoch that only grows."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from contract import faults
from contract.sharing import acquire, beat, free, look
from contract.world import World
from slate.contract.locks import AcquireLock, ReleaseLock
from slate.domain.access import Principal
from slate.domain.errors import ClaimLost, Forbidden, Invalid, LeaseLost
from slate.domain.instants import format_instant
from slate.domain.locks import Lock
from slate.wiring.local import build_local


@pytest.fixture
def bob(w: World) -> Principal:
    return w.principal("bob")


def test_a_lock_has_one_holder_who_is_named_to_all_who_ask(w: World, bob: Principal) -> None:
    held = acquire(w)
    assert (held.epoch, held.lease_until) == (1, w.clock.now() + 30_000)
    assert look(w) == Lock(name="l", held=True, holder="ann", lease_until=held.lease_until, epoch=1)
    for by in (bob, w.me):
        with pytest.raises(ClaimLost) as refused:
            acquire(w, by=by)
        data = refused.value.data
        assert (data["holder"], data["lease_until"], data["epoch"]) == ("ann", format_instant(held.lease_until), 1)
    assert acquire(w, "another").epoch == 1


def test_a_lapsed_lock_is_taken_over_without_anybody_sweeping(w: World, bob: Principal) -> None:
    first = acquire(w)
    w.clock.advance(30)
    assert look(w) == Lock(name="l", held=False, epoch=1)
    second = acquire(w, by=bob)
    assert second.epoch == 2
    for step in (beat, free):
        with pytest.raises(LeaseLost) as refused:
            step(w, first)
        assert refused.value.data["holder"] == "bob"
    assert look(w).holder == "bob"


def test_a_released_lock_is_free_at_once_and_its_epoch_goes_on(w: World, bob: Principal) -> None:
    for epoch in range(1, 4):
        held = acquire(w, by=(w.me, bob)[epoch % 2])
        assert held.epoch == epoch
        assert free(w, held) == free(w, held) == Lock(name="l", held=False, epoch=epoch)
        with pytest.raises(LeaseLost):
            beat(w, held)
    (item,) = w.items().values()
    assert "ttl" not in item


def test_a_release_of_long_ago_frees_nobody_elses_lock(w: World, bob: Principal) -> None:
    mine = acquire(w)
    free(w, mine)
    acquire(w, by=bob)
    with pytest.raises(LeaseLost):
        free(w, mine)
    assert look(w).holder == "bob"


def test_a_heartbeat_makes_the_lease_longer_and_never_shorter(w: World) -> None:
    held = acquire(w)
    w.clock.advance(10)
    assert beat(w, held).lease_until == w.clock.now() + 30_000
    longest = beat(w, held, 600).lease_until
    assert longest == w.clock.now() + 600_000
    assert beat(w, held, 1).lease_until == longest
    assert look(w).lease_until == longest


def test_a_heartbeat_after_the_lease_counts_as_long_as_nobody_took_over(w: World, bob: Principal) -> None:
    held = acquire(w)
    w.clock.advance(100)
    beat(w, held)
    with pytest.raises(ClaimLost):
        acquire(w, by=bob)


def test_a_lock_nobody_ever_took_is_free(w: World) -> None:
    assert look(w) == Lock(name="l", held=False, holder=None, lease_until=None, epoch=0)
    assert not w.items()


def test_a_token_is_for_its_lock_and_its_tenant_alone(w: World) -> None:
    held, other = acquire(w), acquire(w, "other")
    eve = w.principal("eve", tenant="globex")
    with pytest.raises(LeaseLost):
        beat(w, held.model_copy(update={"name": "other"}))
    with pytest.raises(Invalid):
        beat(w, held, by=eve)
    with pytest.raises(Invalid):
        free(w, held.model_copy(update={"token": "x" + held.token}))
    assert acquire(w, by=eve).epoch == 1
    assert look(w).holder == "ann"
    assert beat(w, other).epoch == 1


def test_a_key_that_is_bound_to_a_person_reaches_no_lock(w: World) -> None:
    held, bound = acquire(w), w.principal("console", subject="maria")
    before = w.items()
    for use in (
        lambda: acquire(w, "new", bound),
        lambda: beat(w, held, by=bound),
        lambda: free(w, held, bound),
        lambda: w.slate.locks.get(bound, "l"),
    ):
        with pytest.raises(Forbidden, match="bound to one subject"):
            use()
    assert w.items() == before


def test_acquiring_under_a_key_answers_the_same_token_again(w: World) -> None:
    held = acquire(w, once="k")
    assert acquire(w, once="k") == held
    with pytest.raises(ClaimLost):
        acquire(w, once="k2")
    free(w, held)
    assert acquire(w, once="k2").epoch == 2


def test_acquiring_under_a_key_goes_on_where_the_first_process_died(w: World) -> None:
    w.faults.kill_after(2)
    with pytest.raises(faults.Killed):
        acquire(w, seconds=100, once="k")
    w.faults.disarm()
    w.clock.advance(31)
    held = acquire(w, seconds=100, once="k")
    assert held.epoch == 1
    assert beat(w, held).epoch == 1


def test_two_who_come_at_once_are_told_apart(w: World, bob: Principal) -> None:
    w.faults.arm(1, faults.meanwhile(lambda: acquire(w, by=bob)))
    with pytest.raises(ClaimLost) as refused:
        acquire(w)
    assert refused.value.data["holder"] == "bob"


# ---- waiting, in real time


def test_who_waits_gets_the_lock_when_it_is_released() -> None:
    with build_local() as local:
        locks, ann, bob = local.slate.locks, _who("ann"), _who("bob")
        held = locks.acquire(ann, "l", AcquireLock(lease_seconds=60), None)
        waits, got = threading.Event(), []

        def wait() -> None:
            waits.set()
            got.append(locks.acquire(bob, "l", AcquireLock(wait_seconds=20), None))

        thread = threading.Thread(target=wait)
        thread.start()
        waits.wait()
        locks.release(ann, "l", ReleaseLock(token=held.token))
        thread.join(5)
        assert [h.epoch for h in got] == [2]


def test_who_waits_in_vain_is_told_who_has_it() -> None:
    with build_local() as local:
        locks = local.slate.locks
        locks.acquire(_who("ann"), "l", AcquireLock(), None)
        with pytest.raises(ClaimLost) as refused:
            _waited(locks, 0.05)
        assert refused.value.data["holder"] == "ann"


def _waited(locks: Any, seconds: float) -> None:
    """As with ``wait_seconds``, of which the wire takes whole ones."""
    body = AcquireLock.model_construct(lease_seconds=60, wait_seconds=seconds)
    locks.acquire(_who("bob"), "l", body, None)


def test_of_many_at_once_each_holds_the_lock_alone() -> None:
    """A counter outside, read and written back under the lock, misses nothing."""
    counter, epochs = [0], []
    with build_local() as local:
        locks = local.slate.locks

        def work(n: int) -> None:
            who = _who(f"w{n}")
            for _ in range(5):
                held = locks.acquire(who, "l", AcquireLock(wait_seconds=20), None)
                seen = counter[0]
                epochs.append(held.epoch)
                threading.Event().wait(0.001)
                counter[0] = seen + 1
                locks.release(who, "l", ReleaseLock(token=held.token))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
    assert counter == [40]
    assert epochs == list(range(1, 41))


def _who(agent: str) -> Principal:
    return World.principal(None, agent)  # type: ignore[arg-type]
