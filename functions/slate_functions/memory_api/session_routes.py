"""The routes of sessions: conversations that agents keep, read, pin and close."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from pydantic import Field

from slate.contract.sessions import (
    AppendTurns,
    Closed,
    CreateSession,
    PatchPinned,
    PatchTurn,
    PutPinned,
    SessionPage,
    ShownSession,
    SummaryPage,
    TurnPage,
    Turns,
)
from slate.contract.tasks import Nothing
from slate.domain.access import Principal, Scope
from slate.domain.names import Id
from slate.domain.pinned import PinnedState
from slate.domain.sessions import Extraction, Turn
from slate.service.sessions.keeping import Sessions
from slate.service.sessions.pinning import Pinning
from slate.service.sessions.talking import Talking
from slate_functions.http.answers import Answer
from slate_functions.http.dependencies import IdempotencyKey, IfMatch, NeededIfMatch, Paging, PathId
from slate_functions.http.routes import delete, get, patch, post, put
from slate_functions.memory_api import session_examples as examples

READ: Final = Scope.MEMORY_READ
WRITE: Final = Scope.MEMORY_WRITE
CONFLICT: Final = (HTTPStatus.CONFLICT,)

SESSIONS: Final = "/v1/sessions"
SESSION: Final = "/v1/sessions/{session_id}"
TURNS: Final = "/v1/sessions/{session_id}/turns"
TURN: Final = "/v1/sessions/{session_id}/turns/{seq}"
PINNED: Final = "/v1/sessions/{session_id}/pinned"


class SessionQuery(Paging):
    """Which sessions to list."""

    subject: Id | None = Field(default=None, description="only those with this person")


class SessionRoutes:
    """Sessions: conversations, with what is pinned to them and what they are digested into."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @post(
        SESSIONS,
        scope=WRITE,
        status=HTTPStatus.CREATED,
        also=(HTTPStatus.OK,),
        refusals=CONFLICT,
        sends=examples.CREATE_SESSION,
        gives=examples.SHOWN_SESSION,
    )
    def create_session(
        self, principal: Principal, body: CreateSession, idempotency_key: IdempotencyKey
    ) -> Answer[ShownSession]:
        """Create a session.

        The same session again changes nothing and is 200; under the same id with other content it is 409. It is
        closed when nothing was said for 30 minutes, and removed `retention_days` after its last turn.
        """
        session, new = self._sessions.create(principal, body, idempotency_key)
        return Answer(session, HTTPStatus.CREATED if new else HTTPStatus.OK)

    @get(SESSIONS, scope=READ, gives=examples.SESSION_PAGE)
    def list_sessions(self, principal: Principal, query: SessionQuery) -> SessionPage:
        """List sessions, the newest first, without system messages; those that you may not read are left out."""
        return self._sessions.list(principal, query.limit, query.cursor, query.subject)

    @get(SESSION, scope=READ, gives=examples.SHOWN_SESSION)
    def get_session(self, principal: Principal, session_id: PathId) -> ShownSession:
        """Look at a session, with its pinned state and its merged summary."""
        return self._sessions.get(principal, session_id)

    @delete(SESSION, scope=WRITE, status=HTTPStatus.ACCEPTED)
    def delete_session(self, principal: Principal, session_id: PathId, if_match: IfMatch) -> None:
        """Delete a session with all that was said.

        From now on every route of it is 404; its id is free once all of it is removed.
        """
        self._sessions.delete(principal, session_id, if_match)

    @get(f"{SESSION}/summaries", scope=READ, gives=examples.SUMMARY_PAGE)
    def list_summaries(self, principal: Principal, session_id: PathId, query: Paging) -> SummaryPage:
        """List the summaries of a session's closed segments, the oldest first, with the turns each was made from."""
        return self._sessions.summaries(principal, session_id, query.limit, query.cursor)

    @post(f"{SESSION}/close", scope=WRITE, status=HTTPStatus.ACCEPTED, gives=examples.CLOSED)
    def close_session(self, principal: Principal, session_id: PathId, body: Nothing) -> Closed:
        """Close a session: what is to be remembered of it is worked out, and its values go.

        A turn that is appended later opens it again.
        """
        del body  # read, so that one with content is refused
        return self._sessions.close(principal, session_id)

    @get("/v1/extractions/{extraction_id}", scope=READ, gives=examples.EXTRACTION)
    def get_extraction(self, principal: Principal, extraction_id: PathId) -> Extraction:
        """Look how far the work on a closed session is, and what was decided."""
        return self._sessions.extraction(principal, extraction_id)


