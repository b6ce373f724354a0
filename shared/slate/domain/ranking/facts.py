"""Facts for a query: what it names first, then relevance, recency, importance and confidence, each with its part.

Relevance is words and vector, and a share for the topic that query and fact have in common, so that "what shall I
cook" finds what is known of food. The weights are ours; unlike those for turns they were not measured on a data set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest
from typing import Final

from slate.domain.facts.model import Category, Fact
from slate.domain.facts.topics import topics_of
from slate.domain.indexed import fact_text
from slate.domain.ranking.bm25 import scores_of
from slate.domain.ranking.fusion import fused
from slate.domain.ranking.slots import slots_named
from slate.domain.ranking.terms import asked, terms
from slate.domain.ranking.turns import Ranked

RELEVANCE: Final = 0.5
TOPIC: Final = 0.15
RECENCY: Final = 0.1
IMPORTANCE: Final = 0.15
CONFIDENCE: Final = 0.1
SLOT: Final = 1.0
"""What a query names goes before all that is only like it."""
HALF_LIFE_MS: Final = 90 * 86_400_000
"""Of recency."""
_MOST_IMPORTANT: Final = 10
ALWAYS_ABOVE: Final = 7
"""A constraint of greater importance is served whatever the query."""


def is_always_served(fact: Fact) -> bool:
    """Whether it goes with every answer: what must never be done to a person is not a matter of likeness."""
    return fact.category is Category.CONSTRAINT and fact.importance > ALWAYS_ABOVE


def best_facts(
    query: str | None,
    facts: Sequence[Fact],
    likeness: Mapping[str, float],
    *,
    share: float,
    now: int,
    topics: Collection[str] = (),
    count: int,
) -> list[Ranked]:
    """The best of these facts; without a query the most recent, important and certain."""
    relevance = _relevance(query or "", facts, likeness, share)
    named = slots_named(query or "", [fact.attribute for fact in facts if fact.attribute])
    about = {*topics_of(query or "", None), *(topic.casefold() for topic in topics)}
    ranked = []
    for fact in facts:
        own = {topic.casefold() for topic in fact.topics}
        why = {
            "relevance": RELEVANCE * relevance.get(fact.fact_id, 0.0) + (TOPIC if own & about else 0.0),
            "recency": RECENCY * 2 ** (-max(now - _recent(fact), 0) / HALF_LIFE_MS),
            "importance": IMPORTANCE * fact.importance / _MOST_IMPORTANT,
            "confidence": CONFIDENCE * fact.confidence,
        }
        if fact.attribute in named:
            why["slot"] = SLOT * named[fact.attribute]
        ranked.append(Ranked(fact.fact_id, sum(why.values()), why))
    newest = {fact.fact_id: fact.last_confirmed_at for fact in facts}
    return nlargest(count, ranked, key=lambda each: (each.score, newest[each.name], each.name))


def _recent(fact: Fact) -> int:
    """When it was last said, or of use: by its saying alone, what is asked for every month loses to any news."""
    return max(fact.last_confirmed_at, fact.woken_at or 0)


def _relevance(query: str, facts: Sequence[Fact], likeness: Mapping[str, float], share: float) -> dict[str, float]:
    scores = scores_of({fact.fact_id: terms(fact_text(fact)) for fact in facts}, asked(query))
    among = {fact.fact_id: scores.get(fact.fact_id, 0.0) for fact in facts}
    legs = fused(among, {name: likeness[name] for name in among if name in likeness}, share)
    return {name: words + vector for name, (words, vector) in legs.items()}
