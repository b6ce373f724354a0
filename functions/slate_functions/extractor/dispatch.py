"""Gives each message to the use case that its kind names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from slate.service.sessions.ending import EXTRACT
from slate.service.summaries import LOOK, SUMMARY
from slate.wiring import Memory

Work = Callable[[Mapping[str, Any]], object]


class UnknownKind(Exception):
    """No use case takes a message of this kind: it becomes a dead letter, which somebody looks at."""


class Dispatch:
    """What consumes the messages of memory."""

    def __init__(self, memory: Memory) -> None:
        summaries = memory.summaries
        self._work: Final[Mapping[str, Work]] = {
            EXTRACT: memory.extracting.consume,
            LOOK: lambda message: summaries.look(message["tenant"], message["session_id"]),
            SUMMARY: lambda message: summaries.summarise(
                message["tenant"], message["session_id"], int(message["last_seq"])
            ),
        }

    def consume(self, message: Mapping[str, Any]) -> None:
        """Do what it asks for; raising makes it come again.

        Raises:
            UnknownKind: nothing here does that.
        """
        work = self._work.get(str(message.get("kind")))
        if work is None:
            raise UnknownKind
        work(message)
