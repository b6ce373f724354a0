"""What nobody else does any more: lapsed leases, ended delays, unfinished cascades, creates, cancels and deletes.

And feeds: what one waits for in vain is given up. And values, once their graph ended long enough ago.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Final

from slate.domain.errors import SlateError
from slate.ports.clock import Clock
from slate.ports.feed_store import Feeding
from slate.ports.task_store import Due, TimerStore
from slate.service.tasks.unlocking import Unlocking

SHARDS: Final = 16
AT_ONCE: Final = 100
ENTRY_MS: Final = 20_000
"""A single entry is worked on so long at most, so that a large graph does not hold up the others."""
POSTPONE_MS: Final = 30_000
_LOOKS: Final = 3
"""An index may show an entry once more after it was dealt with; beyond that it waits for the next run."""

_log = logging.getLogger(__name__)


class Sweeping:
    """Works off the timer index; any number may run at once: every step is a condition."""

    def __init__(self, timer: TimerStore, unlocking: Unlocking, feeds: Feeding, clock: Clock) -> None:
        self._timer = timer
        self._unlocking = unlocking
        self._feeds = feeds
        self._clock = clock

    def run_once(self) -> int:
        """Poll every shard until it shows nothing new that is due; answer how many entries were dealt with."""
        return sum(self._shard(shard) for shard in range(SHARDS))

    def _shard(self, shard: int) -> int:
        looks: Counter[Due] = Counter()
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

    def _do(self, due: Due) -> int:
        try:
            deadline = self._clock.now() + ENTRY_MS
            if due.feed:
                self._feeds.check(due.tenant, due.graph_id)
            elif due.values:
                self._timer.tick_values(due, deadline)
            elif due.task_id is None:
                self._timer.tick_graph(due, deadline)
            elif (parent := self._timer.tick_task(due)) is not None:
                self._unlocking.run(due.tenant, parent, None, deadline)
        except Exception as error:  # noqa: BLE001  # one bad entry must not keep the others from being worked on
            # Its kind alone: a message may quote what a caller said.
            _log.error("a due entry could not be worked on: %s", type(error).__name__, extra={"entry": tuple(due)})
            self._postpone(due)
            return 0
        return 1

    def _postpone(self, due: Due) -> None:
        try:
            self._timer.postpone(due, POSTPONE_MS)
        except SlateError as error:
            _log.warning("a due entry is looked at again: %s", type(error).__name__, extra={"entry": tuple(due)})
