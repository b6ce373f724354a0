"""Where data about a person lies: every place says how it is counted, and how it is made to go.

A place may account for several stores: a table holds facts, sessions and graphs, and a receipt counts each by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

StoreCounts = Mapping[str, int]
"""How many there are, or went, by the name of the store."""


class Erased(NamedTuple):
    """What one call of ``erase`` did."""

    counts: StoreCounts
    """What went in this call, each thing once."""
    position: str | None
    """Where the same call goes on, since the deadline came first; None: it is done."""


class SubjectStore(Protocol):
    """A place where data about a person may lie."""

    stores: tuple[str, ...]
    """The names of the stores that it accounts for, each declared in one place alone."""

    def count(self, tenant: str, ref: str) -> StoreCounts:
        """How much of a person is there now, of every store that it accounts for; strongly consistent.

        Raises:
            Unavailable: it cannot be told now.
        """
        ...

    def erase(self, tenant: str, ref: str, deadline: int, position: str = "") -> Erased:
        """Make everything of a person go, until an instant at the latest; nothing of anybody else.

        It may be repeated, from any ``position`` that it answered. The heads of sessions and graphs may stand a while,
        to refuse what is still under way; a call after that takes them too.

        Raises:
            Unavailable: it cannot be done now; what went stays gone.
        """
        ...
