"""What falls due of memory by the clock alone: idle sessions, retention, what a crash left."""

from __future__ import annotations

from collections.abc import Iterator
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
    EXPORT = "export"
    """An export that is not done yet, or whose time is over; its owner is its id."""

    SCRUB = "scrub"
    """What is gone for good is to leave what was made of it; its owner is the ref of its subject."""
    AUDIT = "audit"
    """A day that is over: its owner is the day, as 2026-11-30."""


class DueMemory(NamedTuple):
    """An entry that is due: hints, never the decision."""

    tenant: str
    kind: MemoryKind
    owner: str
    """The session, the export, or the ref of the subject."""
    name: str = ""
    """What of it, where that is not all."""


class MemoryTimer(Protocol):
    """Works off the timer's kind ``memory``."""

    def due(self, shard: int, at_once: int, *, by: int | None = None) -> Iterator[DueMemory]:
        """Entries of a shard that are due by now, or by a later instant, the oldest first, read as they are taken."""
        ...

    def postpone(self, due: DueMemory, ms: int) -> None:
        """Look at an entry again later, if it is still there."""
        ...
