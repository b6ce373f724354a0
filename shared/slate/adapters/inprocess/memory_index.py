"""The index of one process: exact, over everything a scope holds. It goes with the process, as its storage does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from threading import RLock
from typing import Final

from slate.adapters.inprocess.vector_rows import VectorRows
from slate.domain.indexed import PERSONAL, Entry, Kind
from slate.domain.ranking.bm25 import Postings
from slate.ports.memory_index import Hit, Listed, Mark, Name, Probe

NAME_SHARE: Final = 0.1
"""A word that stands as a name in more of the memory than that is one."""
APART: Final = frozenset({Kind.FACT, Kind.TURN})
"""What is never looked for beyond one person."""
KEPT_GONE: Final = 100_000
"""Of so many that went it is known that they do not come back; by then no late write of the others is under way."""


@dataclass(slots=True)
class _Shelf:
    """All of one kind in one scope."""

    entries: dict[str, Entry] = field(default_factory=dict)
    postings: Postings[str] = field(default_factory=Postings)
    vectors: dict[str, VectorRows] = field(default_factory=dict)
    named: Counter[str] = field(default_factory=Counter)

    def put(self, entry: Entry) -> None:
        self.drop(entry.id)
        self.entries[entry.id] = replace(entry, terms=(), text="", vector=())
        self.postings.put(entry.id, entry.terms)
        self.named.update(entry.names)
        if any(entry.vector):
            self.vectors.setdefault(entry.embedder, VectorRows()).put(entry.id, entry.vector)

    def drop(self, entry_id: str) -> None:
        before = self.entries.pop(entry_id, None)
        if before is not None:
            self.named.subtract(before.names)
            self.postings.drop(entry_id)
            if before.embedder in self.vectors:
                self.vectors[before.embedder].drop(entry_id)


class InProcessMemoryIndex:
    """Keeps entries in memory, one shelf a tenant, kind and scope."""

    def __init__(self) -> None:
        self._shelves: dict[tuple[str, Kind, str], _Shelf] = {}
        self._where: dict[tuple[str, Name], str] = {}
        self._gone: dict[tuple[str, Name], int] = {}
        self._lock = RLock()

    def put(self, tenant: str, entries: Sequence[Entry]) -> None:
        """Each by itself; an entry that moved to another scope leaves the one before."""
        with self._lock:
            for entry in entries:
                name = Name(entry.kind, entry.id)
                there = self._there(tenant, name)
                if entry.version < self._gone.get((tenant, name), 0) or (there and there.version > entry.version):
                    continue
                self._drop(tenant, name)
                self._shelf(tenant, entry.kind, entry.scope).put(entry)
                self._where[tenant, name] = entry.scope

    def remove(self, tenant: str, gone: Sequence[Name]) -> None:
        """Each by itself; that it went is remembered."""
        with self._lock:
            for name in gone:
                there = self._there(tenant, name)
                if there is not None:
                    self._drop(tenant, name)
                    self._gone.pop((tenant, name), None)
                    self._gone[tenant, name] = there.version + 1
                    if len(self._gone) > KEPT_GONE:
                        del self._gone[next(iter(self._gone))]

    def seek(self, tenant: str, probe: Probe) -> list[Hit]:
        """Every entry of the scopes is scored; the best of each leg are candidates."""
        with self._lock:
            shelves = self._held(tenant, probe.kind, probe.scopes)
            found = [hit for shelf in shelves for hit in self._sought(shelf, probe)]
        if len(shelves) <= 1:
            return found
        by_words = nlargest(probe.limit, found, key=lambda hit: hit.lexical)
        by_vector = nlargest(probe.limit, found, key=lambda hit: hit.likeness)
        return list({(hit.scope, hit.id): hit for hit in (*by_words, *by_vector)}.values())

    def names(self, tenant: str, kind: Kind, scopes: Collection[str], words: Iterable[str]) -> frozenset[str]:
        """Counted over all of the scopes together."""
        with self._lock:
            shelves = self._held(tenant, kind, scopes)
            total = sum(len(shelf.entries) for shelf in shelves)
            return frozenset(word for word in words if sum(s.named[word] for s in shelves) > NAME_SHARE * total)

    def listed(self, tenant: str, kind: Kind, scope: str) -> Iterator[Listed]:
        """As it was when the first was asked for."""
        with self._lock:
            entries = [e for shelf in self._held(tenant, kind, [scope]) for e in shelf.entries.values()]
        return (
            Listed(Name(kind, entry.id), entry.version, entry.embedder) for entry in entries if entry.scope == scope
        )

    def count(self, tenant: str, scope: str, kinds: Collection[Kind] = PERSONAL) -> int:
        """Counted entry by entry."""
        with self._lock:
            shelves = [shelf for kind in kinds for shelf in self._held(tenant, kind, [scope])]
            return sum(entry.scope == scope for shelf in shelves for entry in shelf.entries.values())

    def expunge(self, since: Mark | None = None) -> Mark | None:  # noqa: ARG002  # nothing is left to go on with
        """Done at once: there are no files, and what was removed is not held."""
        return None

    def _sought(self, shelf: _Shelf, probe: Probe) -> list[Hit]:
        may = {entry.id for entry in shelf.entries.values() if _fits(entry, probe)}
        lexical = shelf.postings.scores(probe.terms, may)
        rows = shelf.vectors.get(probe.embedder)
        likeness = {} if rows is None else rows.likeness(probe.vector, may)
        chosen = {
            *nlargest(probe.limit, lexical, key=lexical.__getitem__),
            *nlargest(probe.limit, likeness, key=likeness.__getitem__),
        }
        return [_hit(shelf.entries[each], lexical.get(each, 0.0), likeness.get(each, 0.0)) for each in sorted(chosen)]

    def _held(self, tenant: str, kind: Kind, scopes: Collection[str] | None) -> list[_Shelf]:
        """The shelves of a kind: a person's facts and turns have one of their own."""
        names = dict.fromkeys(scopes or ()) if kind in APART else [""]
        return [shelf for name in names if (shelf := self._shelves.get((tenant, kind, name))) is not None]

    def _shelf(self, tenant: str, kind: Kind, scope: str) -> _Shelf:
        return self._shelves.setdefault((tenant, kind, scope if kind in APART else ""), _Shelf())

    def _there(self, tenant: str, name: Name) -> Entry | None:
        scope = self._where.get((tenant, name))
        return None if scope is None else self._shelf(tenant, name.kind, scope).entries.get(name.id)

    def _drop(self, tenant: str, name: Name) -> None:
        scope = self._where.pop((tenant, name), None)
        if scope is not None:
            self._shelf(tenant, name.kind, scope).drop(name.id)


def _fits(entry: Entry, probe: Probe) -> bool:
    if probe.groups is not None and entry.group not in probe.groups:
        return False
    if probe.scopes is not None and entry.scope not in probe.scopes:
        return False
    return probe.readers is None or not entry.readers or not probe.readers.isdisjoint(entry.readers)


def _hit(entry: Entry, lexical: float, likeness: float) -> Hit:
    return Hit(
        id=entry.id,
        scope=entry.scope,
        group=entry.group,
        version=entry.version,
        at=entry.at,
        lexical=lexical,
        likeness=likeness,
        speaker=entry.speaker,
        words=entry.words,
        question=entry.question,
        timed=entry.timed,
        readers=entry.readers,
    )
