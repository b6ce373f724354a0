"""All of retrieval over one set of stores: what is searched, and what keeps the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from slate.ports.clock import Clock
from slate.ports.document_store import DocumentStore
from slate.ports.embedder import Embedder
from slate.ports.episode_store import EpisodeStore
from slate.ports.fact_records import FactRecords
from slate.ports.fact_store import FactStore
from slate.ports.ids import Ids
from slate.ports.keyring import Keyring
from slate.ports.memory_index import MemoryIndex
from slate.ports.session_store import SessionStore
from slate.service.idempotency import Idempotency
from slate.service.search.asking import Seeking
from slate.service.search.caching import CachingEmbedder
from slate.service.search.episodic import Episodes
from slate.service.search.indexing import Indexing
from slate.service.search.knowledge import Knowledge
from slate.service.search.known import FactSearch
from slate.service.search.recalling import Recalling
from slate.service.search.runs import Runs
from slate.service.search.searching import Search
from slate.service.tenants import Tenants


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What is searched, as the storage keeps it."""

    sessions: SessionStore
    facts: FactStore
    records: FactRecords
    episodes: EpisodeStore
    documents: DocumentStore
    keyring: Keyring


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The use cases."""

    search: Search
    facts: FactSearch
    recalling: Recalling
    episodes: Episodes
    runs: Runs
    knowledge: Knowledge
    indexing: Indexing | None
    """None where there is no index to keep."""
    embedder: Embedder | None

    @classmethod
    def over(
        cls,
        stores: Stores,
        *,
        index: MemoryIndex | None,
        scratch: Callable[[], MemoryIndex],
        embedder: Embedder | None,
        tenants: Tenants,
        idempotency: Idempotency,
        ids: Ids,
        clock: Clock,
    ) -> Self:
        """Put it together."""
        seeking = Seeking(index, None if embedder is None else CachingEmbedder(embedder, clock), scratch)
        facts = FactSearch(stores.facts, seeking, tenants, clock)
        recalling = Recalling(stores.sessions, stores.facts, stores.records, tenants, seeking, clock)
        episodes = Episodes(stores.episodes, seeking, stores.keyring, idempotency, clock)
        return cls(
            search=Search(facts, recalling, episodes, stores.keyring),
            facts=facts,
            recalling=recalling,
            episodes=episodes,
            runs=Runs(stores.sessions, stores.episodes, clock),
            knowledge=Knowledge(stores.documents, seeking, ids, clock),
            embedder=embedder,
            indexing=None
            if index is None
            else Indexing(
                index,
                embedder,
                stores.sessions,
                stores.facts,
                stores.episodes,
                stores.documents,
                stores.keyring,
            ),
        )
