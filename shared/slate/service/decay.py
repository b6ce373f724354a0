"""What falls due of memory by the clock alone: each entry of the timer goes to the use case that knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from slate.ports.clock import Clock
from slate.ports.keyring import Operate
from slate.ports.memory_timer import DueMemory, MemoryKind, MemoryTimer
from slate.service.due_work import DueWork

Tick = Callable[[DueMemory, int], None]
"""Does what is due on an entry, until a deadline."""

POSTPONE_MS: Final = 60_000


class Decay:
    """Works off the timer's kind ``memory``; any number may run at once: every step is a condition."""

    def __init__(
        self,
        timer: MemoryTimer,
        ticks: Mapping[MemoryKind, Tick],
        operate: Operate,
        clock: Clock,
        *,
        begins: Callable[[], None] = lambda: None,
        passes: Callable[[DueMemory], bool] = lambda _: False,
    ) -> None:
        """``begins`` is told before each batch; what ``passes`` is left in its place, for a later run."""
        self._ticks = ticks
        self._work = DueWork(timer, self._do, operate, clock, postpone_ms=POSTPONE_MS, begins=begins, passes=passes)

    def run_once(self, more: Callable[[], bool] = lambda: True) -> int:
        """Walk every shard while there is time for ``more``, and do what is due; answer how many were dealt with."""
        return self._work.run_once(more)

    def _do(self, due: DueMemory, deadline: int) -> None:
        self._ticks[due.kind](due, deadline)
