"""Which facts go where a person has more than the cap: the least recent, least used, furthest from what is asked.

What is above importance 7, pinned, or in a slot that hardly ever changes is never among them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2
from typing import Final, NamedTuple

from slate.domain.facts.model import Fact
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.forgetting.strength import DAY_MS, fades, since

RECENCY: Final = 0.4
FREQUENCY: Final = 0.3
ALIGNMENT: Final = 0.3
RECENT_DAYS: Final = 30
"""In so many days recency falls to one half."""
FREQUENT: Final = 32
"""So many wakings count fully."""
CHECKS: Final = 64
"""A cap is looked at so often, at least, while it fills once."""


class Rated(NamedTuple):
    """A fact, and what speaks for keeping it."""

    fact: Fact
    score: float
    recency: float
    frequency: float
    alignment: float

    @property
    def numbers(self) -> dict[str, float]:
        """For the log."""
        parts = {"recency": self.recency, "frequency": self.frequency, "alignment": self.alignment}
        return {name: round(part, 6) for name, part in {"score": self.score, **parts}.items()}


def rated(fact: Fact, now: int, alignment: float) -> Rated:
    """What speaks for keeping a fact; ``alignment`` is how much of it recent queries asked for, 0 to 1."""
    recency = 2 ** (-max(now - since(fact), 0) / (RECENT_DAYS * DAY_MS))
    frequency = min(log2(1 + fact.wakes) / log2(1 + FREQUENT), 1.0)
    score = RECENCY * recency + FREQUENCY * frequency + ALIGNMENT * alignment
    return Rated(fact, score, recency, frequency, alignment)


def evicted(ratings: Sequence[Rated], policy: DecayPolicy) -> list[Rated]:
    """Those that go so that the rest is within the cap, the least worth keeping first; fewer where few may go."""
    over = len(ratings) - policy.fact_cap
    if over <= 0:
        return []
    may_go = [each for each in ratings if fades(each.fact, policy)]
    may_go.sort(key=lambda each: (each.score, each.fact.importance, each.fact.created_at, each.fact.fact_id))
    return may_go[:over]


def alignment(fact_terms: Collection[str], queries: Sequence[Collection[str]]) -> float:
    """How much of a fact the query that is nearest to it asked for, 0 to 1."""
    said = set(fact_terms)
    if not said:
        return 0.0
    return max((len(said.intersection(query)) / min(len(said), len(query)) for query in queries if query), default=0.0)


def is_checked(fact_id: str, cap: int) -> bool:
    """Whether this fact's writing is one at which the cap is looked at: all are where the cap is small."""
    every = max(cap // CHECKS, 1)
    return sum(fact_id.encode()) % every == 0
