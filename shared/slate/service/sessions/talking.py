"""Turns: appended in order, read, marked, deleted."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from pydantic import JsonValue

from slate.contract.sessions import AppendTurns, GivenTurn, PatchTurn, TurnPage, Turns
from slate.domain import marking
from slate.domain.access import Principal
from slate.domain.errors import NotFound, Unavailable, VersionMismatch
from slate.domain.sessions import Session, Turn
from slate.domain.tokens import message_tokens
from slate.ports.clock import Clock
from slate.ports.segment_watch import SegmentWatch
from slate.ports.session_store import Appending, NewTurn, SessionStore
from slate.ports.token_counter import TokenCounter
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors
from slate.service.sessions.reaching import reached

_TRIES = 10
_LONGEST_NUMBER = 9


class Talking:
    """The use cases of turns."""

    def __init__(
        self,
        store: SessionStore,
        watch: SegmentWatch,
        counter: TokenCounter,
        idempotency: Idempotency,
        cursors: Cursors,
        clock: Clock,
    ) -> None:
        self._store = store
        self._watch = watch
        self._counter = counter
        self._idempotency = idempotency
        self._cursors = cursors
        self._clock = clock

    def append(self, principal: Principal, session_id: str, body: AppendTurns, idempotency_key: str | None) -> Turns:
        """The turns, numbered after those that are there; a closed session is open again.

        Raises:
            NotFound: there is no such session within reach.
            Conflict: a client_id is there with other content.
        """
        tenant, session = principal.tenant, reached(self._store, principal, session_id)

        def do(seed: str) -> tuple[Turns, JsonValue]:
            author = Appending(principal.agent, seed, remembered=idempotency_key is not None)
            appended = self._store.append(tenant, session, [self._new(turn) for turn in body.turns], author)
            self._tell(tenant, appended.session, appended.turns)
            return Turns(turns=tuple(appended.turns)), [turn.seq for turn in appended.turns]

        def again(kept: JsonValue) -> Turns:
            return Turns(turns=tuple(self._store.many(tenant, session_id, cast("list[int]", kept))))

        request: JsonValue = [f"POST /v1/sessions/{session_id}/turns", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again, about=session.subject)

    def _tell(self, tenant: str, session: Session, turns: list[Turn]) -> None:
        with suppress(Unavailable):  # the turns are there; the next append, or the close, finds what was not told
            self._watch.appended(tenant, session, turns)

    def _new(self, turn: GivenTurn) -> NewTurn:
        marked = marking.weigh(turn.marks, turn.importance, marking.find(turn.role, turn.content))
        return NewTurn(
            role=turn.role,
            content=turn.content,
            name=turn.name,
            tool_calls=turn.tool_calls,
            tool_call_id=turn.tool_call_id,
            client_id=turn.client_id,
            tokens=message_tokens(self._counter.count, turn.content, name=turn.name, calls=turn.tool_calls),
            importance=marked.importance,
            marks=marked.marks,
            found=marked.found,
            at=self._clock.now() if turn.at is None else turn.at,
            given=turn.model_dump(mode="json"),
        )

    def list(self, principal: Principal, session_id: str, limit: int, cursor: str | None) -> TurnPage:
        """Turns by number; fewer where more would not fit an answer.

        Raises:
            NotFound: as in ``append``.
        """
        reached(self._store, principal, session_id)
        tenant, of = principal.tenant, f"turns {session_id}"
        position = self._cursors.position(tenant, of, cursor)
        page = self._store.turns(tenant, session_id, 0 if position is None else int(position), limit)
        return TurnPage(items=tuple(page.items), next_cursor=self._cursors.next(tenant, of, page.position))

    def get(self, principal: Principal, session_id: str, number: str) -> Turn:
        """One turn, whole.

        Raises:
            NotFound: there is no such turn (any more), or no such session within reach.
        """
        reached(self._store, principal, session_id)
        return self._store.turn(principal.tenant, session_id, _seq(number))

    def patch(self, principal: Principal, session_id: str, number: str, body: PatchTurn, if_match: int | None) -> Turn:
        """Mark it otherwise; what rules found and is not among the marks any more is taken back.

        Raises:
            NotFound: as in ``get``.
            VersionMismatch: it is at another version.
        """
        reached(self._store, principal, session_id)
        tenant, seq = principal.tenant, _seq(number)
        for attempt in range(_TRIES):
            turn = self._store.turn(tenant, session_id, seq)
            if if_match not in (None, turn.version):
                raise VersionMismatch(turn.model_dump(mode="json"))
            try:
                changed, segment = self._store.change_turn(tenant, session_id, turn, _patched(turn, body))
            except VersionMismatch:
                if if_match is not None or attempt == _TRIES - 1:
                    raise
                continue
            self._watch.changed(tenant, session_id, segment)
            return changed
        raise AssertionError  # the last try has returned or raised

    def delete(self, principal: Principal, session_id: str, number: str, if_match: int | None) -> None:
        """Remove it with every copy; its number is not given out again, and what it was digested into is made anew.

        Raises:
            NotFound: as in ``get``.
            VersionMismatch: it is at another version.
        """
        reached(self._store, principal, session_id)
        segment = self._store.delete_turn(principal.tenant, session_id, _seq(number), if_match)
        self._watch.changed(principal.tenant, session_id, segment)


def _patched(turn: Turn, body: PatchTurn) -> marking.Marked:
    marks = turn.marks if body.marks is None else body.marks
    stands = tuple(
        found for found in turn.found if (found.mark in marks if found.mark is not None else body.importance is None)
    )
    if body.importance is not None:
        return marking.Marked(marks, body.importance, stands)
    taken_back = {found.importance for found in turn.found if found not in stands}
    importance = None if turn.importance in taken_back else turn.importance
    return marking.weigh(marks, importance, stands)


def _seq(number: str) -> int:
    if not (number.isascii() and number.isdecimal() and len(number) <= _LONGEST_NUMBER):
        raise NotFound(f"there is no turn {number!r} in this session; turns are numbered from 1")
    return int(number)
