"""What each agent was given, kept so that it can be given again byte for byte."""

from __future__ import annotations

from typing import Protocol

from slate.domain.context import Context


class ContextStore(Protocol):
    """Keeps receipts of contexts until their time is over."""

    def keep(self, tenant: str, context: Context, until: int) -> None:
        """Keep a context that was just made: one write, unless it is very large."""
        ...

    def get(self, tenant: str, context_id: str) -> Context:
        """The context as it was given.

        Raises:
            NotFound: there is none (any more).
            SubjectErased: the person it was about has been erased.
        """
        ...
