"""What is unwell about a memory: it grows without bound, repeats itself, is served for nothing, contradicts itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from slate.domain.facts.model import Fact, FactState, Forgetting
from slate.domain.forgetting.fading import BY_ITSELF, IMPORTANCE
from slate.domain.forgetting.strength import DAY_MS
from slate.domain.ranking.terms import terms

LOOKED_BACK_DAYS: Final = 30
NEAR_CAP: Final = 0.8
FAST: Final = 200
"""Facts learned in that time, where next to none went, are growth without bound."""
FEW_WENT: Final = 4
ALIKE: Final = 0.8
"""Two facts that share so many of their words say the same."""
COMMON: Final = 50
"""A word in more facts than that tells no two apart."""


class Growth(NamedTuple):
    """How fast a memory grows."""

    flagged: bool
    learned: int
    gone: int


def growth(facts: Sequence[Fact], log: Iterable[Forgetting], cap: int, now: int) -> Growth:
    """Near the cap, or many learned and few gone."""
    since = now - LOOKED_BACK_DAYS * DAY_MS
    learned = sum(fact.created_at > since for fact in facts)
    gone = sum(entry.at > since and entry.rule != IMPORTANCE for entry in log)
    fast = learned >= FAST and learned > FEW_WENT * gone
    return Growth(fast or len(facts) > NEAR_CAP * cap, learned, gone)


def duplicates(facts: Sequence[Fact]) -> list[tuple[str, ...]]:
    """Pairs of active facts for the same readers that say the same in other words."""
    words = {f.fact_id: frozenset(terms(f.statement)) for f in facts if f.state is FactState.ACTIVE}
    readers = {fact.fact_id: fact.readers for fact in facts}
    holding: defaultdict[str, list[str]] = defaultdict(list)
    for fact_id, said in words.items():
        for word in said:
            holding[word].append(fact_id)
    pairs = {pair for ids in holding.values() if len(ids) <= COMMON for pair in combinations(sorted(ids), 2)}
    return sorted(
        pair
        for pair in pairs
        if readers[pair[0]] == readers[pair[1]] and _alike(words[pair[0]], words[pair[1]]) >= ALIKE
    )


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def irrelevant(facts: Iterable[Fact]) -> list[str]:
    """Facts that were served and, by what was said of it, for nothing."""
    return [fact.fact_id for fact in facts if fact.state is FactState.ACTIVE and fact.adjusted < 0]


def conflicts(facts: Sequence[Fact]) -> list[tuple[str, ...]]:
    """Active facts that contradict each other, each group once."""
    active = {fact.fact_id for fact in facts if fact.state is FactState.ACTIVE}
    groups = {
        tuple(sorted({fact.fact_id, *fact.contradicts} & active))
        for fact in facts
        if fact.fact_id in active and active.intersection(fact.contradicts)
    }
    return sorted(groups)


def regret(log: Iterable[Forgetting]) -> float:
    """Of what went by itself, how much was wanted back."""
    went = [entry for entry in log if entry.rule in BY_ITSELF]
    return sum(entry.restored_at is not None for entry in went) / len(went) if went else 0.0
