"""Which slots a query names: it is answered from these before any likeness is looked at.

A query names a slot by its words ("last order number" names ``last_order_number``), by another of its names, or by the
usual question for it ("where do I live" asks for the city).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from slate.domain.facts.slots import aliases_of, canonical
from slate.domain.ranking.stems import stemmed
from slate.domain.words import tokens

_QUESTIONS: Final = {
    "city": r"where (?:do|does|did|am|is|are) .{1,40}\b(?:live|based|located|reside)",
    "address": r"where (?:should|shall|do|can|must) .{1,40}\b(?:ship|send|deliver|post)|(?:shipped|delivered) to",
    "employer": r"(?:where|who|whom|which company) (?:do|does|did) .{1,40}\bwork",
    "role": r"what (?:do|does) .{1,40}\b(?:for a living|for work)",
    "name": r"(?:what(?:'s| is) (?:my|their|his|her) name|who am i\b)",
    "nickname": r"(?:what|how) should i (?:call|address)",
    "birthday": r"(?:when (?:was|were) .{1,40}\bborn|how old)",
    "diet": r"\b(?:cook|eat|dinner|lunch|breakfast|meals?|recipes?|restaurants?|menu)\b",
    "allergy": r"\b(?:cook|eat|dinner|lunch|breakfast|meals?|recipes?|restaurants?|menu)\b",
    "avoids": r"\b(?:cook|eat|dinner|lunch|breakfast|meals?|recipes?|restaurants?|menu)\b",
    "timezone": r"what time (?:is it|zone)|schedule (?:a|the) (?:call|meeting)",
    "units": r"\b(?:celsius|fahrenheit|kilometers|kilometres|miles)\b",
}
_AMBIGUOUS: Final = frozenset({"called", "home", "place", "position", "software", "title", "uses", "company", "unit"})
"""Other names of slots that stand in many a query for something else."""
_PATTERNS: Final = {slot: re.compile(rf"(?:{words})", re.IGNORECASE) for slot, words in _QUESTIONS.items()}


def slots_named(query: str, attributes: Iterable[str]) -> dict[str, float]:
    """How surely each of these attributes is what the query asks for: 1 by its whole name, less by its question."""
    words = frozenset(stemmed(token) for token in tokens(query))
    named: dict[str, float] = {}
    for attribute in set(attributes):
        slot = canonical(attribute).partition(":")[0]
        if any(name and name <= words for name in _names(slot)):
            named[attribute] = 1.0
        elif (question := _PATTERNS.get(slot)) is not None and question.search(query):
            named[attribute] = 0.8
    return named


@lru_cache(maxsize=4_096)
def _names(slot: str) -> tuple[frozenset[str], ...]:
    """The names of a slot, each as the stems that must all stand in a query."""
    every = dict.fromkeys([slot, *(name for name in aliases_of(slot) if name not in _AMBIGUOUS)])
    return tuple(frozenset(stemmed(token) for token in tokens(name.replace("_", " "))) for name in every)
