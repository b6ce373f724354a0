"""Keeps the index like the storage: of what changed, what is there now is read and put, what is gone is removed.

Each step may be repeated, and may come late: it never puts what is not there at that moment. A session that is gone
once its turns were put takes them with it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from slate.domain.documents import Part
from slate.domain.episodes import text_of
from slate.domain.errors import NotFound, SubjectErased
from slate.domain.facts.model import FactState
from slate.domain.indexed import (
    PREDECESSORS,
    RECALLED,
    Entry,
    Kind,
    entry_of_fact,
    entry_of_text,
    entry_of_turn,
    turn_id,
)
from slate.domain.sessions import Session, Turn
from slate.ports.document_store import DocumentStore, Kept
from slate.ports.embedder import Embedder
from slate.ports.episode_store import EpisodeStore
from slate.ports.fact_store import FactStore
from slate.ports.keyring import Keyring
from slate.ports.memory_index import Listed, MemoryIndex, Name
from slate.ports.session_store import SessionStore

NOBODY: Final = "-"
"""The scope of what is about nobody."""
LIVES: Final = 10_000
"""Versions that a turn may have: a session that is made anew under its id comes after all of them."""
AT_ONCE: Final = 64


def part_id(document_id: str, generation: str, number: int) -> str:
    """What the index calls a part of a document."""
    return f"{document_id}/{generation}/{number}"


class Indexing:
    """Feeds the index."""

    def __init__(
        self,
        index: MemoryIndex,
        embedder: Embedder | None,
        sessions: SessionStore,
        facts: FactStore,
        episodes: EpisodeStore,
        documents: DocumentStore,
        keyring: Keyring,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._sessions = sessions
        self._facts = facts
        self._episodes = episodes
        self._documents = documents
        self._keyring = keyring

    # ---- what changed

    def turns(self, tenant: str, session_id: str, seqs: Collection[int]) -> None:
        """Turns that changed, and those after them, which are found by their words too."""
        touched = sorted({seq + after for seq in seqs for after in range(PREDECESSORS + 1)})
        entries = self.entries_of_turns(tenant, session_id, touched)
        self._settle(tenant, [Name(Kind.TURN, turn_id(session_id, seq)) for seq in touched], entries)
        with suppress(NotFound, SubjectErased):
            self._sessions.head(tenant, session_id)
            return
        self._index.remove(tenant, [Name(entry.kind, entry.id) for entry in entries])

    def facts(self, tenant: str, ref: str, fact_ids: Collection[str]) -> None:
        """Facts that changed; those that are not active are not found."""
        names = [Name(Kind.FACT, each) for each in fact_ids]
        self._settle(tenant, names, self.entries_of_facts(tenant, ref, fact_ids))

    def episodes(self, tenant: str, ref: str | None, episode_ids: Sequence[str]) -> None:
        """Episodes that were kept, or are gone."""
        names = [Name(Kind.EPISODE, each) for each in episode_ids]
        self._settle(tenant, names, self.entries_of_episodes(tenant, ref, episode_ids))

    def document(self, tenant: str, document_id: str, before: tuple[str, int] | None) -> None:
        """A document that was written or deleted; ``before`` is the writing that held, and its number of parts."""
        entries = self.entries_of_document(tenant, document_id)
        there = {entry.id for entry in entries}
        generation, parts = before or ("", 0)
        gone = [part_id(document_id, generation, number) for number in range(parts)]
        self._settle(tenant, [Name(Kind.CHUNK, each) for each in gone if each not in there], entries)

    # ---- what the index should have; without vectors

    def entries_of_turns(self, tenant: str, session_id: str, seqs: Collection[int]) -> list[Entry]:
        """Those of these turns that are there, and are somebody's memory."""
        with suppress(NotFound, SubjectErased):
            session = self._sessions.head(tenant, session_id)
            return self._turn_entries(tenant, session, seqs)
        return []

    def entries_of_facts(self, tenant: str, ref: str, fact_ids: Iterable[str]) -> list[Entry]:
        """Those of these facts that are active."""
        entries: list[Entry] = []
        for fact_id in fact_ids:
            with suppress(NotFound, SubjectErased):
                fact = self._facts.get(tenant, ref, fact_id)
                if fact.state is FactState.ACTIVE:
                    entries.append(entry_of_fact(fact, ref))
        return entries

    def entries_of_episodes(self, tenant: str, ref: str | None, episode_ids: Sequence[str]) -> list[Entry]:
        """Those of these episodes that are there."""
        return [
            entry_of_text(
                Kind.EPISODE,
                episode.episode_id,
                text_of(episode),
                scope=ref or NOBODY,
                group="",
                version=episode.version,
                at=episode.created_at,
                readers=episode.readers,
            )
            for episode in self._episodes.many(tenant, ref, episode_ids)
        ]

    def entries_of_document(self, tenant: str, document_id: str) -> list[Entry]:
        """The parts of the writing that holds."""
        with suppress(NotFound):
            kept = self._documents.get(tenant, document_id)
            return self._part_entries(kept, self._documents.parts(tenant, kept))
        return []

    # ---- putting

    def put(self, tenant: str, entries: Sequence[Entry]) -> None:
        """Put entries, with their vectors."""
        for start in range(0, len(entries), AT_ONCE):
            self._index.put(tenant, self._embedded(entries[start : start + AT_ONCE]))

    def drop(self, tenant: str, names: Sequence[Name]) -> None:
        """Take entries out."""
        if names:
            self._index.remove(tenant, names)

    def listed(self, tenant: str, kind: Kind, scope: str) -> Iterator[Listed]:
        """What the index has."""
        return self._index.listed(tenant, kind, scope)

    @property
    def embedder(self) -> str:
        """Whose vectors are put now."""
        return "" if self._embedder is None else self._embedder.name

    # ---- how

    def _settle(self, tenant: str, names: Sequence[Name], entries: Sequence[Entry]) -> None:
        self.put(tenant, entries)
        there = self._still(tenant, entries)
        put = (Name(entry.kind, entry.id) for entry in entries)
        gone = [name for name in dict.fromkeys((*names, *put)) if name not in there]
        if gone:
            self._index.remove(tenant, gone)

    def _still(self, tenant: str, entries: Sequence[Entry]) -> set[Name]:
        """Those that were not put behind an erasure's fence: an index holds in clear what it is given."""
        erased = set()
        for ref in {entry.scope for entry in entries if entry.kind is not Kind.CHUNK} - {NOBODY}:
            try:
                self._keyring.confirm(tenant, ref)
            except SubjectErased:
                erased.add(ref)
        return {Name(entry.kind, entry.id) for entry in entries if entry.scope not in erased}

    def _embedded(self, entries: Sequence[Entry]) -> list[Entry]:
        embedder = self._embedder
        if embedder is None:
            return list(entries)
        vectors = embedder.embed([entry.text for entry in entries])
        return [
            replace(entry, vector=vector, embedder=embedder.name)
            for entry, vector in zip(entries, vectors, strict=True)
        ]

    def _turn_entries(self, tenant: str, session: Session, seqs: Collection[int]) -> list[Entry]:
        if session.subject is None:
            return []  # of nobody's memory
        wanted = sorted({seq - before for seq in seqs for before in range(PREDECESSORS + 1) if seq > before})
        turns = {turn.seq: turn for turn in self._sessions.many(tenant, session.session_id, wanted)}
        ref = self._keyring.ref(tenant, session.subject)
        return [
            self._turn_entry(session, turns[seq], _before(turns, seq), ref)
            for seq in sorted(seqs)
            if seq in turns and turns[seq].role in RECALLED and turns[seq].content
        ]

    @staticmethod
    def _turn_entry(session: Session, turn: Turn, before: Sequence[Turn], ref: str) -> Entry:
        entry = entry_of_turn(turn, before, session_id=session.session_id, scope=ref, readers=session.readers)
        return replace(entry, version=session.created_at * LIVES + turn.version)

    @staticmethod
    def _part_entries(kept: Kept, parts: Sequence[Part]) -> list[Entry]:
        document = kept.document
        return [
            entry_of_text(
                Kind.CHUNK,
                part_id(document.document_id, kept.generation, part.number),
                f"{document.title}\n{part.whole}",
                scope=document.collection,
                group=document.document_id,
                version=document.version,
                at=document.updated_at,
                readers=document.readers,
            )
            for part in parts
        ]


def _before(turns: dict[int, Turn], seq: int) -> list[Turn]:
    return [turns[each] for each in range(seq - PREDECESSORS, seq) if each in turns]
