"""What a tenant sets for forgetting: how fast each category fades, what never does, how many facts one person has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from slate.domain.facts.model import Category

HALF_LIVES: Final[Mapping[Category, int]] = MappingProxyType(
    {
        Category.IDENTITY: 365,
        Category.PREFERENCE: 180,
        Category.CONSTRAINT: 365,
        Category.VOLATILE: 180,
        Category.DECISION: 120,
        Category.TASK: 30,
        Category.OTHER: 60,
    }
)
"""In days."""
LIMBO_BELOW: Final = 0.25
FORGET_BELOW: Final = 0.05
FACT_CAP: Final = 2_000
"""Facts that one person has, those in limbo among them."""
LOW_CHURN: Final = ("timezone", "language", "response_language", "diet", "accessibility")
"""Slots that hardly ever change: they do not fade."""
RESTORE_DAYS: Final = 30
WAKE_SIMILARITY: Final = 0.6
"""So much of what a fact says stands in a turn that is about it."""


class DecayPolicy(NamedTuple):
    """The settings of one tenant, as the rules take them."""

    half_lives: Mapping[Category, int] = HALF_LIVES
    limbo_below: float = LIMBO_BELOW
    forget_below: float = FORGET_BELOW
    low_churn: Collection[str] = LOW_CHURN
    retention_days: Mapping[Category, int] = MappingProxyType({})
    """A fact of such a category goes after so many days without being said again, whatever its importance."""
    restore_days: int = RESTORE_DAYS
    fact_cap: int = FACT_CAP


DEFAULT_POLICY: Final = DecayPolicy()
