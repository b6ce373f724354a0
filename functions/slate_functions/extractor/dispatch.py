"""Gives each message to the use case that its kind names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from slate.domain.errors import SubjectErased
from slate.domain.fences import Intent
from slate.service.exporting import EXPORT
from slate.service.feed.ending import ENDED
from slate.service.forgetting.evicting import EVICT
from slate.service.forgetting.waking import WAKE
from slate.service.sessions.ending import EXTRACT
from slate.service.summaries import LOOK, SUMMARY
from slate.wiring.parts import Slate

Work = Callable[[Mapping[str, Any]], object]


class UnknownKind(Exception):
    """No use case takes a message of this kind: it becomes a dead letter, which somebody looks at."""


class Dispatch:
    """What consumes the messages of memory."""

    def __init__(self, slate: Slate) -> None:
        memory, self._jobs = slate.memory, slate.audit.writing.jobs
        summaries = memory.summaries
        self._memory = memory
        self._work: Final[Mapping[str, Work]] = {
            EXTRACT: self._ended,
            LOOK: lambda message: summaries.look(message["tenant"], message["session_id"]),
            SUMMARY: self._digest,
            ENDED: memory.finished.ended,
            EXPORT: memory.exporting.consume,
            WAKE: memory.forgetting.waking.served,
            EVICT: lambda message: memory.forgetting.evicting.check(message["tenant"], message["ref"]),
        }

    def consume(self, message: Mapping[str, Any]) -> None:
        """Do what it asks for, as one operation; raising makes it come again. What is of an erased person is let go.

        Raises:
            UnknownKind: nothing here does that.
        """
        kind = str(message.get("kind"))
        work = self._work.get(kind)
        if work is None:
            raise UnknownKind
        with suppress(SubjectErased), self._jobs(kind)(Intent.WRITE, message["tenant"]):
            work(message)

    def _ended(self, message: Mapping[str, Any]) -> None:
        """What was said is learned from; of a session that was closed, what was done is kept."""
        self._memory.extracting.consume(message)
        self._memory.retrieval.runs.closed(message)

    def _digest(self, message: Mapping[str, Any]) -> None:
        """A segment that ended is digested, and learned from."""
        tenant, session_id, last_seq = message["tenant"], message["session_id"], int(message["last_seq"])
        if self._memory.summaries.summarise(tenant, session_id, last_seq):
            self._memory.extracting.segment(tenant, session_id, last_seq)
