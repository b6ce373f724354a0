"""Holds as they are kept: what says that one stands, in the ledger; whom it names and why, sealed as theirs.

A hold is three things in two tables, and no transaction spans them. So each change begins with a look that is due
later, in the timer, and ends with what makes the rest agree with the ledger: whoever is killed in between leaves the
look behind, and it does the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from slate.domain.holds import Hold
from slate.ports.graph_store import Page


class HeldPerson(NamedTuple):
    """A hold, and whose data it holds."""

    ref: str
    hold: Hold


class Kept(NamedTuple):
    """What the main table has of a hold, whether it stands or not."""

    hold_id: str
    ref: str


class HoldStore(Protocol):
    """Keeps holds. Every method may be repeated."""

    def put(self, tenant: str, ref: str, hold: Hold) -> HeldPerson:
        """Keep a hold, with a look due soon; the one that is there where this is a repeat.

        Raises:
            SubjectErased: the person is being erased.
        """
        ...

    def get(self, tenant: str, hold_id: str) -> HeldPerson | None:
        """A hold that was not lifted and did not end; without its subject and reason."""
        ...

    def page(self, tenant: str, position: str | None, limit: int) -> Page[Hold]:
        """Holds by id."""
        ...

    def lift(self, tenant: str, hold_id: str) -> None:
        """Note that it stands no more, with a look due soon."""
        ...

    def kept(self, tenant: str, hold_id: str) -> Kept | None:
        """What the main table has of a hold."""
        ...

    def drop(self, tenant: str, hold_id: str) -> None:
        """Remove what the main table has of one that stands no more."""
        ...

    def look_at(self, tenant: str, hold: Hold) -> None:
        """Have it looked at when it ends; not at all where it ends by itself never."""
        ...

    # ---- for a main table that comes from a backup

    def all_noted(self, tenant: str) -> list[HeldPerson]:
        """All that stand, by the ledger; without subjects and reasons."""
        ...

    def all_kept(self, tenant: str) -> list[Kept]:
        """All that the main table has."""
        ...

    def restore(self, tenant: str, held: HeldPerson) -> None:
        """Have the main table know of one that stands, with a look due soon; whom it names, and why, is lost."""
        ...


class DueHold(NamedTuple):
    """A hold to look at: it ends now, or a change of it was begun and may not be over."""

    tenant: str
    hold_id: str


class HoldTimer(Protocol):
    """Works off the timer's kind ``hold``."""

    def due(self, shard: int, at_once: int) -> Iterable[DueHold]:
        """Holds of one of the shards whose moment has come, the oldest first: hints."""
        ...

    def postpone(self, due: DueHold, ms: int) -> None:
        """Move one that could not be looked at now."""
        ...
