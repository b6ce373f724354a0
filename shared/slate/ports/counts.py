"""What is counted while Slate works: how much was forgotten, woken, asked twice. Names and labels hold no content."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Count(StrEnum):
    """What is counted."""

    FORGOTTEN = "facts_forgotten"
    """By rule."""
    LIMBO = "facts_in_limbo"
    PURGED = "facts_purged"
    WOKEN = "facts_woken"
    """By what woke them."""
    RESTORED = "facts_restored"
    REGRETTED = "facts_regretted"
    """Said again after they had gone by themselves."""
    DECIDED = "facts_decided"
    """What became of a statement, by its operation."""
    CONFLICTS = "facts_in_conflict"
    """Statements that stand beside what they contradict."""
    SERVED = "facts_served"
    STALE = "facts_stale"
    """Asked about in a context, instead of being served."""
    USED = "facts_used"
    NOISE = "facts_noise"
    STEPS = "importance_steps"
    """Importances moved, up or down."""
    REPEATED_QUESTIONS = "questions_repeated"
    REPEATED_CALLS = "tool_calls_repeated"
    CAPPED = "decay_capped"
    """Entries that waited for a later run, because a tenant had had its share of this one."""
    CAP_FULL = "fact_cap_full"
    """Persons with more facts than the cap, of which too few may go."""
    LAG = "decay_lag_seconds"
    """How late what was due was done; the sum."""
    SETTINGS = "settings_changed"
    """A tenant put its settings: what a graph shows after it may come of it."""
    DUE = "decay_entries"
    """Entries that were looked at."""
    ERASURES_OPEN = "erasures_open"
    """Erasures that are not over, held ones among them; counted once an hour or so."""
    ERASURES_LATE = "erasures_late"
    """Those of them that were requested 20 days ago, and 25: a month is what the law allows."""
    ERASURE_FAILED = "erasures_failed"
    """Steps of erasures that could not be done, or that found something left."""


class Counts(Protocol):
    """Counts."""

    def add(self, count: Count, value: float = 1, *, by: str = "") -> None:
        """Add to a count; ``by`` tells its parts apart, and is one of few words."""
        ...


class NoCounts:
    """Counts nothing."""

    def add(self, count: Count, value: float = 1, *, by: str = "") -> None:
        """Let it go."""
