"""What a closed session leaves in its subject's memory: taken from the queue, decided, and noted."""

from __future__ import annotations

from contextlib import suppress

from slate.domain.errors import NotFound, SubjectErased, Unavailable
from slate.domain.sessions import ExtractionState
from slate.ports.clock import Clock
from slate.ports.queue import Message
from slate.ports.session_store import SessionStore

_TRIES = 5


class Extracting:
    """Consumes the messages of closes."""

    def __init__(self, store: SessionStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def consume(self, message: Message) -> None:
        """Once for each extraction, however often its message comes; what is gone meanwhile is dropped.

        Raises:
            Unavailable: the message is to come again.
        """
        tenant, extraction_id = str(message["tenant"]), str(message["extraction_id"])
        with suppress(NotFound, SubjectErased):
            for _ in range(_TRIES):
                seen = self._store.extraction(tenant, extraction_id)
                if seen.state is ExtractionState.DONE:
                    return
                now, version = self._clock.now(), seen.version + 1
                done = {"state": ExtractionState.DONE, "updated_at": now, "version": version}
                if self._store.put_extraction(tenant, seen.model_copy(update=done)):
                    return
            raise Unavailable("an extraction keeps changing; its message comes again")
