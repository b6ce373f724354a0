"""A person's items in the main table, as stores that erase and count.

Roots are marked before anything of theirs goes: a session's or a graph's head that says DELETING refuses what would
still be written beside it, as it does in any deletion; it goes with a later call, once no such write can arrive.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.keys import subject_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.subject_kinds import KINDS
from slate.adapters.dynamodb.subject_walk import AT_ONCE, Found, SubjectWalk
from slate.adapters.dynamodb.table import SUBJECT_PK, TIMER_PK, TIMER_SK
from slate.domain.erasing.steps import ROOTS_STAND_MS
from slate.domain.graphs import GraphState
from slate.ports.subject_stores import Erased, StoreCounts

_STORES: Final = tuple(dict.fromkeys(kind.store for kind in KINDS if kind.kept is None))
_CHUNK: Final = 25
"""Items of one batch of deletes."""


class SubjectItems:
    """Counts and erases items."""

    stores: tuple[str, ...] = _STORES

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._walk = SubjectWalk(storage)

    def count(self, tenant: str, ref: str) -> StoreCounts:
        """A walk."""
        counts = Counter(dict.fromkeys(_STORES, 0))
        for batch in self._walk.batches(tenant, ref):
            counts.update(found.kind.store for found in batch.found)
        return counts

    def erase(self, tenant: str, ref: str, deadline: int, position: str = "") -> Erased:
        """A walk; deletes of 25, side by side. A root that still stands is no longer the person's in any list."""
        standing = self._marked(tenant, ref)
        gone: Counter[str] = Counter()
        for batch in self._walk.batches(tenant, ref, position):
            if self._storage.clock.now() > deadline:
                return Erased(gone, batch.position)
            going = [found for found in batch.found if found.key not in standing]
            self._delete(tenant, going)
            gone.update(found.kind.store for found in going)
        return Erased(gone, None)

    def _delete(self, tenant: str, going: list[Found]) -> None:
        keys = [found.key for found in going]
        chunks = [keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK)]
        self._storage.each(lambda chunk: self._storage.calls.delete_many(tenant, chunk), chunks)

    def _marked(self, tenant: str, ref: str) -> set[Key]:
        """Mark every root that is not; those of which a write may still be under way."""
        standing: set[Key] = set()
        now, about = self._storage.clock.now(), subject_attributes(tenant, ref)[SUBJECT_PK]
        heads = self._walk.roots(tenant, ref)
        for start in range(0, len(heads), AT_ONCE):
            found = self._storage.calls.get_many(tenant, heads[start : start + AT_ONCE])
            theirs = [item for item in found.values() if item.get(SUBJECT_PK) == about]
            unmarked = [item for item in theirs if item["state"] != GraphState.DELETING]
            self._storage.each(lambda item: self._mark(tenant, item), unmarked)
            standing.update(_key(item) for item in unmarked)
            standing.update(_key(item) for item in theirs if item.get("ends_at", 0) > now)
        return standing

    def _mark(self, tenant: str, head: Item) -> None:
        """Out of the timer: nobody but an erasure ends what an erasure began."""
        now = self._storage.clock.now()
        change = Change().set(state=GraphState.DELETING, ends_at=now + ROOTS_STAND_MS).remove(TIMER_PK, TIMER_SK)
        write = change.grow("version").on(
            _key(head), "#subject_pk = :about AND #state <> :DELETING", about=head[SUBJECT_PK]
        )
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed:
            return  # it is being deleted, or is gone


def _key(item: Item) -> Key:
    return Key(item["pk"], item["sk"])
