"""One run of a function that the clock starts: as many rounds as there is work and time for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slate.domain.errors import Unavailable
from slate_functions.scheduled.run import BATCH_NEEDS_MS, ScheduledRun


class Run:
    """Work over a made-up time: a batch takes ``takes`` milliseconds; ``rounds`` are the batches that each round has."""

    def __init__(self, *rounds: int | Exception, takes: int = 1_000, left: int = 180_000) -> None:
        self._rounds = list(rounds)
        self._takes = takes
        self._left = left
        self.batches = 0

    def run_once(self, more: Callable[[], bool]) -> int:
        batches = self._rounds.pop(0) if self._rounds else 0
        if isinstance(batches, Exception):
            raise batches
        done = 0
        while done < batches and more():
            self._left -= self._takes
            self.batches += 1
            done += 1
        return done

    def get_remaining_time_in_millis(self) -> int:
        return self._left

    def __call__(self) -> dict[str, int]:
        return ScheduledRun(self)({}, self)


def test_it_goes_on_until_a_round_finds_nothing():
    assert Run(3, 2)() == {"rounds": 3, "done": 5}


def test_it_ends_before_lambda_cuts_it_off_also_within_a_round():
    run = Run(1_000)
    assert run() == {"rounds": 1, "done": 151}
    assert BATCH_NEEDS_MS - 1_000 <= run.get_remaining_time_in_millis() < BATCH_NEEDS_MS


@pytest.mark.parametrize("error", [Unavailable("busy")])
def test_a_busy_table_ends_the_run_and_the_next_one_finds_what_is_due(error):
    assert Run(error, 5)() == {"rounds": 1, "done": 0}
