from __future__ import annotations

import random

import pytest

from slate.adapters.inprocess.wakeups import NoWakeups, ThreadWakeups
from slate.domain.errors import Unavailable
from slate.service.waiting import POLLED, TOLD, Pauses, Waiting


class Timed:
    """Real time that passes only while somebody sleeps; counts the looks and when they were."""

    def __init__(self, found_at: float = float("inf")) -> None:
        self.now = 0.0
        self.found_at = found_at
        self.looks: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def look(self) -> str | None:
        self.looks.append(self.now)
        return "found" if self.now >= self.found_at else None

    def waiting(self, *, pauses: Pauses = POLLED, seed: int = 1, places: int = 1) -> Waiting:
        rng = random.Random(seed)  # noqa: S311
        return Waiting(NoWakeups(self.sleep), rng, pauses=pauses, places=places, stopwatch=lambda: self.now)


@pytest.mark.parametrize(("pauses", "most"), [(POLLED, 20), (TOLD, 8)])
@pytest.mark.parametrize("seed", range(20))
def test_who_waits_twenty_seconds_looks_a_handful_of_times_and_the_last_time_at_the_end(pauses, most, seed):
    timed = Timed()
    assert timed.waiting(pauses=pauses, seed=seed).until(timed.look, topics=["t"], seconds=20) is None
    assert 3 <= len(timed.looks) <= most
    assert timed.looks[0] == 0
    assert timed.looks[-1] == pytest.approx(20)


def test_rests_grow_up_to_the_longest_and_spread_a_crowd():
    def rests(seed):
        timed = Timed()
        timed.waiting(seed=seed).until(timed.look, topics=["t"], seconds=20)
        return [later - earlier for earlier, later in zip(timed.looks, timed.looks[1:], strict=False)]

    assert max(rests(1)) <= POLLED.longest_seconds
    assert rests(1)[0] <= POLLED.first_seconds
    assert sum(rests(1)[:3]) < sum(rests(1)[3:6])
    assert len({round(rests(seed)[2], 3) for seed in range(10)}) == 10


def test_what_is_there_is_answered_at_once_and_what_comes_soon_after_it_came():
    timed = Timed(found_at=0)
    assert timed.waiting().until(timed.look, topics=["t"], seconds=20) == "found"
    assert timed.now == 0
    timed = Timed(found_at=5)
    assert timed.waiting().until(timed.look, topics=["t"], seconds=20) == "found"
    assert 5 <= timed.now <= 5 + POLLED.longest_seconds


def test_without_waiting_there_is_one_look_and_no_place_is_needed():
    timed = Timed()
    waiting = timed.waiting(places=1)
    waiting.until(lambda: waiting.until(timed.look, topics=["t"], seconds=0) or "outer", topics=["t"], seconds=20)
    assert timed.looks == [0]


def test_beyond_the_places_a_caller_is_answered_at_once_and_told_when_to_come_again():
    timed = Timed()
    waiting = timed.waiting(places=1)
    refused: list[Unavailable] = []

    def look() -> str:
        with pytest.raises(Unavailable) as info:
            waiting.until(timed.look, topics=["t"], seconds=20)
        refused.append(info.value)
        return waiting.until(lambda: "there", topics=["t"], seconds=20) or "nothing"

    assert waiting.until(look, topics=["t"], seconds=20) == "there"
    assert (timed.now, refused[0].data) == (0, {"retry_after": 2})


def test_a_place_is_given_back_whatever_happens():
    timed = Timed(found_at=1)
    waiting = timed.waiting(places=1)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            waiting.until(lambda: 1 / 0, topics=["t"], seconds=20)
    assert waiting.until(timed.look, topics=["t"], seconds=20) == "found"


def test_the_next_look_is_not_later_than_time_alone_may_change_the_answer():
    timed = Timed(found_at=7.5)
    waiting = timed.waiting(pauses=TOLD)
    found = waiting.until(timed.look, topics=["t"], seconds=20, within=lambda: 7.5 - timed.now)
    assert (found, timed.now) == ("found", 7.5)


def test_the_service_ends_every_wait():
    wakeups = ThreadWakeups()
    waiting = Waiting(wakeups, random.Random(1), pauses=TOLD, places=1)  # noqa: S311
    looks = []

    def look() -> None:
        looks.append(1)
        wakeups.close()

    assert waiting.until(look, topics=["t"], seconds=20) is None
    assert waiting.until(look, topics=["t"], seconds=20) is None
    assert len(looks) == 2
