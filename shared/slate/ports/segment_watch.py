"""What whoever keeps a session's turns asks of whoever digests them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from slate.domain.segments import ClosedSegment, OpenSegment, Placed
from slate.domain.sessions import Turn


class SegmentWatch(Protocol):
    """Says which segment each turn belongs to, and sees to it that a segment that ended is digested."""

    def place(self, segment: OpenSegment, turns: Sequence[Turn], window: int | None) -> Placed:
        """Before turns are written: their segments. No I/O on a store; the answer is written with the turns."""
        ...

    def close(self, segment: OpenSegment) -> Placed:
        """Before a session's close is written: its last segment ends."""
        ...

    def ended(self, tenant: str, session_id: str, closed: Sequence[ClosedSegment]) -> None:
        """After the write: have these segments digested. A repeat is harmless."""
        ...

    def deleted(self, tenant: str, session_id: str, turn: Turn) -> None:
        """After a turn was deleted: its segment's digest is withdrawn at once, and made anew. A repeat is harmless."""
        ...
