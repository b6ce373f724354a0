"""Sessions: their heads, turns, pinned state, segments, and the one read that a context needs of them.

Every method is one or a few conditional writes and may be repeated: a repeat after a lost reply finds its own work
and answers as the first call would have. ``tenant`` comes from the credential; whether the caller reaches the session
was asked before, by its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from slate.domain.marking import Marked
from slate.domain.sessions import (
    Extraction,
    Found,
    Mark,
    Merged,
    Pinned,
    Segment,
    Session,
    Snapshot,
    Speaker,
    Summary,
    ToolCall,
    Turn,
)
from slate.domain.usage import ModelUsage
from slate.ports.graph_store import Page

RECENT_TURNS = 64
"""A snapshot reads so many turns back at most: 7 exchanges of 9 turns."""
MARKED_TURNS = 100
"""A snapshot reads so many marked turns at most."""


class NewTurn(NamedTuple):
    """A turn to append: all of it but what its place in the session decides."""

    role: Speaker
    content: str
    name: str | None
    tool_calls: tuple[ToolCall, ...]
    tool_call_id: str | None
    client_id: str | None
    tokens: int
    importance: int
    marks: tuple[Mark, ...]
    found: tuple[Found, ...]
    at: int
    given: JsonValue
    """What the caller gave: the same client_id again must come with the same."""


class Appending(NamedTuple):
    """Who appends, and what tells this very call from every other one."""

    agent: str
    by: str
    remembered: bool = False
    """A turn without a client_id is known by this call, for good: the same call again appends it once."""


class Appended(NamedTuple):
    """The turns in the order they were given, those that were there already among them, and the head since."""

    turns: list[Turn]
    session: Session


class PinnedState(NamedTuple):
    """The pinned state and its version."""

    pinned: Pinned
    version: int


class Shown(NamedTuple):
    """A head with what stands beside it."""

    session: Session
    pinned: PinnedState
    merged: Merged | None
    usage: ModelUsage = ModelUsage()


class Standing(NamedTuple):
    """What the clock looks at."""

    session: Session | None
    """None while it is being deleted."""
    due: int
    """The moment that it stands in the timer for."""
    pending: bool = False
    """Not all that follows its last close is done."""
    ends_at: int = 0
    """Of one that is being deleted: when the last write to it can have arrived."""


class SessionStore(Protocol):
    """Keeps sessions. All reads are strongly consistent."""

    # ---- sessions

    def create(self, tenant: str, session: Session, pinned: Pinned, content: JsonValue, due: int) -> bool:
        """Make a session, in one transaction. ``content`` is all that was asked for: the same again answers False.

        ``due`` is when it is to be looked at.

        Raises:
            Conflict: the id is taken by other content, or by a session that is still being deleted.
        """
        ...

    def head(self, tenant: str, session_id: str) -> Session:
        """The head without ``system``: one read.

        Raises:
            NotFound: there is none, or it is being deleted.
        """
        ...

    def shown(self, tenant: str, session_id: str) -> Shown:
        """The whole head, the pinned state and the merged digest: one read.

        Raises:
            NotFound: as in ``head``.
        """
        ...

    def snapshot(
        self, tenant: str, session_id: str, *, recent: int = RECENT_TURNS, marked: int = MARKED_TURNS
    ) -> Snapshot:
        """All that a context needs: two reads, whatever the session's length.

        Raises:
            NotFound: as in ``head``.
        """
        ...

    def page(self, tenant: str, subject: str | None, position: str | None, limit: int) -> Page[Session]:
        """Heads without ``system``, the newest first; of one subject where one is given."""
        ...

    def begin_delete(self, tenant: str, session_id: str, version: int | None) -> None:
        """From now on every read of it is not found.

        Raises:
            NotFound: as in ``head``.
            VersionMismatch: it is not at ``version``.
        """
        ...

    def remove(self, tenant: str, session_id: str, deadline: int) -> bool:
        """Remove all of a session that is being deleted but its head; False where time ran out."""
        ...

    # ---- turns

    def append(self, tenant: str, session: Session, turns: Sequence[NewTurn], author: Appending) -> Appended:
        """Number the turns after those that are there, and keep them; a closed session is open again.

        A turn whose client_id is there is not appended again. Each transaction's turns are adjacent.

        Raises:
            NotFound: as in ``head``.
            Conflict: a client_id is there with other content, or its turn was deleted.
        """
        ...

    def turn(self, tenant: str, session_id: str, seq: int) -> Turn:
        """One turn, whole.

        Raises:
            NotFound: there is none by this number (any more).
        """
        ...

    def turns(self, tenant: str, session_id: str, after: int, limit: int, *, last: int | None = None) -> Page[Turn]:
        """Turns by number, whole, after this one and up to ``last``; the position is a number.

        Fewer where more would not fit an answer.
        """
        ...

    def turns_back(self, tenant: str, session_id: str, before: int | None, limit: int) -> Page[Turn]:
        """The same backward: the newest first."""
        ...

    def many(self, tenant: str, session_id: str, seqs: Sequence[int]) -> list[Turn]:
        """Those of these turns that are there, whole, in this order."""
        ...

    def change_turn(self, tenant: str, session_id: str, turn: Turn, marked: Marked) -> tuple[Turn, Segment | None]:
        """Replace what is marked on a turn at the version given; the closed segment that it is in gets a new edition.

        Raises:
            NotFound: there is none (any more).
            VersionMismatch: it was changed meanwhile.
        """
        ...

    def delete_turn(self, tenant: str, session_id: str, seq: int, version: int | None) -> Segment | None:
        """Remove a turn and every copy of it; what was digested from it is withdrawn, and is to be made anew.

        Answers the closed segment that it was in.

        Raises:
            NotFound: there is none (any more).
            VersionMismatch: it is not at ``version``.
        """
        ...

    def drop_content(self, tenant: str, session_id: str, name: str) -> None:
        """Remove what is left of a large content whose turn was deleted."""
        ...

    # ---- pinned state

    def pinned(self, tenant: str, session_id: str) -> PinnedState:
        """The pinned state: one read.

        Raises:
            NotFound: as in ``head``.
        """
        ...

    def put_pinned(self, tenant: str, session_id: str, pinned: Pinned, version: int | None) -> PinnedState:
        """Replace it, if it is at this version.

        Raises:
            NotFound: as in ``head``.
            VersionMismatch: it is at another version.
        """
        ...

    # ---- segments and digests

    def cut(self, tenant: str, session: Session, last_seq: int, *, exchanges: int, tokens: int) -> Segment | None:
        """End the open segment with this turn, and open the next; ``exchanges`` and ``tokens`` are those cut off.

        Nothing where the open segment is not the one of ``session`` any more, or has nothing up to there, or a turn was
        deleted since ``session`` was read: then what is cut off was counted with it. A digest is
        made from turns that are read after the cut: what was deleted before it is not among them.
        """
        ...

    def segments(self, tenant: str, session_id: str, position: str | None, limit: int) -> Page[Segment]:
        """The closed segments with their digests, the oldest first."""
        ...

    def newest_segments(self, tenant: str, session_id: str, limit: int) -> list[Segment]:
        """The last so many closed segments with their digests, the oldest first."""
        ...

    def segment(self, tenant: str, session_id: str, last_seq: int) -> Segment | None:
        """The closed segment that ends with this turn."""
        ...

    def keep_summary(self, tenant: str, session_id: str, segment: Segment, summary: Summary) -> bool:
        """Keep the digest of a segment at its edition; False where it is late: the edition moved on, or is digested."""
        ...

    def merged(self, tenant: str, session_id: str) -> Merged:
        """The merged digest; one without segments where there is none."""
        ...

    def withdrawn(self, tenant: str, session_id: str) -> int:
        """The version of the merged digest before which it may hold what was deleted since; 0 where nothing was."""
        ...

    def keep_merged(self, tenant: str, session_id: str, merged: Merged) -> bool:
        """Replace the merged digest; ``merged.version`` is the one read before the digests that it was made from.

        False where that moved on: another merge was kept, or a digest was withdrawn.
        """
        ...

    # ---- close

    def close(self, tenant: str, session_id: str, extraction_id: str) -> Session:
        """Close an open session: its open segment ends, its extraction is queued. One that is closed stays as it is.

        The head stays due at once, until ``closed``: what follows a close is never forgotten.

        Raises:
            NotFound: as in ``head``.
        """
        ...

    def clear_values(self, tenant: str, session_id: str, deadline: int) -> bool:
        """Remove the values of a session that was closed; False where time ran out before all were gone."""
        ...

    def closed(self, tenant: str, session: Session, due: int) -> None:
        """All that follows this close is done; ``due`` is when the session is to be looked at."""
        ...

    # ---- what is due

    def standing(self, tenant: str, session_id: str) -> Standing | None:
        """What is due on a session, or on what is left of it; nothing where it is gone."""
        ...

    def look_again(self, tenant: str, session_id: str, seen: Standing, due: int) -> None:
        """Move the moment when it is to be looked at, if it still stands as it was seen."""
        ...

    def end_delete(self, tenant: str, session_id: str) -> None:
        """The head goes last, if it is still being deleted: the id is free."""
        ...

    # ---- extractions

    def extraction(self, tenant: str, extraction_id: str) -> Extraction:
        """How far it is.

        Raises:
            NotFound: there is none.
        """
        ...

    def put_extraction(self, tenant: str, extraction: Extraction) -> bool:
        """Replace it, if it is at the version before; False where it is not."""
        ...
