"""What falls due of memory by the clock alone: idle sessions, retention, what a crash left."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol


class MemoryKind(StrEnum):
    """What an entry of the timer is about."""

    SESSION = "session"
    CONTENT = "content"
    """A large content whose turn was deleted."""
    FACT = "fact"
    """A fact that is past: forgotten and restorable no more, or history. Its owner is the ref of its subject."""
    LIVING = "living"
    """A fact that fades; its owner likewise."""


class DueMemory(NamedTuple):
    """An entry that is due: hints, never the decision."""

    tenant: str
    kind: MemoryKind
    owner: str
    """The session, or the ref of the subject."""
    name: str = ""
    """What of it, where that is not all."""


class MemoryTimer(Protocol):
    """Works off the timer's kind ``memory``."""

    def due(self, shard: int, limit: int, *, by: int | None = None) -> list[DueMemory]:
        """The first entries of a shard that are due by now, or by a later instant."""
        ...

    def postpone(self, due: DueMemory, ms: int) -> None:
        """Look at an entry again later, if it is still there."""
        ...
