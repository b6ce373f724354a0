"""Many tenants' vectors in one index, and what searches among them find, held against numpy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from opensearch_node.indices import Made
from slate.domain.indexed import Entry, Kind
from slate.ports.memory_index import MemoryIndex, Probe

TOP: Final = 10
AT_ONCE: Final = 500


@dataclass(frozen=True)
class RandomVectors:
    """Stands where an embedder does: nobody's text is in it."""

    dimension: int
    name: str = "random"
    same_topic: float = 0.5
    share: float = 0.5

    def embed(self, texts: Any) -> Any:
        raise AssertionError(f"these vectors are of no text, not of {texts}")


@dataclass
class Crowd:
    """``tenants`` with ``each`` entries a tenant, of a tenant's own group, and vectors alike among all of them."""

    tenants: int = 100
    each: int = 100
    dimension: int = 256
    seed: int = 7

    @cached_property
    def vectors(self) -> Any:
        """By tenant, entry and place."""
        rng = np.random.default_rng(self.seed)
        rows = rng.normal(size=(self.tenants, self.each, self.dimension)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=2, keepdims=True)

    @property
    def embedder(self) -> RandomVectors:
        return RandomVectors(self.dimension)

    def fill(self, made: Made) -> None:
        for tenant in range(self.tenants):
            for start in range(0, self.each, AT_ONCE):
                numbers = range(start, min(start + AT_ONCE, self.each))
                made.index.put(named(tenant), [self._entry(tenant, number) for number in numbers])
        made.transport.ask_all("POST", f"{made.aliases.kept}/_refresh")

    def _entry(self, tenant: int, number: int) -> Entry:
        return Entry(
            kind=Kind.EPISODE,
            id=str(number),
            scope=f"person-{number % 10}",
            group=named(tenant),
            version=1,
            at=1,
            terms=("parcel",),
            vector=tuple(self.vectors[tenant, number].tolist()),
            embedder=self.embedder.name,
        )

    def ask(self, index: MemoryIndex, queries: int, candidates: int = TOP) -> Found:
        """So many random searches, each of a random tenant, through every person of theirs."""
        rng, found = np.random.default_rng(self.seed + 1), Found()
        for _ in range(queries):
            tenant, query = int(rng.integers(self.tenants)), rng.normal(size=self.dimension).astype(np.float32)
            self._one(index, tenant, query / np.linalg.norm(query), candidates, found)
        return found

    def _one(self, index: MemoryIndex, tenant: int, query: Any, candidates: int, found: Found) -> None:
        asked = Probe(
            kind=Kind.EPISODE,
            scopes=None,
            terms=(),
            vector=tuple(query.tolist()),
            embedder=self.embedder.name,
            limit=candidates,
        )
        began = time.perf_counter()
        hits = index.seek(named(tenant), asked)
        found.took_ms.append((time.perf_counter() - began) * 1000)
        likeness = self.vectors[tenant] @ query
        best = {str(number) for number in np.argsort(-likeness)[:TOP]}
        found.foreign += sum(hit.group != named(tenant) for hit in hits)
        found.missed += len(best - {hit.id for hit in hits})
        found.wanted += len(best)
        found.off = max([found.off, *(abs(hit.likeness - float(likeness[int(hit.id)])) for hit in hits)])

    def complete(self, index: MemoryIndex) -> Iterator[tuple[int, int]]:
        """Of each tenant, how many entries a search for all of them finds, and how many of them are somebody else's."""
        for tenant in range(self.tenants):
            vector = tuple(self.vectors[tenant, 0].tolist())
            limits = {"limit": self.each * 2, "embedder": self.embedder.name}
            hits = index.seek(named(tenant), Probe(kind=Kind.EPISODE, scopes=None, terms=(), vector=vector, **limits))
            yield len({hit.id for hit in hits}), sum(hit.group != named(tenant) for hit in hits)


@dataclass
class Found:
    """``foreign``: hits of another tenant; ``missed``: of the ten most alike; ``off``: a likeness, at most."""

    foreign: int = 0
    missed: int = 0
    wanted: int = 0
    off: float = 0.0
    took_ms: list[float] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return 1 - self.missed / self.wanted

    def percentile(self, part: float) -> float:
        return sorted(self.took_ms)[int(len(self.took_ms) * part)]


def named(tenant: int) -> str:
    return f"tenant-{tenant}"
