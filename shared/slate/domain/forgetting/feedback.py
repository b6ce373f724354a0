"""What use says about importance: a step up or down at a time, three at most in all; never across 7, nor below 4."""

from __future__ import annotations

from typing import Final

from slate.domain.facts.model import KEPT_FROM, Fact
from slate.domain.forgetting.strength import MOST_IMPORTANT, NEVER_ABOVE

MOST_STEPS: Final = 3
"""So far from what was given may feedback move an importance."""


def stepped(fact: Fact, step: int) -> Fact:
    """The fact a step more, or less, important; itself where it may not move."""
    moved = fact.adjusted + step
    importance = fact.importance + step
    crosses = (fact.importance > NEVER_ABOVE) != (importance > NEVER_ABOVE)
    trivial = step < 0 and importance < KEPT_FROM
    if crosses or trivial or abs(moved) > MOST_STEPS or importance > MOST_IMPORTANT:
        return fact
    return fact.model_copy(update={"importance": importance, "adjusted": moved})
