"""How sessions end: closed by a caller or by silence, removed when their time is over. Every step may be repeated.

What follows a close (its work is queued, its values go) is owed until it is done: the head stays due.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from slate.domain.errors import SubjectErased, Unavailable, VersionMismatch
from slate.domain.sessions import Session, SessionState
from slate.ports.clock import Clock
from slate.ports.holds import HELD_MS
from slate.ports.ids import Ids
from slate.ports.queue import Queue
from slate.ports.segment_watch import SegmentWatch
from slate.ports.session_store import SessionStore, Standing

EXTRACT: Final = "extract"
"""The kind of message that asks for an extraction."""
_DAY_MS: Final = 86_400_000


class Ending:
    """Closes, lets go, and says when to look."""

    def __init__(
        self,
        store: SessionStore,
        watch: SegmentWatch,
        queue: Queue,
        ids: Ids,
        clock: Clock,
        *,
        idle_seconds: int,
        held: Callable[[str, str], bool],
    ) -> None:
        """``held`` tells of a tenant's person (by id) whether nothing of theirs may go now."""
        self._held = held
        self._store = store
        self._watch = watch
        self._queue = queue
        self._ids = ids
        self._clock = clock
        self._idle_ms = idle_seconds * 1000

    def due(self, session: Session) -> int:
        """When it is to be looked at: an open one when it may be idle, each when its time may be over."""
        ends_at = _ends_at(session)
        if session.state is SessionState.CLOSED:
            return ends_at
        return min(ends_at, session.active_at + self._idle_ms)

    def close(self, tenant: str, session_id: str, deadline: int) -> Session:
        """Close it, and do what follows as far as it can be done now.

        Raises:
            NotFound: there is none, or it is being deleted.
        """
        session = self._store.close(tenant, session_id, f"x-{self._ids.new()}")
        with suppress(Unavailable):  # it is closed; the timer does what is left
            self._follow(tenant, session, deadline)
        return session

    def _follow(self, tenant: str, session: Session, deadline: int) -> None:
        self._watch.closed(tenant, session)
        message = {
            "kind": EXTRACT,
            "tenant": tenant,
            "session_id": session.session_id,
            "extraction_id": session.extraction_id,
        }
        self._queue.send(message)
        if self._store.clear_values(tenant, session.session_id, deadline):
            self._store.closed(tenant, session, self.due(session))

    def tick(self, tenant: str, session_id: str, deadline: int) -> None:
        """Do what is due on a session, or say when to look again."""
        seen = self._store.standing(tenant, session_id)
        if seen is None or seen.due > self._clock.now():
            return
        session = seen.session
        if session is not None and session.subject is not None and self._held(tenant, session.subject):
            self._store.look_again(tenant, session_id, seen, self._clock.now() + HELD_MS)
        elif session is None:
            self._remove(tenant, session_id, seen, deadline)
        elif seen.pending:
            self._follow(tenant, session, deadline)
        elif _ends_at(session) <= self._clock.now():
            # Pinned to what was seen: a turn that comes meanwhile keeps it.
            with suppress(VersionMismatch):
                self._store.begin_delete(tenant, session_id, session.version)
        elif self.due(session) <= self._clock.now():
            self._silent(tenant, session, deadline)
        else:
            self._store.look_again(tenant, session_id, seen, self.due(session))

    def _silent(self, tenant: str, session: Session, deadline: int) -> None:
        """Nothing was said for long; a turn that comes at this very moment opens it again, as any turn would."""
        with suppress(SubjectErased):
            self._follow(tenant, self._store.close(tenant, session.session_id, f"x-{self._ids.new()}"), deadline)

    def _remove(self, tenant: str, session_id: str, seen: Standing, deadline: int) -> None:
        """The pass that begins after the last write can have arrived is the last."""
        last = self._clock.now() >= seen.ends_at
        if not self._store.remove(tenant, session_id, deadline):
            return
        if last:
            self._store.end_delete(tenant, session_id)
        else:
            self._store.look_again(tenant, session_id, seen, seen.ends_at)


def _ends_at(session: Session) -> int:
    """When its time is over: so many days after the last turn, or after it was made where nothing was said."""
    return session.active_at + session.retention_days * _DAY_MS
