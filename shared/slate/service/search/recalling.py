"""What was said, found again: ranked by the recipe, read from the storage, and held against the facts made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar

from slate.domain.errors import WITHHELD, NotFound, Unavailable
from slate.domain.facts.model import Fact, Quarantined
from slate.domain.indexed import RECALLED, Entry, entry_of_turn, turn_id
from slate.domain.ranking.turns import Ranked
from slate.domain.recalling import Closed, closed, may_recall
from slate.domain.sessions import Session, Turn
from slate.ports.clock import Clock
from slate.ports.fact_records import FactRecords
from slate.ports.fact_store import FactStore, Shelf
from slate.ports.graph_store import Page
from slate.ports.session_store import SessionStore
from slate.service.search.asking import Reader, Seeking
from slate.service.search.turns import TurnSearch
from slate.service.tenants import Tenants

T = TypeVar("T")

FEWER: Final = 3
"""So many times as many are looked at as are asked for: some may not be served."""
NEWEST: Final = 300
"""Turns that are looked through where the index does not answer."""
SESSIONS: Final = 20
AT_ONCE: Final = 500
DEGRADED: Final = f"the index does not answer: of what was said only the newest {NEWEST} turns were searched, by words"


class Said(NamedTuple):
    """A turn that answers."""

    session_id: str
    turn: Turn
    ranked: Ranked


class Recalled(NamedTuple):
    """Turns, the best first, and what is to be told of how they were found."""

    turns: list[Said]
    warnings: tuple[str, ...] = ()


class Recalling:
    """Recalls turns."""

    def __init__(
        self,
        sessions: SessionStore,
        facts: FactStore,
        records: FactRecords,
        tenants: Tenants,
        seeking: Seeking,
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._facts = facts
        self._records = records
        self._tenants = tenants
        self._seeking = seeking
        self._clock = clock

    def find(self, tenant: str, subject: str, ref: str, query: str, count: int, reader: Reader) -> Recalled:
        """The best turns that may be told to this reader; none where the tenant has recall switched off."""
        if not self._tenants.of(tenant).recall:
            return Recalled([])
        best, warnings = self._best(tenant, subject, ref, query, count * FEWER, reader)
        if not best:
            return Recalled([], warnings)
        shut = self._closed(tenant, ref, reader)
        found: list[Said] = []
        for said in self._read(tenant, subject, best, reader):
            if len(found) < count and may_recall(said.session_id, said.turn, shut):
                found.append(said)
        return Recalled(found, warnings)

    def _best(
        self, tenant: str, subject: str, ref: str, query: str, count: int, reader: Reader
    ) -> tuple[list[Ranked], tuple[str, ...]]:
        index, embedder = self._seeking.index, self._seeking.embedder
        warnings: tuple[str, ...] = ()
        if index is not None:
            try:
                return TurnSearch(index, embedder).best(tenant, [ref], query, count, readers=reader.names), ()
            except Unavailable:
                warnings = (DEGRADED,)
        newest = self._seeking.filled(tenant, list(self._newest(tenant, subject, ref, reader)))
        return TurnSearch(newest, None).best(tenant, [ref], query, count), warnings

    def _newest(self, tenant: str, subject: str, ref: str, reader: Reader) -> Iterator[Entry]:
        left = NEWEST
        for session in self._sessions.page(tenant, subject, None, SESSIONS).items:
            if left <= 0:
                return
            if not reader.may_read(session.readers, session.agent):
                continue
            turns = sorted(self._sessions.turns_back(tenant, session.session_id, None, left).items, key=_seq)
            left -= len(turns)
            for place, turn in enumerate(turns):
                if turn.role in RECALLED and turn.content:
                    before = turns[max(place - 2, 0) : place]
                    yield entry_of_turn(turn, before, session_id=session.session_id, scope=ref)

    def _read(self, tenant: str, subject: str, best: Sequence[Ranked], reader: Reader) -> Iterator[Said]:
        """As they are now: a turn that is gone, or whose session is closed to this reader, is not told."""
        by_session: dict[str, list[int]] = {}
        for ranked in best:
            session_id, _, seq = ranked.name.rpartition("/")
            by_session.setdefault(session_id, []).append(int(seq))
        there: dict[str, tuple[str, Turn]] = {}
        for session_id, seqs in by_session.items():
            with suppress(NotFound, *WITHHELD):
                session = self._sessions.head(tenant, session_id)
                if session.subject == subject and _open_to(reader, session):
                    turns = self._sessions.many(tenant, session_id, seqs)
                    there |= {turn_id(session_id, turn.seq): (session_id, turn) for turn in turns}
        return (Said(*there[ranked.name], ranked) for ranked in best if ranked.name in there)

    def _closed(self, tenant: str, ref: str, reader: Reader) -> list[Closed]:
        def facts(position: str | None) -> Page[tuple[str, Fact]]:
            return self._facts.page(tenant, ref, (Shelf.LIVING, Shelf.PAST), position, AT_ONCE)

        def held(position: str | None) -> Page[Quarantined]:
            return self._records.quarantine(tenant, ref, position, AT_ONCE)

        every = [fact for _, fact in _all(facts)]
        return closed(every, _all(held), lambda readers: reader.may_read(readers, None), self._clock.now())


def _all(read: Callable[[str | None], Page[T]]) -> Iterator[T]:
    position: str | None = None
    while True:
        page = read(position)
        yield from page.items
        position = page.position
        if position is None:
            return


def _seq(turn: Turn) -> int:
    return turn.seq


def _open_to(reader: Reader, session: Session) -> bool:
    return reader.may_read(session.readers, session.agent)
