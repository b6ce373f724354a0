"""Who asks, and what an index is asked: shared by every kind of search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from slate.domain.access import Principal, Scope
from slate.domain.errors import Unavailable
from slate.domain.indexed import Entry, Kind
from slate.domain.ranking.terms import asked
from slate.ports.embedder import Embedder
from slate.ports.memory_index import Hit, MemoryIndex, Probe

CANDIDATES: Final = 200


class Reader(NamedTuple):
    """Who reads: ``names`` are the agent and its roles, for an index to look by; None: it reads whatever there is."""

    may_read: Callable[[Collection[str], str | None], bool]
    names: frozenset[str] | None

    @classmethod
    def of(cls, principal: Principal) -> Reader:
        """The caller itself."""
        everything = Scope.ADMIN in principal.scopes
        return cls(principal.may_read, None if everything else frozenset({principal.agent, *principal.roles}))


class Sought(NamedTuple):
    """Candidates, and what is to be told of how they were found."""

    hits: list[Hit]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seeking:
    """An index, what stands in for it where it does not answer, and what makes vectors of queries."""

    index: MemoryIndex | None
    embedder: Embedder | None
    scratch: Callable[[], MemoryIndex]
    """An empty index for one question."""

    @property
    def share(self) -> float:
        """What vectors count for."""
        return 0.0 if self.embedder is None else self.embedder.share

    @property
    def _alike(self) -> float:
        """What shares no word with a query must be at least so like it, to be about the same."""
        return 1.0 if self.embedder is None else self.embedder.same_topic

    def filled(self, tenant: str, entries: Sequence[Entry]) -> MemoryIndex:
        """An index of these alone, by their words."""
        index = self.scratch()
        index.put(tenant, entries)
        return index

    def seek(
        self,
        tenant: str,
        kind: Kind,
        scopes: Collection[str] | None,
        query: str,
        reader: Reader,
        instead: Callable[[], Sequence[Entry]],
    ) -> Sought:
        """Candidates from the index; where there is none, or it fails, from ``instead``, by words alone."""
        probe = Probe(kind=kind, scopes=scopes, terms=asked(query), readers=reader.names, limit=CANDIDATES)
        if self.index is None:
            return Sought(self.filled(tenant, instead()).seek(tenant, probe))
        try:
            hits = self.index.seek(tenant, self._with_vector(probe, query))
            return Sought([hit for hit in hits if hit.lexical or hit.likeness >= self._alike])
        except Unavailable:
            hits = self.filled(tenant, instead()).seek(tenant, probe)
            return Sought(hits, (f"the index does not answer: {kind}s were searched by their words, the newest only",))

    def _with_vector(self, probe: Probe, query: str) -> Probe:
        if self.embedder is None:
            return probe
        return Probe(
            kind=probe.kind,
            scopes=probe.scopes,
            terms=probe.terms,
            vector=self.embedder.embed([query])[0],
            embedder=self.embedder.name,
            readers=probe.readers,
            limit=probe.limit,
        )
