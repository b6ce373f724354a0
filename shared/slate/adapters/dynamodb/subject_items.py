"""A person's items in the main table, as stores that erase and count.

Roots are marked before anything of theirs goes: a session's or a graph's head that says DELETING refuses what would
still be written beside it, as it does in any deletion; it goes with a later call, once no such write can arrive.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from slate.adapters.dynamodb.calls import ConditionFailed, Key
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
        """A walk; deletes of 25, side by side. A root that still stands is no longer the person's in any list.

        However short the time, each call comes further: roots are marked when it begins, not when it goes on.
        """
        if not position:
            self._mark_roots(tenant, ref)
        gone: Counter[str] = Counter()
        for batch in self._walk.batches(tenant, ref, position):
            going = [found for found in batch.found if not self._stands(tenant, ref, found)]
            self._delete(tenant, going)
            gone.update(found.kind.store for found in going)
            if self._storage.clock.now() > deadline and (gone or batch.position != position):
                return Erased(gone, batch.position)
        return Erased(gone, None)

    def _delete(self, tenant: str, going: list[Found]) -> None:
        keys = [found.key for found in going]
        chunks = [keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK)]
        self._storage.each(lambda chunk: self._storage.calls.delete_many(tenant, chunk), chunks)

    def _mark_roots(self, tenant: str, ref: str) -> None:
        """All that are not marked."""
        about = subject_attributes(tenant, ref)[SUBJECT_PK]
        heads = self._walk.roots(tenant, ref)
        for start in range(0, len(heads), AT_ONCE):
            found = self._storage.calls.get_many(tenant, heads[start : start + AT_ONCE])
            theirs = [key for key, item in found.items() if item.get(SUBJECT_PK) == about]
            unmarked = [key for key in theirs if found[key]["state"] != GraphState.DELETING]
            self._storage.each(lambda key: self._mark(tenant, ref, key), unmarked)

    def _stands(self, tenant: str, ref: str, found: Found) -> bool:
        """Whether it is a root of which a write may still be under way; one that came meanwhile is marked."""
        if not found.is_root:
            return False
        if found.state != GraphState.DELETING:
            self._mark(tenant, ref, found.key)
            return True
        return found.ends_at > self._storage.clock.now()

    def _mark(self, tenant: str, ref: str, head: Key) -> None:
        """Out of the timer: nobody but an erasure ends what an erasure began."""
        now, about = self._storage.clock.now(), subject_attributes(tenant, ref)[SUBJECT_PK]
        change = Change().set(state=GraphState.DELETING, ends_at=now + ROOTS_STAND_MS).remove(TIMER_PK, TIMER_SK)
        write = change.grow("version").on(head, "#subject_pk = :about AND #state <> :DELETING", about=about)
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed:
            return  # it is being deleted, or is gone
