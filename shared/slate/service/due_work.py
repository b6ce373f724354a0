"""Works off a timer, all shards side by side: whatever is due is done, what cannot be done now is looked at later."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
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


class DueEntry(Protocol):
    """An entry of a timer, whatever it is about: a tuple that names its tenant."""

    @property
    def tenant(self) -> str:
        """Whose it is."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """What it says, for the log."""
        ...


Entry = TypeVar("Entry", bound=DueEntry)


class Timer(Protocol[Entry]):
    """What has fallen due."""

    def due(self, shard: int, at_once: int) -> Iterable[Entry]:
        """Entries of one of the shards whose moment has come, the oldest first, so many to a read: hints.

        They are read as they are taken, each place once: what stays in its place is passed.
        """
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
        postpone_ms: int,
        begins: Callable[[], None] = lambda: None,
        passes: Callable[[Entry], bool] = lambda _: False,
    ) -> None:
        """``do`` works on an entry until a deadline, as one operation.

        ``begins`` is told before each batch; what ``passes`` is left in its place, for a later run.
        """
        self._operate = operate
        self._timer = timer
        self._do = do
        self._clock = clock
        self._postpone_ms = postpone_ms
        self._begins = begins
        self._passes = passes

    def run_once(self, more: Callable[[], bool] = lambda: True) -> int:
        """Walk every shard to its end, a batch of each in turn; answer how many entries were dealt with.

        Ends before a batch for which there is no time ``more``; the next run takes up there.
        """
        walks = [iter(self._timer.due(shard, AT_ONCE)) for shard in range(SHARDS)]
        done = 0
        while walks:
            for walk in tuple(walks):
                if not more():
                    return done
                batch = list(islice(walk, AT_ONCE))
                # A short batch was all there is: asking again would cost a query to hear so.
                if len(batch) < AT_ONCE:
                    walks.remove(walk)
                done += self._batch(batch)
        return done

    def _batch(self, batch: list[Entry]) -> int:
        self._begins()
        return sum(self._worked_on(due) for due in batch if not self._passes(due))

    def _worked_on(self, due: Entry) -> int:
        try:
            with self._operate(Intent.WRITE, due.tenant):
                self._do(due, self._clock.now() + ENTRY_MS)
        except Exception as error:  # noqa: BLE001  # one bad entry must not keep the others from being worked on
            # Its kind alone: a message may quote what a caller said.
            _log.error("a due entry could not be worked on: %s", type(error).__name__, extra={"entry": tuple(due)})
            self._postpone(due)
            return 0
        return 1

    def _postpone(self, due: Entry) -> None:
        try:
            with self._operate(Intent.WRITE, due.tenant):
                self._timer.postpone(due, self._postpone_ms)
        except SlateError as error:
            _log.warning("a due entry is looked at again: %s", type(error).__name__, extra={"entry": tuple(due)})
