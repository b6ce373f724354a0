"""Tells how long persons have waited: an erasure is due within a month, and somebody is to know well before."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from slate.domain.erasing.erasure import Erasure
from slate.domain.erasing.steps import DAY_MS, HOUR_MS, OPEN
from slate.domain.errors import SlateError
from slate.domain.fences import Intent
from slate.ports.clock import Clock
from slate.ports.counts import Count, Counts
from slate.ports.erasure_store import ErasureStore, ErasureTimer
from slate.ports.keyring import Operate
from slate.service.due_work import AT_ONCE, SHARDS

LATE_DAYS: Final = (20, 25)
"""After so many days, held or not, somebody is told."""
_FAR_MS: Final = 400 * DAY_MS
"""Whatever waits in the timer is due before."""


class Waiting(NamedTuple):
    """How it stands with the erasures that are not over."""

    open: int
    late: dict[int, int]
    """How many were requested so many days ago, or more."""


class Deadlines:
    """Looks at every erasure that is not over."""

    def __init__(
        self, erasures: ErasureStore, timer: ErasureTimer, operate: Operate, clock: Clock, counts: Counts
    ) -> None:
        """``operate`` begins the look at each: what is a tenant's is read for that tenant alone."""
        self._operate = operate
        self._erasures = erasures
        self._timer = timer
        self._clock = clock
        self._counts = counts
        self._next = 0

    def run_once(self, more: Callable[[], bool] = lambda: True) -> int:
        """Count them, once an hour in a process: a query of the timer's shards, and a read of each. Nothing is done."""
        now = self._clock.now()
        if now < self._next or not more():
            return 0
        waiting = self.waiting()
        self._counts.add(Count.ERASURES_OPEN, waiting.open)
        for days, many in waiting.late.items():
            self._counts.add(Count.ERASURES_LATE, many, by=f"{days} days")
        self._next = now + HOUR_MS
        return 0

    def waiting(self) -> Waiting:
        """Those that are not over, whatever they wait for."""
        now = self._clock.now()
        days = [(now - erasure.requested_at) // DAY_MS for erasure in self._all() if erasure.state in OPEN]
        return Waiting(len(days), {late: sum(each >= late for each in days) for late in LATE_DAYS})

    def _all(self) -> list[Erasure]:
        by = self._clock.now() + _FAR_MS
        found: list[Erasure] = []
        for shard in range(SHARDS):
            for due in self._timer.due(shard, AT_ONCE, by=by):
                # Gone since; or of a tenant that is in quarantine.
                with suppress(SlateError), self._operate(Intent.WRITE, due.tenant):
                    found.append(self._erasures.get(due.tenant, due.erasure_id))
        return found
