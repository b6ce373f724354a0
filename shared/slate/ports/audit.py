"""Where entries of the audit are kept: appended, read, bound by a root a day; never changed, never removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from slate.domain.audit.chain import Link, Root
from slate.domain.audit.entries import Entry, Touched


class About(NamedTuple):
    """What changed or was read of one person, or of nobody."""

    ref: str | None
    items: list[Touched]


class Period(NamedTuple):
    """From an instant, to another; both included."""

    start: int
    end: int


class AuditStore(Protocol):
    """Keeps entries."""

    def append(self, tenant: str, entries: Sequence[Entry]) -> None:
        """Append entries to one chain of their day, together: all of them are there once it returns.

        Raises:
            Unavailable: they are perhaps not there.
        """
        ...

    def told(self, tenant: str, changes: Sequence[Any]) -> list[About]:
        """What a deed was told of by the storage, by whom it is about: each item once, as it is now."""
        ...

    def digest(self, tenant: str, ref: str | None, said: Any) -> str | None:
        """Tells content from other content, to who has the person's key; none where it is not to be used now."""
        ...

    def about(self, tenant: str, ref: str, period: Period, after: str | None) -> Iterator[tuple[str, Link]]:
        """Entries about a person by day, chain and number, each with the position after it; read as they are taken."""
        ...

    def within(self, tenant: str, period: Period, after: str | None) -> Iterator[tuple[str, Link]]:
        """All entries of the days of a period, likewise; strongly consistent."""
        ...

    def close(self, tenant: str, day: str) -> Root | None:
        """Make the root of a day that is over, once; none where it had no entry. It is told of no more."""
        ...

    def root(self, tenant: str, day: str) -> Root | None:
        """The root of a day, if it has been made."""
        ...
