"""Shared values of an owner: a graph, or a session.

Every change is one transaction, all or none, and may be repeated within the call: a repeat after a lost reply finds
its own work. ``tenant`` comes from the credential; whether the owner may be reached and written was asked before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from slate.domain.values import Author, Change, Changed, Owner, Value
from slate.ports.graph_store import Page


class ValueStore(Protocol):
    """Keeps values. All reads are strongly consistent."""

    def change(
        self, tenant: str, owner: Owner, changes: Sequence[Change], author: Author, *, remembered: bool
    ) -> list[Changed]:
        """Apply every change, or none; a change of a version that moved meanwhile is computed anew.

        ``remembered`` keeps for a day what ``author.by`` did: the same again answers it, and changes nothing.

        Raises:
            VersionMismatch: a change names another version than is there.
            Conflict: an operation does not fit what is there, or the owner takes no values any more.
            NotFound: there is nothing to delete.
            TooLarge: a value would grow over the bound.
            Unavailable: the values keep changing.
        """
        ...

    def get(self, tenant: str, owner: Owner, key: str) -> Value:
        """The value as it stands.

        Raises:
            NotFound: there is none.
        """
        ...

    def page(self, tenant: str, owner: Owner, prefix: str, position: str | None, limit: int) -> Page[Value]:
        """Values by key, of those that start so; fewer where more of them would not fit an answer."""
        ...

    def history(self, tenant: str, owner: Owner, key: str, position: int | None, limit: int) -> Page[Value]:
        """The version that stands and the last ones before it, the newest first; the position is a version.

        Raises:
            NotFound: there is no such value.
        """
        ...

    def as_of(self, tenant: str, owner: Owner, versions: Mapping[str, int]) -> list[Changed]:
        """These versions as long as they are kept; of one that is not, the number alone."""
        ...
