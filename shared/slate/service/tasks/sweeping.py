"""What nobody else does any more: lapsed leases, ended delays, unfinished cascades, creates, cancels and deletes.

And feeds: what one waits for in vain is given up. And values, once their graph ended long enough ago.
"""

from __future__ import annotations

from typing import Final

from slate.ports.clock import Clock
from slate.ports.feed_store import Feeding
from slate.ports.keyring import Operate
from slate.ports.task_store import Due, TimerStore
from slate.service.due_work import DueWork
from slate.service.tasks.unlocking import Unlocking

POSTPONE_MS: Final = 30_000


class Sweeping:
    """Works off the timer index; any number may run at once: every step is a condition."""

    def __init__(self, timer: TimerStore, unlocking: Unlocking, feeds: Feeding, operate: Operate, clock: Clock) -> None:
        self._timer = timer
        self._unlocking = unlocking
        self._feeds = feeds
        self._work = DueWork(timer, self._do, operate, clock, postpone_ms=POSTPONE_MS)

    def run_once(self) -> int:
        """Walk every shard, and do what is due; answer how many entries were dealt with."""
        return self._work.run_once()

    def _do(self, due: Due, deadline: int) -> None:
        if due.feed:
            self._feeds.check(due.tenant, due.graph_id)
        elif due.values:
            self._timer.tick_values(due, deadline)
        elif due.task_id is None:
            self._timer.tick_graph(due, deadline)
        elif (parent := self._timer.tick_task(due)) is not None:
            self._unlocking.run(due.tenant, parent, None, deadline)
