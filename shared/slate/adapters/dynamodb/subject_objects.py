"""A person's objects: all lie under one prefix, those that no item names too, in every version."""

from __future__ import annotations

from typing import Final

from slate.adapters.dynamodb.contents import person_prefix
from slate.adapters.dynamodb.storage import Storage
from slate.ports.subject_stores import Erased, StoreCounts

OBJECTS: Final = "objects"
_AT_ONCE: Final = 1_000


class SubjectObjects:
    """Counts and erases versions of objects."""

    stores: tuple[str, ...] = (OBJECTS,)

    def __init__(self, storage: Storage) -> None:
        self._blobs = storage.blobs
        self._clock = storage.clock

    def count(self, tenant: str, ref: str) -> StoreCounts:
        """A listing for each 1,000."""
        return {OBJECTS: self._blobs.count(person_prefix(tenant, ref))}

    def erase(self, tenant: str, ref: str, deadline: int, position: str = "") -> Erased:  # noqa: ARG002  # from the first that is left
        """A listing and a delete for each 1,000."""
        gone = 0
        while (now := self._blobs.delete_all(person_prefix(tenant, ref), _AT_ONCE)) >= _AT_ONCE:
            gone += now
            if self._clock.now() > deadline:
                return Erased({OBJECTS: gone}, "")
        return Erased({OBJECTS: gone + now}, None)
