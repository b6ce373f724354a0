"""What the index knows of a person: removed by the names that the items give, and looked for by a counting query."""

from __future__ import annotations

from itertools import islice
from typing import Final

from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.subject_walk import SubjectWalk
from slate.domain.errors import Unavailable
from slate.domain.indexed import PERSONAL
from slate.ports.memory_index import MemoryIndex, Name
from slate.ports.subject_stores import Erased, StoreCounts

VECTORS: Final = "vectors"
_AT_ONCE: Final = 500


class SubjectVectors:
    """Counts and erases entries of the index."""

    stores: tuple[str, ...] = (VECTORS,)

    def __init__(self, storage: Storage, index: MemoryIndex) -> None:
        self._storage = storage
        self._walk = SubjectWalk(storage)
        self._index = index

    def count(self, tenant: str, ref: str) -> StoreCounts:
        """One counting query."""
        return {VECTORS: self._index.count(tenant, ref)}

    def erase(self, tenant: str, ref: str, deadline: int, position: str = "") -> Erased:
        """By the names of the items, which are there still; then of what the index itself lists beyond them."""
        # What the index knew of is what goes; of the names that the items give many were never in it.
        gone = {VECTORS: 0 if position else self._index.count(tenant, ref)}
        for batch in self._walk.memories(tenant, ref, position):
            names = [name for found in batch.found if (name := found.name) is not None]
            self._remove(tenant, names)
            if self._storage.clock.now() > deadline:
                return Erased(gone, batch.position)
        for kind in sorted(PERSONAL):
            listed = self._index.listed(tenant, kind, ref)
            while names := [each.name for each in islice(listed, _AT_ONCE)]:
                self._remove(tenant, names)
        if self._index.count(tenant, ref):
            raise Unavailable("the index still counts some of what was removed; it is looked at again")
        return Erased(gone, None)

    def _remove(self, tenant: str, names: list[Name]) -> None:
        if names:
            self._index.remove(tenant, names)
