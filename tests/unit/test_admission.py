"""How often a credential may call, and until when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slate.adapters.inprocess.clocks import ManualClock
from slate.domain.access import Principal
from slate.domain.errors import Throttled, Unauthenticated
from slate.domain.throttling import Pace
from slate.service.admission import Admission

START = 1_800_000_000_000


def caller(tenant="acme", key_id="k-1", **more):
    return Principal(tenant=tenant, agent="a", key_id=key_id, scopes=frozenset(), **more)


def admission(rate=2, burst=3):
    clock = ManualClock(START)
    return Admission(Pace(rate, burst), clock), clock


def waits(admission, principal):
    with pytest.raises(Throttled) as refused:
        admission.admit(principal)
    return refused.value.data["retry_after"]


@given(
    rate=st.integers(1, 50),
    burst=st.integers(1, 50),
    rests=st.lists(st.integers(0, 3_000), min_size=1, max_size=60),
)
def test_over_any_time_no_more_than_the_burst_and_the_rate_pass_and_waiting_as_told_is_enough(rate, burst, rests):
    pace, bucket, now, passed = Pace(rate, burst), None, START, []
    for rest in rests:
        now += rest
        bucket, seconds = pace.taken(bucket, now)
        if seconds:
            later, more = pace.taken(bucket, now + round(seconds * 1000) + 1)
            assert more == 0, "it waited as it was told"
            assert later.tokens < 1
        else:
            passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            seconds = (passed[last] - passed[first]) / 1000
            assert last - first + 1 <= burst + rate * seconds + 1e-6


def test_a_burst_passes_and_then_the_rate():
    admitted, clock = admission(rate=2, burst=3)
    for _ in range(3):
        admitted.admit(caller())
    assert waits(admitted, caller()) == 1
    clock.advance(0.5)
    admitted.admit(caller())
    assert waits(admitted, caller()) == 1


def test_the_wait_is_in_whole_seconds_and_enough():
    admitted, clock = admission(rate=1, burst=1)
    admitted.admit(caller())
    clock.advance(0.3)
    clock.advance(waits(admitted, caller()))
    admitted.admit(caller())


def test_a_refused_call_takes_nothing():
    admitted, clock = admission(rate=1, burst=1)
    admitted.admit(caller())
    for _ in range(100):
        waits(admitted, caller())
    clock.advance(1)
    admitted.admit(caller())


@pytest.mark.parametrize("other", [{"tenant": "globex"}, {"key_id": "k-2"}, {"subject": "u-1"}])
def test_nobody_uses_up_the_share_of_another(other):
    admitted, _ = admission(rate=1, burst=1)
    admitted.admit(caller())
    admitted.admit(caller(**other))
    assert waits(admitted, caller()) == 1


def test_a_clock_that_goes_back_gives_nothing():
    pace = Pace(1, 1)
    bucket, _ = pace.taken(None, START)
    assert pace.taken(bucket, START - 60_000)[1] == 1


def test_a_credential_ends_when_it_expires_though_a_gateway_still_hands_it_on():
    admitted, clock = admission()
    token = caller(expires_at=START + 1_000)
    admitted.admit(token)
    clock.advance(0.999)
    admitted.admit(token)
    clock.advance(0.001)
    with pytest.raises(Unauthenticated, match="expired"):
        admitted.admit(token)


def test_the_refusal_says_the_pace_and_the_remedy():
    admitted, _ = admission(rate=2, burst=3)
    for _ in range(3):
        admitted.admit(caller())
    with pytest.raises(Throttled, match="2 calls a second and 3 at once; wait 1 s"):
        admitted.admit(caller())
