"""How strong a memory is: importance/10 x 2^(-age/half-life), so exactly one half of its start at one half-life.

Its age counts from when it was learned, said again, or last woken. Each waking makes the half-life longer, up to four
times. Above importance 7, pinned, or in a slot that hardly ever changes, a memory does not fade.
"""

from __future__ import annotations

from math import floor, log2
from typing import Final

from slate.domain.facts.model import Fact, FactState
from slate.domain.facts.slots import canonical
from slate.domain.forgetting.policy import DecayPolicy

DAY_MS: Final = 86_400_000
NEVER_ABOVE: Final = 7
"""What is more important than this never goes by itself."""
MOST_IMPORTANT: Final = 10
GROWTH: Final = 1.25
"""Of the half-life, by each waking."""
MOST_GROWTH: Final = 4.0
KEEP_MAYBE: Final = 4.0
"""What somebody put in limbo to be kept perhaps is kept so much longer."""
RESTORED: Final = 0.5
"""What is brought back starts with so much at least."""
SESSION_HALF_LIFE: Final = 15
"""Exchanges."""
LOOKED_AT_DAYS: Final = 90
"""Every fact is looked at within so many days, so that a changed setting reaches it without a scan."""


def decayed(start: float, age: float, half_life: float) -> float:
    """What is left of a strength after an age, in the same unit as the half-life."""
    return float(start * 2 ** (-max(age, 0) / half_life))


def in_session(importance: int, exchanges: float, half_life: int = SESSION_HALF_LIFE) -> float:
    """How strong something said in a session is, so many exchanges later."""
    return decayed(importance / MOST_IMPORTANT, exchanges, half_life)


def start_of(fact: Fact) -> float:
    """The strength that it has when its decay starts."""
    return max(fact.importance / MOST_IMPORTANT, fact.strength_start or 0.0)


def since(fact: Fact) -> int:
    """When its decay started last."""
    return max(fact.created_at, fact.last_confirmed_at, fact.woken_at or 0)


def fades(fact: Fact, policy: DecayPolicy) -> bool:
    """Whether it loses strength at all."""
    if fact.importance > NEVER_ABOVE or fact.pinned:
        return False
    return fact.attribute is None or canonical(fact.attribute).partition(":")[0] not in policy.low_churn


def half_life_ms(fact: Fact, policy: DecayPolicy) -> float:
    """In which time it loses one half."""
    grown = min(GROWTH ** min(fact.wakes, 32), MOST_GROWTH)
    kept = KEEP_MAYBE if fact.keep_maybe else 1.0
    return policy.half_lives[fact.category] * DAY_MS * grown * kept


def strength(fact: Fact, policy: DecayPolicy, now: int) -> float:
    """How strong it is at an instant."""
    if not fades(fact, policy):
        return start_of(fact)
    return decayed(start_of(fact), now - since(fact), half_life_ms(fact, policy))


def faded(fact: Fact, policy: DecayPolicy, now: int) -> bool:
    """Whether it is too weak to be served."""
    return fades(fact, policy) and strength(fact, policy, now) < policy.limbo_below


def falls_below(fact: Fact, policy: DecayPolicy, threshold: float) -> int:
    """The first instant at which a fading fact is weaker than this, in closed form."""
    start, began = start_of(fact), since(fact)
    if start < threshold:
        return began
    at = began + floor(half_life_ms(fact, policy) * log2(start / threshold))
    # The logarithm is rounded: the strength itself says which millisecond is the first.
    while strength(fact, policy, at) >= threshold:
        at += 1
    return at


def retained_until(fact: Fact, policy: DecayPolicy) -> int | None:
    """When the tenant's retention of its category is over."""
    days = policy.retention_days.get(fact.category)
    return None if days is None else max(fact.created_at, fact.last_confirmed_at) + days * DAY_MS


def due_at(fact: Fact, policy: DecayPolicy, now: int) -> int | None:
    """When something is to be done about a fact, or when it is to be looked at again; never in the past of ``now``."""
    if fact.state is FactState.FORGOTTEN:
        return None if fact.restorable_until is None else fact.restorable_until + 1
    moments = [now + LOOKED_AT_DAYS * DAY_MS]
    retained = retained_until(fact, policy)
    if retained is not None:
        moments.append(retained)
    if fact.state is not FactState.SUPERSEDED and fades(fact, policy):
        limbo = fact.state is FactState.LIMBO
        moments.append(falls_below(fact, policy, policy.forget_below if limbo else policy.limbo_below))
    return max(min(moments), now)
