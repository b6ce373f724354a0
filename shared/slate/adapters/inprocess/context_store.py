"""Receipts of contexts in this process; they go with it."""

from __future__ import annotations

from slate.domain.context import Context
from slate.domain.errors import NotFound
from slate.ports.clock import Clock


class InProcessContextStore:
    """Keeps them until their time is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[int, Context]] = {}

    def keep(self, tenant: str, context: Context, until: int) -> None:
        """Keep a context that was just made."""
        self._kept[tenant, context.context_id] = until, context

    def get(self, tenant: str, context_id: str) -> Context:
        """The context as it was given."""
        until, context = self._kept.get((tenant, context_id), (0, None))
        if context is None or until < self._clock.now():
            raise NotFound(f"there is no context {context_id!r} (any more)")
        return context
