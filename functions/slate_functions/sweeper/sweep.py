"""Polls the timer for most of a minute; the schedule starts the next run when this one ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from slate.domain.errors import Unavailable

_log = logging.getLogger(__name__)

LAST_POLL_NEEDS_MS: Final = 3_000
"""Time that must be left for another poll, so that a run ends by itself and never by a timeout."""


class Sweeping(Protocol):
    """What is swept."""

    def run_once(self) -> int:
        """Do what is due; answer how much was done."""
        ...


class LambdaContext(Protocol):
    """What the sweeper asks Lambda."""

    def get_remaining_time_in_millis(self) -> int:
        """Until the run is cut off."""
        ...


class Sweeper:
    """One run: polls every ``poll_seconds`` for ``run_seconds``, or as long as Lambda lets it.

    Two runs may overlap: each step is conditional, so that the later one finds it done.
    """

    def __init__(
        self,
        sweeping: Sweeping,
        *,
        poll_seconds: float,
        run_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._sweeping = sweeping
        self._poll_seconds = poll_seconds
        self._run_seconds = run_seconds
        self._monotonic = monotonic
        self._sleep = sleep

    def __call__(self, _: Mapping[str, Any], context: LambdaContext) -> dict[str, int]:
        """Sweep; answer how many polls there were and how much they did."""
        started = self._monotonic()
        polls = done = 0
        while True:
            done += self._poll()
            polls += 1
            over = self._monotonic() - started + self._poll_seconds >= self._run_seconds
            rest_ms = context.get_remaining_time_in_millis() - self._poll_seconds * 1000
            if over or rest_ms < LAST_POLL_NEEDS_MS:
                return {"polls": polls, "done": done}
            self._sleep(self._poll_seconds)

    def _poll(self) -> int:
        try:
            return self._sweeping.run_once()
        except Unavailable as error:
            # What was due is due still; the next poll finds it.
            _log.warning("a poll found the table busy: %s", error.detail)
            return 0
