"""Which facts go where a person has more than the cap: the least recent, least used, furthest from what is asked.

Recency is the fact's own strength: a preference is not old after a month, a remark about a bird is. Counted in days
alike for all, what is asked for every other month would go before its turn comes. What is above importance 7, pinned,
or in a slot that hardly ever changes is never among them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import log2
from typing import Final, NamedTuple

from slate.domain.facts.model import Fact
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.forgetting.strength import fades, strength
from slate.domain.indexed import fact_text
from slate.domain.ranking.terms import terms

RECENCY: Final = 0.6
FREQUENCY: Final = 0.2
ALIGNMENT: Final = 0.2
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


def ratings(facts: Iterable[Fact], queries: Iterable[str], policy: DecayPolicy, now: int) -> list[Rated]:
    """What speaks for keeping each of these; ``queries`` are those of late."""
    interest = Interest(map(terms, queries))
    return [rated(fact, policy, now, interest.alignment(terms(fact_text(fact)))) for fact in facts]


def rated(fact: Fact, policy: DecayPolicy, now: int, alignment: float) -> Rated:
    """What speaks for keeping a fact; ``alignment`` is how much of it recent queries asked for, 0 to 1."""
    recency = strength(fact, policy, now)
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


class Interest:
    """What was asked of late; how much of a fact the query that is nearest to it asked for."""

    def __init__(self, queries: Iterable[Collection[str]]) -> None:
        """Each query by its terms."""
        every = [set(query) for query in queries]
        self._sizes = [len(query) for query in every]
        self._asking: dict[str, list[int]] = {}
        for place, query in enumerate(every):
            for term in query:
                self._asking.setdefault(term, []).append(place)

    def alignment(self, fact_terms: Collection[str]) -> float:
        """0 to 1: of the shorter of the two, how many terms the other has."""
        said = set(fact_terms)
        common: dict[int, int] = {}
        for term in said:
            for place in self._asking.get(term, ()):
                common[place] = common.get(place, 0) + 1
        shares = (count / min(len(said), self._sizes[place]) for place, count in common.items())
        return max(shares, default=0.0)


def is_checked(fact_id: str, cap: int) -> bool:
    """Whether this fact's writing is one at which the cap is looked at: all are where the cap is small."""
    every = max(cap // CHECKS, 1)
    return sum(fact_id.encode()) % every == 0
