"""What may be served as true now, what is to be asked instead, and what is over.

A volatile fact that nobody has confirmed for 90 days is a question. So are two facts that say different things of one
slot, neither sure enough to replace the other. What has an end is over after it, whatever its state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from slate.domain.facts.model import Category, Fact, FactState, Sensitive
from slate.domain.facts.slots import canonical

DAY_MS: Final = 86_400_000
STALE_MS: Final = 90 * DAY_MS
VOLATILE: Final = frozenset({"employer", "address", "city", "project", "team", "health"})
"""Slots whose truth wears out, under whatever category they were given."""


class Question(NamedTuple):
    """What to ask instead of serving facts."""

    facts: tuple[Fact, ...]
    text: str


def may_read(readers: Collection[str], agent: str, roles: Collection[str]) -> bool:
    """Whether an agent in these roles may read what has these readers; without readers, everybody may."""
    return not readers or agent in readers or not set(roles).isdisjoint(readers)


def expired(fact: Fact, now: int) -> bool:
    """Whether it said itself that it would be over by now."""
    return fact.expires_at is not None and fact.expires_at <= now


def serves(fact: Fact, now: int) -> bool:
    """Whether it is active and not over."""
    return fact.state is FactState.ACTIVE and not expired(fact, now)


def volatile(fact: Fact) -> bool:
    """Whether its truth wears out."""
    named = fact.attribute is not None and canonical(fact.attribute) in VOLATILE
    return fact.category is Category.VOLATILE or named or Sensitive.HEALTH in fact.sensitive


def stale(fact: Fact, now: int, after_ms: int = STALE_MS) -> bool:
    """Whether it is to be confirmed before it is taken for true again."""
    return volatile(fact) and now - fact.last_confirmed_at > after_ms


def shown(fact: Fact, now: int) -> Fact:
    """The fact as of now: what is over is history, without anybody having had to write that."""
    if not (fact.state is FactState.ACTIVE and expired(fact, now)):
        return fact
    return fact.model_copy(update={"state": FactState.SUPERSEDED, "valid_to": fact.expires_at})


def held_at(fact: Fact, at: int) -> bool:
    """Whether it was true at an instant, as far as is known now."""
    ends = [end for end in (fact.valid_to, fact.expires_at) if end is not None]
    return fact.valid_from <= at and all(at < end for end in ends)


def history(facts: Iterable[Fact], fact_id: str) -> list[Fact]:
    """What is told of a slot, the oldest first: all but what is forgotten; this fact in any case."""
    told = [fact for fact in facts if fact.state is not FactState.FORGOTTEN or fact.fact_id == fact_id]
    return sorted(told, key=lambda fact: (fact.valid_from, fact.valid_to is None, fact.created_at))


def questions(facts: Iterable[Fact], now: int) -> list[Question]:
    """What to ask about active facts: the stale ones, and those that contradict each other; each fact once."""
    served = {fact.fact_id: fact for fact in facts if serves(fact, now)}
    asked: set[str] = set()
    found: list[Question] = []
    for fact in served.values():
        others = [served[other] for other in fact.contradicts if other in served]
        if fact.fact_id in asked or not (others or stale(fact, now)):
            continue
        group = (fact, *others)
        asked |= {each.fact_id for each in group}
        found.append(Question(group, _question(group)))
    return found


def _question(facts: tuple[Fact, ...]) -> str:
    first = facts[0].statement.rstrip(".")
    if len(facts) == 1:
        return f'Please confirm, it has not been confirmed for a while: "{first}". Is that still so?'
    said = '" or "'.join(fact.statement.rstrip(".") for fact in facts)
    return f'Two things are known that cannot both be so: "{said}". Which one holds?'
