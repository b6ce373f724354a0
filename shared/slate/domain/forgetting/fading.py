"""What becomes of a memory by time alone: from active to limbo, from limbo to forgotten, one step at a look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from slate.domain.facts.model import Fact, FactState
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.forgetting.strength import (
    DAY_MS,
    fades,
    falls_below,
    half_life_ms,
    retained_until,
    since,
    start_of,
    strength,
)

DECAYED: Final = "decay"
RETENTION: Final = "retention"
EVICTED: Final = "evicted"
IMPORTANCE: Final = "importance"
"""Not an act of forgetting: feedback moved an importance, which the same log tells."""
BY_TIME: Final = "slate"
"""The actor, where nobody asked for it."""
BY_ITSELF: Final = frozenset({DECAYED, EVICTED})
"""Rules by which a fact goes without anybody having said so."""
_LIVING: Final = frozenset({FactState.ACTIVE, FactState.LIMBO})


class Going(NamedTuple):
    """Where a fact goes, by which rule, and every number that decided."""

    state: FactState
    rule: str
    reason: str
    numbers: Mapping[str, float]
    restorable_until: int


def going(fact: Fact, policy: DecayPolicy, now: int) -> Going | None:
    """The step that is due on a fact; none where it stays as it is.

    A step at a time, so that each has its own entry in the log.
    """
    if fact.state is FactState.FORGOTTEN:
        return None
    undo = now + policy.restore_days * DAY_MS
    retained = retained_until(fact, policy)
    if retained is not None and retained <= now:
        numbers = {**numbers_of(fact, policy, now), "retention_days": float(policy.retention_days[fact.category])}
        reason = f"kept for {policy.retention_days[fact.category]} days, as the tenant set for {fact.category}"
        return Going(FactState.FORGOTTEN, RETENTION, reason, numbers, undo)
    if fact.state not in _LIVING or not fades(fact, policy):
        return None
    weak, numbers = strength(fact, policy, now), numbers_of(fact, policy, now)
    if fact.state is FactState.ACTIVE and weak < policy.limbo_below:
        sleeping = fact.model_copy(update={"state": FactState.LIMBO})
        until = max(falls_below(sleeping, policy, policy.forget_below), now) + policy.restore_days * DAY_MS
        return Going(FactState.LIMBO, DECAYED, _faded("in limbo", policy.limbo_below), numbers, until)
    if fact.state is FactState.LIMBO and weak < policy.forget_below:
        return Going(FactState.FORGOTTEN, DECAYED, _faded("forgotten", policy.forget_below), numbers, undo)
    return None


def is_over(fact: Fact, now: int) -> bool:
    """Whether it is forgotten and can be restored no more: what is left of it goes."""
    return fact.state is FactState.FORGOTTEN and (fact.restorable_until or 0) < now


def numbers_of(fact: Fact, policy: DecayPolicy, now: int) -> dict[str, float]:
    """All that its strength is made of."""
    return {
        "strength": round(strength(fact, policy, now), 6),
        "start": start_of(fact),
        "importance": fact.importance,
        "age_days": round(max(now - since(fact), 0) / DAY_MS, 6),
        "half_life_days": round(half_life_ms(fact, policy) / DAY_MS, 6),
        "wakes": fact.wakes,
        "limbo_below": policy.limbo_below,
        "forget_below": policy.forget_below,
    }


def _faded(where: str, threshold: float) -> str:
    return f"{where}: neither used nor said again, its strength fell below {threshold:g}"
