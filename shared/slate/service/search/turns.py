"""Turns for a query: candidates from the index, ranked by the recipe; whether one is served is decided elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from slate.domain.indexed import Kind
from slate.domain.ranking.terms import asked, possible_names, without
from slate.domain.ranking.turns import Ranked, Uttered, best_turns
from slate.ports.embedder import Embedder
from slate.ports.memory_index import MemoryIndex, Probe

CANDIDATES: Final = 400
"""By words, and as many by vector."""


class TurnSearch:
    """Asks the index for turns."""

    def __init__(self, index: MemoryIndex, embedder: Embedder | None) -> None:
        self._index = index
        self._embedder = embedder

    def best(
        self,
        tenant: str,
        scopes: Sequence[str],
        query: str,
        count: int,
        *,
        readers: frozenset[str] | None = None,
        groups: Collection[str] | None = None,
    ) -> list[Ranked]:
        """The best turns, each by its id in the index, with every term of its score.

        Raises:
            Unavailable: the index, or the embedder, does not answer.
        """
        names = self._index.names(tenant, Kind.TURN, scopes, possible_names(query))
        embedder = self._embedder
        hits = self._index.seek(
            tenant,
            Probe(
                kind=Kind.TURN,
                scopes=scopes,
                terms=asked(query),
                vector=() if embedder is None else embedder.embed([without(query, names)])[0],
                embedder="" if embedder is None else embedder.name,
                readers=readers,
                groups=groups,
                limit=CANDIDATES,
            ),
        )
        return best_turns(
            query,
            [Uttered(h.id, h.group, h.at, h.speaker, h.words, h.question, h.timed) for h in hits],
            {hit.id: hit.lexical for hit in hits},
            {hit.id: hit.likeness for hit in hits},
            share=0.0 if embedder is None else embedder.share,
            names=names,
            count=count,
        )
