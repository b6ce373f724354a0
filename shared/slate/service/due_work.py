"""Works off a timer, shard by shard: whatever is due is done, and what cannot be done now is looked at later."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, Generic, Protocol, TypeVar

from slate.domain.errors import SlateError
from slate.domain.fences import Intent
from slate.ports.clock import Clock
from slate.ports.keyring import Operate

SHARDS: Final = 16
AT_ONCE: Final = 100
ENTRY_MS: Final = 20_000
"""A single entry is worked on so long at most, so that a large one does not hold up the others."""

_log = logging.getLogger(__name__)

Entry = TypeVar("Entry", bound=tuple[Any, ...])


class Timer(Protocol[Entry]):
    """What has fallen due."""

    def due(self, shard: int, limit: int) -> list[Entry]:
        """Entries of one of the shards whose moment has come, the oldest first: hints."""
        ...

    def postpone(self, due: Entry, ms: int) -> None:
        """Move an entry that could not be worked on, so that it does not stand at the head for ever."""
        ...


class DueWork(Generic[Entry]):
    """Any number may run at once: every step is a condition on the item itself."""

    def __init__(
        self,
        timer: Timer[Entry],
        do: Callable[[Entry, int], None],
        operate: Operate,
        clock: Clock,
        *,
        looks: int,
        postpone_ms: int,
    ) -> None:
        """``do`` works on an entry until a deadline, as one operation; what shows up again is left after ``looks``."""
        self._operate = operate
        self._timer = timer
        self._do = do
        self._clock = clock
        self._looks = looks
        self._postpone_ms = postpone_ms

    def run_once(self) -> int:
        """Look at every shard until it shows nothing new that is due; answer how many entries were dealt with."""
        return sum(self._shard(shard) for shard in range(SHARDS))

    def _shard(self, shard: int) -> int:
        looks: Counter[Entry] = Counter()
        done = 0
        while True:
            listed = self._timer.due(shard, AT_ONCE)
            entries = [due for due in listed if looks[due] < self._looks]
            for due in entries:
                looks[due] += 1
                done += self._worked_on(due)
            # A short list was all there is: asking again would cost a query to hear so.
            if not entries or len(listed) < AT_ONCE:
                return done

    def _worked_on(self, due: Entry) -> int:
        try:
            with self._operate(Intent.WRITE):
                self._do(due, self._clock.now() + ENTRY_MS)
        except Exception as error:  # noqa: BLE001  # one bad entry must not keep the others from being worked on
            # Its kind alone: a message may quote what a caller said.
            _log.error("a due entry could not be worked on: %s", type(error).__name__, extra={"entry": tuple(due)})
            self._postpone(due)
            return 0
        return 1

    def _postpone(self, due: Entry) -> None:
        try:
            self._timer.postpone(due, self._postpone_ms)
        except SlateError as error:
            _log.warning("a due entry is looked at again: %s", type(error).__name__, extra={"entry": tuple(due)})
