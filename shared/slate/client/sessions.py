"""The client's methods for sessions: conversations that agents keep, pin and close."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from slate.client.answers import pages, parse, segment
from slate.client.calls import Calls
from slate.client.values import OwnedValues
from slate.contract.sessions import Closed, SessionPage, ShownSession, SummaryPage, TurnPage, Turns
from slate.domain.pinned import PinnedState
from slate.domain.sessions import Extraction, Mark, Pinned, Session, Summary, Turn

AnyTurn = Mapping[str, Any]
AnyPinned = Pinned | Mapping[str, Any]


class Sessions:
    """Conversations: ``client.sessions.say("s", ("user", "Hello."))``.

    What is appended carries an Idempotency-Key: sent again after a lost answer it is appended once.
    """

    def __init__(self, calls: Calls, new_id: Callable[[], str]) -> None:
        self._calls = calls
        self._new_id = new_id
        self.values = OwnedValues(calls, new_id, session_path)

    # --- sessions

    def create(
        self,
        session_id: str | None = None,
        *,
        subject: str | None = None,
        agent: str | None = None,
        system: str | None = None,
        pinned: AnyPinned | None = None,
        window: int | None = None,
        readers: Sequence[str] = (),
        retention_days: int | None = None,
    ) -> ShownSession:
        """Make a session; the same again under the same id changes nothing.

        Raises:
            Conflict: the id is taken by a session of other content.
        """
        given = {
            "session_id": session_id if session_id is not None else self._new_id(),
            "subject": subject,
            "agent": agent,
            "system": system,
            "pinned": None if pinned is None else _plain(pinned),
            "window": window,
            "readers": list(readers) or None,
            "retention_days": retention_days,
        }
        body = {name: value for name, value in given.items() if value is not None}
        return parse(ShownSession, self._calls.call("POST", "/v1/sessions", body=body))

    def get(self, session_id: str) -> ShownSession:
        """The session with its pinned state and its merged summary.

        Raises:
            NotFound: there is none.
        """
        return parse(ShownSession, self._calls.call("GET", session_path(session_id)))

    def list(self, *, subject: str | None = None) -> Iterator[Session]:
        """Sessions, the newest first, without system messages, page after page as they are asked for."""
        params = {} if subject is None else {"subject": subject}
        return pages(self._calls, "/v1/sessions", partial(parse, SessionPage), params)

    def delete(self, session_id: str) -> None:
        """Delete it with all that was said.

        Raises:
            NotFound: there is none.
        """
        self._calls.call("DELETE", session_path(session_id))

    def close(self, session_id: str) -> str:
        """Close it; answers the id of its extraction. A turn that is appended later opens it again."""
        return parse(Closed, self._calls.call("POST", f"{session_path(session_id)}/close", body={})).extraction_id

    def extraction(self, extraction_id: str) -> Extraction:
        """How far the work on a closed session is, and what was decided."""
        path = f"/v1/extractions/{segment('extraction_id', extraction_id)}"
        return parse(Extraction, self._calls.call("GET", path))

    def summaries(self, session_id: str) -> Iterator[Summary]:
        """The summaries of closed segments, the oldest first."""
        return pages(self._calls, f"{session_path(session_id)}/summaries", partial(parse, SummaryPage), {})

    # --- turns

    def append(
        self, session_id: str, turns: Iterable[AnyTurn], *, idempotency_key: str | None = None
    ) -> tuple[Turn, ...]:
        """Append up to 100 turns, as the API takes them; with a ``client_id`` each is known for good.

        Raises:
            NotFound: there is no such session.
            Conflict: a client_id is there with other content.
        """
        body, key = {"turns": [dict(turn) for turn in turns]}, idempotency_key or self._new_id()
        answer = self._calls.call("POST", f"{session_path(session_id)}/turns", body=body, idempotency_key=key)
        return parse(Turns, answer).turns

    def say(self, session_id: str, *turns: tuple[str, str]) -> tuple[Turn, ...]:
        """The same by role and content."""
        return self.append(session_id, [{"role": role, "content": content} for role, content in turns])

    def turns(self, session_id: str) -> Iterator[Turn]:
        """All turns by number, page after page as they are asked for."""
        return pages(self._calls, f"{session_path(session_id)}/turns", partial(parse, TurnPage), {})

    def turn(self, session_id: str, seq: int) -> Turn:
        """One turn, whole.

        Raises:
            NotFound: there is none by this number (any more).
        """
        return parse(Turn, self._calls.call("GET", _turn_path(session_id, seq)))

    def mark(
        self,
        session_id: str,
        seq: int,
        *,
        marks: Sequence[Mark | str] | None = None,
        importance: int | None = None,
    ) -> Turn:
        """Mark a turn otherwise; what a rule found beside it is taken back."""
        given = {"marks": None if marks is None else [str(mark) for mark in marks], "importance": importance}
        body = {name: value for name, value in given.items() if value is not None}
        return parse(Turn, self._calls.call("PATCH", _turn_path(session_id, seq), body=body))

    def delete_turn(self, session_id: str, seq: int) -> None:
        """Delete a turn; every summary that it was in is made anew."""
        self._calls.call("DELETE", _turn_path(session_id, seq))

    # --- pinned state

    def pinned(self, session_id: str) -> PinnedState:
        """The pinned state, what it costs on every call, and what is unwise about it."""
        return parse(PinnedState, self._calls.call("GET", _pinned_path(session_id)))

    def put_pinned(self, session_id: str, pinned: AnyPinned, *, version: int) -> PinnedState:
        """Replace it; it is sent once, since a repeat would meet its own version.

        Raises:
            VersionMismatch: it is at another version; ``data["current"]`` is the pinned state.
            Unavailable: no answer came; it may have taken effect.
        """
        return self._pin("PUT", session_id, _plain(pinned), version)

    def patch_pinned(self, session_id: str, patch: Mapping[str, Any], *, version: int) -> PinnedState:
        """Merge a patch into it (RFC 7396); as ``put_pinned``."""
        return self._pin("PATCH", session_id, dict(patch), version)

    def _pin(self, method: str, session_id: str, body: Mapping[str, Any], version: int) -> PinnedState:
        answer = self._calls.call(method, _pinned_path(session_id), body=body, if_match=version, repeatable=False)
        return parse(PinnedState, answer)


def session_path(session_id: str) -> str:
    """The path of a session."""
    return f"/v1/sessions/{segment('session_id', session_id)}"


def _turn_path(session_id: str, seq: int) -> str:
    return f"{session_path(session_id)}/turns/{seq}"


def _pinned_path(session_id: str) -> str:
    return f"{session_path(session_id)}/pinned"


def _plain(pinned: AnyPinned) -> dict[str, Any]:
    return pinned.model_dump(mode="json") if isinstance(pinned, Pinned) else dict(pinned)
