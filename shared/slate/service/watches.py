"""Several that watch a session's turns, told one after the other; one that is busy does not keep it from the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from slate.domain.errors import Unavailable
from slate.domain.sessions import Segment, Session, Turn
from slate.ports.segment_watch import SegmentWatch


class AppendWatch(Protocol):
    """Watches what is appended, and nothing else."""

    def appended(self, tenant: str, session: Session, turns: Sequence[Turn]) -> None:
        """Turns were appended."""
        ...


class Watches:
    """One for all of them."""

    def __init__(self, segments: SegmentWatch, *others: AppendWatch) -> None:
        self._segments = segments
        self._others = others

    def appended(self, tenant: str, session: Session, turns: Sequence[Turn]) -> None:
        """All are told.

        Raises:
            Unavailable: one could not be told now; the others were.
        """
        calls: list[Callable[[], None]] = [
            lambda watch=watch: watch.appended(tenant, session, turns)  # type: ignore[misc]  # each its own
            for watch in (*self._others, self._segments)
        ]
        failed: list[Unavailable] = []
        for call in calls:
            try:
                call()
            except Unavailable as busy:
                failed.append(busy)
        if failed:
            raise failed[0]

    def changed(self, tenant: str, session_id: str, segment: Segment | None) -> None:
        """As ``SegmentWatch``."""
        self._segments.changed(tenant, session_id, segment)

    def closed(self, tenant: str, session: Session) -> None:
        """As ``SegmentWatch``."""
        self._segments.closed(tenant, session)
