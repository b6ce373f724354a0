"""What falls due of memory by the clock alone: each entry of the timer goes to the use case that knows it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from slate.domain.errors import SlateError
from slate.ports.clock import Clock
from slate.ports.memory_timer import DueMemory, MemoryKind, MemoryTimer

Tick = Callable[[DueMemory, int], None]
"""Does what is due on an entry, until a deadline."""

SHARDS: Final = 16
AT_ONCE: Final = 100
ENTRY_MS: Final = 20_000
"""A single entry is worked on so long at most, so that a long session does not hold up the others."""
POSTPONE_MS: Final = 60_000
_LOOKS: Final = 6
"""An entry may be due again at once: closed, then over; beyond that it waits for the next run."""

_log = logging.getLogger(__name__)


class Decay:
    """Works off the timer's kind ``memory``; any number may run at once: every step is a condition."""

    def __init__(self, timer: MemoryTimer, ticks: Mapping[MemoryKind, Tick], clock: Clock) -> None:
        self._timer = timer
        self._ticks = ticks
        self._clock = clock

    def run_once(self) -> int:
        """Look at every shard until it shows nothing new that is due; answer how many entries were dealt with."""
        return sum(self._shard(shard) for shard in range(SHARDS))

    def _shard(self, shard: int) -> int:
        looks: Counter[DueMemory] = Counter()
        done = 0
        while True:
            listed = self._timer.due(shard, AT_ONCE)
            entries = [due for due in listed if looks[due] < _LOOKS]
            for due in entries:
                looks[due] += 1
                done += self._do(due)
            # A short list was all there is: asking again would cost a query to hear so.
            if not entries or len(listed) < AT_ONCE:
                return done

    def _do(self, due: DueMemory) -> int:
        try:
            self._ticks[due.kind](due, self._clock.now() + ENTRY_MS)
        except Exception as error:  # noqa: BLE001  # one bad entry must not keep the others from being worked on
            # Its kind alone: a message may quote what a caller said.
            _log.error("a due entry could not be worked on: %s", type(error).__name__, extra={"entry": tuple(due)})
            self._postpone(due)
            return 0
        return 1

    def _postpone(self, due: DueMemory) -> None:
        try:
            self._timer.postpone(due, POSTPONE_MS)
        except SlateError as error:
            _log.warning("a due entry is looked at again: %s", type(error).__name__, extra={"entry": tuple(due)})
