from __future__ import annotations

import pytest

from slate.domain.errors import Unavailable
from slate_functions.sweeper.sweep import Sweeper


class Run:
    """One run of the sweeper over a made-up minute: a poll takes ``poll_takes`` seconds, the run is cut at ``cut``."""

    def __init__(self, *, poll_takes: float = 0.1, cut: float = 60.0, errors: tuple[Exception, ...] = ()) -> None:
        self.now = 100.0
        self._end = self.now + cut
        self._poll_takes = poll_takes
        self._errors = list(errors)
        self.polled: list[float] = []

    def run_once(self) -> int:
        self.polled.append(round(self.now - 100.0, 3))
        self.now += self._poll_takes
        if self._errors:
            raise self._errors.pop(0)
        return 2

    def get_remaining_time_in_millis(self) -> int:
        return round((self._end - self.now) * 1000)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def __call__(self) -> dict[str, int]:
        sweeper = Sweeper(self, poll_seconds=5, run_seconds=55, monotonic=lambda: self.now, sleep=self.sleep)
        return sweeper({}, self)


def test_it_polls_every_five_seconds_until_the_next_run_is_due():
    run = Run()
    answer = run()
    assert answer == {"polls": 11, "done": 22}
    assert run.polled == [pytest.approx(5.1 * i) for i in range(11)]
    assert run.now - 100 <= 55


def test_a_slow_poll_ends_the_run_in_time_all_the_same():
    run = Run(poll_takes=20)
    run()
    assert run.polled == [0, 25, 50]


def test_it_ends_before_lambda_cuts_it_off():
    run = Run(cut=12)
    run()
    assert run.polled == [0, 5.1]
    assert run.get_remaining_time_in_millis() > 0


def test_it_polls_at_least_once():
    run = Run(cut=1)
    assert run()["polls"] == 1


def test_a_busy_table_costs_one_poll_and_not_the_run():
    run = Run(errors=(Unavailable("busy"), Unavailable("busy")))
    assert run() == {"polls": 11, "done": 18}


def test_a_fault_ends_the_run_so_that_it_is_seen():
    with pytest.raises(ZeroDivisionError):
        Run(errors=(ZeroDivisionError(),))()
