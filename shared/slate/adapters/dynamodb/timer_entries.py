"""The timer index, a kind of it at a time: what is due of it, and looking again later.

An entry is a hint. The item that it stands for decides what is to be done, and whether anything is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from slate.adapters.dynamodb.calls import ConditionFailed, Key
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.keys import timer_attributes, timer_pk
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import PK, SK, TIMER, TIMER_PK, TIMER_SK


class TimerEntries:
    """Reads and moves the entries of a kind."""

    def __init__(self, storage: Storage, kind: str) -> None:
        self._calls = storage.calls
        self._clock = storage.clock
        self._kind = kind

    def due(self, shard: int, at_once: int, by: int | None = None) -> Iterator[Key]:
        """The items of a shard that are due by now, or by an instant: a query for each ``at_once`` of them."""
        last = self._clock.now() if by is None else by
        pk, sk = (TIMER_PK, timer_pk(self._kind, shard)), (TIMER_SK, "<", f"{last + 1:015d}")
        return (Key(item[PK], item[SK]) for item in self._calls.walk_index(TIMER, pk, sk, at_once=at_once))

    def postpone(self, tenant: str, key: Key, ms: int) -> None:
        """Move the entry, if the item is still in the timer: one update."""
        change = Change().set(**timer_attributes(key, self._clock.now() + ms, self._kind))
        with suppress(ConditionFailed):  # nothing is due on it any more
            self._calls.write(tenant, change.on(key, "attribute_exists(#timer_pk)"))
