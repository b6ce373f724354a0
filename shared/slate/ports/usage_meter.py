"""Counts what models are asked for a session's sake."""

from __future__ import annotations

from typing import Protocol

from slate.domain.usage import ModelUsage


class UsageMeter(Protocol):
    """A counter for each session, which goes with it."""

    def add(self, tenant: str, session_id: str, usage: ModelUsage) -> None:
        """Count this as well; a session that is gone counts nothing. After a lost reply it may count twice."""
        ...

    def of(self, tenant: str, session_id: str) -> ModelUsage:
        """The count so far."""
        ...