class TurnRoutes:
    """Turns: what was said, numbered from 1."""

    def __init__(self, talking: Talking) -> None:
        self._talking = talking

    @post(TURNS, scope=WRITE, refusals=CONFLICT, sends=examples.APPEND, gives=examples.APPENDED)
    def append_turns(
        self, principal: Principal, session_id: PathId, body: AppendTurns, idempotency_key: IdempotencyKey
    ) -> Turns:
        """Append up to 100 turns, in their order.

        A turn whose `client_id` is there already is not appended again, and is answered as it is. What is not given is
        found by rules, which `found` names: marks, and an importance.
        """
        return self._talking.append(principal, session_id, body, idempotency_key)

    @get(TURNS, scope=READ, gives=examples.TURN_PAGE)
    def list_turns(self, principal: Principal, session_id: PathId, query: Paging) -> TurnPage:
        """List turns by number; fewer than `limit` where more would not fit an answer."""
        return self._talking.list(principal, session_id, query.limit, query.cursor)

    @get(TURN, scope=READ, gives=examples.TURN)
    def get_turn(self, principal: Principal, session_id: PathId, seq: PathId) -> Turn:
        """Read a turn, whole."""
        return self._talking.get(principal, session_id, seq)

    @patch(TURN, scope=WRITE, sends=examples.PATCH_TURN, gives=examples.PATCHED_TURN)
    def mark_turn(
        self, principal: Principal, session_id: PathId, seq: PathId, body: PatchTurn, if_match: IfMatch
    ) -> Turn:
        """Mark a turn otherwise: what is given stands, and what a rule found beside it is taken back."""
        return self._talking.patch(principal, session_id, seq, body, if_match)

    @delete(TURN, scope=WRITE, status=HTTPStatus.NO_CONTENT)
    def delete_turn(self, principal: Principal, session_id: PathId, seq: PathId, if_match: IfMatch) -> None:
        """Delete a turn; every summary that it was in is made anew, and its number is not given out again."""
        self._talking.delete(principal, session_id, seq, if_match)


class PinnedRoutes:
    """Pinned state: what never ages out, rendered whole on every call."""

    def __init__(self, pinning: Pinning) -> None:
        self._pinning = pinning

    @get(PINNED, scope=READ, gives=examples.PINNED_STATE)
    def get_pinned(self, principal: Principal, session_id: PathId) -> PinnedState:
        """Read the pinned state, what it costs on every call, and what is unwise about it."""
        return self._pinning.get(principal, session_id)

    @put(PINNED, scope=WRITE, sends=examples.PINNED, gives=examples.PINNED_STATE)
    def put_pinned(
        self, principal: Principal, session_id: PathId, body: PutPinned, if_match: NeededIfMatch
    ) -> PinnedState:
        """Replace the pinned state; a part that is left out is empty."""
        return self._pinning.put(principal, session_id, body, if_match)

    @patch(PINNED, scope=WRITE, sends=examples.PATCH_PINNED, gives=examples.PATCHED_PINNED)
    def patch_pinned(
        self, principal: Principal, session_id: PathId, body: PatchPinned, if_match: NeededIfMatch
    ) -> PinnedState:
        """Change the pinned state by a JSON merge patch: null empties a part or drops an entity."""
        return self._pinning.patch(principal, session_id, body, if_match)
