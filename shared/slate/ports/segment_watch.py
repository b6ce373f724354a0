"""What whoever keeps a session's turns tells whoever digests them; each call may be repeated, and follows a write.

What a crash leaves untold is found by the next call for the same session, and by its close.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from slate.domain.sessions import Segment, Session, Turn


class SegmentWatch(Protocol):
    """Sees to it that segments end where they should, and that each that ended is digested."""

    def appended(self, tenant: str, session: Session, turns: Sequence[Turn]) -> None:
        """Turns were appended; ``session`` is the head since. At most one message is queued."""
        ...

    def changed(self, tenant: str, session_id: str, segment: Segment | None) -> None:
        """A turn was marked otherwise or deleted: the closed segment that it was in (if it was) is digested anew."""
        ...

    def closed(self, tenant: str, session: Session) -> None:
        """The session was closed, and its last segment with it: all that is not digested yet is."""
        ...
