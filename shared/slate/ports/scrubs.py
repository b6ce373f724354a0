"""What is gone for good and may still be shown by what was made of it: noted with the deletion, then scrubbed.

A note is made in the very step that deletes, or before it, so that no crash leaves a deletion of which nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

from slate.domain.context import Context


class Scrub(NamedTuple):
    """What of a person is to be scrubbed."""

    turns: frozenset[tuple[str, int]]
    """Deleted turns: session and number."""
    facts: frozenset[str]
    """Facts whose undo window is over."""
    position: str
    """The receipt from which on there is work left."""


class Scrubs(Protocol):
    """Keeps notes, and the receipts that they are about."""

    def facts_gone(self, tenant: str, ref: str, fact_ids: Collection[str]) -> None:
        """These facts go for good, right after this."""
        ...

    def read(self, tenant: str, ref: str) -> Scrub | None:
        """What is to be scrubbed now, if anything is."""
        ...

    def receipts(self, tenant: str, ref: str, after: str) -> Iterator[Context]:
        """The receipts of contexts about a person, after one; those whose time is over are removed on the way."""
        ...

    def redact(self, tenant: str, context: Context) -> None:
        """Put a receipt in the place of the one that was kept; what it showed beyond goes."""
        ...

    def go_on(self, tenant: str, ref: str, seen: Scrub, position: str) -> None:
        """There was not time for all of it: the rest begins after this receipt, at once."""
        ...

    def done(self, tenant: str, ref: str, seen: Scrub) -> None:
        """All of that is scrubbed; what came meanwhile is begun with anew."""
        ...
