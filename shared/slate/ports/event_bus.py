"""Where changes go besides the feed: whoever wants to be woken instead of asking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from slate.domain.events import FeedEntry


class EventBus(Protocol):
    """Takes what was numbered."""

    def publish(self, tenant: str, events: Sequence[FeedEntry]) -> None:
        """Hand on these entries, all of one graph and in order; it picks the types it carries.

        Called once their numbers are committed, and again where nobody can tell whether it had been: at least once,
        and an entry is the same each time. What it raises makes the caller come back with the same entries.
        """
        ...
