"""All that is kept about a person, item by item, in the order of a report: what is known, what was said, what was done.

Partitions that are the person's own are read whole and strongly consistent: theirs, their episodes', their sessions'
as their own list has them, and whatever else the `subject` index shows. Of lists, where a person's items stand among
others', the index's keys alone are read. In either an item is taken only if it says itself that it is about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.export_lines import ExportLines
from slate.adapters.dynamodb.keys import END, episodes_pk, partition_of, subject_attributes, subject_pk
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.subject_kinds import KINDS, OWNED, kind_of
from slate.adapters.dynamodb.subject_walk import listed_sessions
from slate.adapters.dynamodb.table import PK, SK, SUBJECT, SUBJECT_PK
from slate.domain.errors import SubjectErased
from slate.domain.exporting.records import Record
from slate.ports.exports import Found

_ORDER: Final = "USPGXCN"
"""Letters of the partitions of which an export has lines, in the order of a report."""
_TOLD: Final = frozenset(kind.partition[0] for kind in KINDS if kind.export is not None)
_SEPARATOR: Final = "\n"
"""Between the two keys of a position: no key holds one."""


class DynamoSubjectRecords:
    """Reads a person's items as lines."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lines = ExportLines(storage).kinds

    def walk(self, tenant: str, ref: str, after: str | None) -> Iterator[Found]:
        """A query for each partition, read as its lines are taken."""
        begun = None if after is None else Key(*after.split(_SEPARATOR))
        for pk in self._partitions(tenant, ref):
            if begun is not None and _rank(pk) < _rank(begun.pk):
                continue
            last = begun.sk if begun is not None and pk == begun.pk else None
            for item in self._items(tenant, ref, pk, last):
                record = self._record(tenant, item)
                if record is not None:
                    yield Found(f"{pk}{_SEPARATOR}{item[SK]}", record)

    def _record(self, tenant: str, item: Item) -> Record | None:
        export = kind_of(Key(item[PK], item[SK])).export
        if export is None:
            return None
        with suppress(SubjectErased):  # of an earlier epoch: nobody can read it any more
            return self._lines[export](tenant, item)
        return None

    def _partitions(self, tenant: str, ref: str) -> list[str]:
        own = {subject_pk(tenant, ref), episodes_pk(tenant, ref)}
        sessions = listed_sessions(self._storage.calls, tenant, ref)
        return sorted({*own, *sessions, *self._indexed(tenant, ref)}, key=_rank)

    def _indexed(self, tenant: str, ref: str) -> Iterator[str]:
        """Each partition that the index shows: one small query leads to the next."""
        about, last = str(subject_attributes(tenant, ref)[SUBJECT_PK]), f"{tenant}#"
        while found := self._storage.calls.query_index(SUBJECT, (SUBJECT_PK, about), (PK, ">", last), 1):
            last = str(found[0][PK])
            letter = partition_of(last).letter
            if letter in _TOLD:
                yield last
            else:
                last = f"{tenant}#{letter}#{END}"

    def _items(self, tenant: str, ref: str, pk: str, last: str | None) -> Iterator[Item]:
        """The person's items of a partition, after a sort key."""
        about = subject_attributes(tenant, ref)[SUBJECT_PK]
        start = " " if last is None else last + " "
        if partition_of(pk).letter in OWNED:
            items: Iterator[Item] = self._storage.calls.query(tenant, pk, between=(start, END))
        else:
            items = self._listed(tenant, str(about), pk, start)
        return (item for item in items if item.get(SUBJECT_PK) == about)

    def _listed(self, tenant: str, about: str, pk: str, start: str) -> Iterator[Item]:
        found = self._storage.calls.walk_index(SUBJECT, (SUBJECT_PK, about), (PK, "=", pk))
        keys = sorted(Key(item[PK], item[SK]) for item in found if item[SK] >= start)
        read = self._storage.calls.get_many(tenant, keys)
        return (read[key] for key in keys if key in read)


def _rank(pk: str) -> tuple[int, str]:
    """Where a partition stands in a report."""
    return _ORDER.index(partition_of(pk).letter), pk
