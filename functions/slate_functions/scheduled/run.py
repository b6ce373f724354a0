"""One run: works until nothing is due any more, or as long as Lambda lets it; the schedule starts the next."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from slate.domain.errors import Unavailable

_log = logging.getLogger(__name__)

BATCH_NEEDS_MS: Final = 30_000
"""Time that must be left for another batch: the longest entry takes 20 s, and what is cut off is done again."""


class Working(Protocol):
    """A timer's worth of work."""

    def run_once(self, more: Callable[[], bool]) -> int:
        """Do what is due while there is time for more; answer how much was done."""
        ...


class LambdaContext(Protocol):
    """What a run asks Lambda."""

    def get_remaining_time_in_millis(self) -> int:
        """Until the run is cut off."""
        ...


class ScheduledRun:
    """The handler. Two runs may overlap: each step is conditional, so that the later one finds it done."""

    def __init__(self, *works: Working) -> None:
        self._works = works

    def __call__(self, _: Mapping[str, Any], context: LambdaContext) -> dict[str, int]:
        """Run; answer how many rounds there were and how much they did."""
        rounds = done = 0

        def more() -> bool:
            return context.get_remaining_time_in_millis() >= BATCH_NEEDS_MS

        while True:
            now = self._round(more)
            rounds, done = rounds + 1, done + now
            if not now or not more():
                return {"rounds": rounds, "done": done}

    def _round(self, more: Callable[[], bool]) -> int:
        try:
            return sum(work.run_once(more) for work in self._works)
        except Unavailable as error:
            # What was due is due still; the next run finds it.
            _log.warning("a run found the table busy: %s", error.detail)
            return 0
