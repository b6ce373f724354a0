"""One run: works until nothing is due any more, or as long as Lambda lets it; the schedule starts the next."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final, Protocol

from slate.domain.errors import Unavailable

_log = logging.getLogger(__name__)

ROUND_NEEDS_MS: Final = 60_000
"""Time that must be left for another round: an entry is worked on for 20 s at most."""


class Decaying(Protocol):
    """What is run."""

    def run_once(self) -> int:
        """Do what is due; answer how much was done."""
        ...


class LambdaContext(Protocol):
    """What a run asks Lambda."""

    def get_remaining_time_in_millis(self) -> int:
        """Until the run is cut off."""
        ...


class DecayRun:
    """The handler. Two runs may overlap: each step is conditional, so that the later one finds it done."""

    def __init__(self, decaying: Decaying) -> None:
        self._decaying = decaying

    def __call__(self, _: Mapping[str, Any], context: LambdaContext) -> dict[str, int]:
        """Run; answer how many rounds there were and how much they did."""
        rounds = done = 0
        while True:
            now = self._round()
            rounds, done = rounds + 1, done + now
            if not now or context.get_remaining_time_in_millis() < ROUND_NEEDS_MS:
                return {"rounds": rounds, "done": done}

    def _round(self) -> int:
        try:
            return self._decaying.run_once()
        except Unavailable as error:
            # What was due is due still; the next run finds it.
            _log.warning("a run found the table busy: %s", error.detail)
            return 0
