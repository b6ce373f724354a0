"""The index made anew from the storage, and held against it: what is missing, what is old, what should not be there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from slate.domain.indexed import Entry, Kind, Place
from slate.ports.memory_index import Name
from slate.service.search.indexing import NOBODY, Indexing

AT_ONCE: Final = 50
"""Memories of one owner that are read together."""


class Memory(NamedTuple):
    """A memory that the storage has, or had: what may have to be found."""

    tenant: str
    kind: Kind
    owner: str | None
    id: str


@dataclass(slots=True)
class Report:
    """What was done, or found."""

    memories: int = 0
    entries: int = 0
    missing: int = 0
    """In the storage, and not in the index."""
    old: int = 0
    """At an older version, or with another embedder's vector."""
    unknown: list[str] = field(default_factory=list)
    """In the index, and not in the storage; `tenant kind id`."""

    @property
    def agrees(self) -> bool:
        """Whether the index is as the storage says."""
        return not (self.missing or self.old or self.unknown)


class Reindexing:
    """Rebuilds and checks."""

    def __init__(self, indexing: Indexing, progress: Callable[[Report], None] = lambda _: None) -> None:
        self._indexing = indexing
        self._progress = progress

    def rebuild(self, memories: Iterable[Memory]) -> Report:
        """Put all that there is; it may be repeated, and run while others write."""
        report = Report()
        for tenant, entries in self._expected(memories, report):
            self._indexing.put(tenant, entries)
            self._progress(report)
        return report

    def check(self, memories: Iterable[Memory], held: Iterable[Place] = (), *, mend: bool = False) -> Report:
        """Compare; with ``mend`` put what is missing or old, and take out what is unknown.

        ``held`` are the places that the index has anything of: the storage may have nothing left of one.
        """
        report = Report()
        wanted: defaultdict[Place, dict[Name, Entry]] = defaultdict(dict)
        for tenant, entries in self._expected(memories, report):
            for entry in entries:
                wanted[Place(tenant, entry.kind, entry.scope)][Name(entry.kind, entry.id)] = entry
            self._progress(report)
        for place in held:
            wanted.setdefault(place, {})
        for place, entries_by_name in wanted.items():
            self._compare(place, entries_by_name, report, mend)
        return report

    def _compare(self, place: Place, wanted: dict[Name, Entry], report: Report, mend: bool) -> None:
        tenant, kind, scope = place
        there = {each.name: each for each in self._indexing.listed(tenant, kind, scope)}
        missing = [entry for name, entry in wanted.items() if name not in there]
        old = [
            entry
            for name, entry in wanted.items()
            if name in there
            and (there[name].version < entry.version or there[name].embedder != self._indexing.embedder)
        ]
        strange = [name for name in there if name not in wanted]
        come_since = self._there_now(place, strange) if strange else set()
        unknown = [name for name in strange if name not in come_since]
        report.missing += len(missing)
        report.old += len(old)
        report.unknown += [f"{tenant} {name.kind} {name.id}" for name in unknown]
        if mend:
            self._indexing.put(tenant, [*missing, *old])
            self._indexing.drop(tenant, unknown)

    def _there_now(self, place: Place, names: list[Name]) -> set[Name]:
        """Those that were written while the storage was walked."""
        tenant, kind, scope = place
        owners: defaultdict[str | None, list[str]] = defaultdict(list)
        for name in names:
            match kind:
                case Kind.TURN:
                    session_id, _, seq = name.id.rpartition("/")
                    owners[session_id] += [seq] if seq.isdecimal() else []
                case Kind.CHUNK:
                    document_id = name.id.rsplit("/", 2)[0]
                    owners[None] = list({*owners[None], document_id})
                case _:
                    owners[None if scope == NOBODY else scope].append(name.id)
        found = (entry for owner, ids in owners.items() for entry in self._entries(tenant, kind, owner, ids))
        return {Name(entry.kind, entry.id) for entry in found if entry.scope == scope}

    def _expected(self, memories: Iterable[Memory], report: Report) -> Iterator[tuple[str, list[Entry]]]:
        for (tenant, kind, owner), ids in _grouped(memories):
            report.memories += len(ids)
            entries = self._entries(tenant, kind, owner, ids)
            report.entries += len(entries)
            yield tenant, entries

    def _entries(self, tenant: str, kind: Kind, owner: str | None, ids: list[str]) -> list[Entry]:
        indexing = self._indexing
        match kind:
            case Kind.TURN if owner is not None:
                return indexing.entries_of_turns(tenant, owner, [int(each) for each in ids])
            case Kind.FACT if owner is not None:
                return indexing.entries_of_facts(tenant, owner, ids)
            case Kind.EPISODE:
                return indexing.entries_of_episodes(tenant, owner, ids)
        return [entry for each in ids for entry in indexing.entries_of_document(tenant, each)]


def _grouped(memories: Iterable[Memory]) -> Iterator[tuple[tuple[str, Kind, str | None], list[str]]]:
    """Neighbours of one owner together: a walk of the storage gives them side by side."""
    owner: tuple[str, Kind, str | None] | None = None
    ids: list[str] = []
    for memory in memories:
        if memory[:3] != owner or len(ids) >= AT_ONCE:
            if owner is not None and ids:
                yield owner, ids
            owner, ids = memory[:3], []
        ids.append(memory.id)
    if owner is not None and ids:
        yield owner, ids
