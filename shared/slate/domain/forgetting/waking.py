"""What wakes a memory: being served, being spoken of, being brought back. The decay restarts, the half-life grows.

Waking never weakens: the decay starts later, from no less, and is no faster.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from slate.domain.facts.model import Fact, FactState
from slate.domain.forgetting.fading import BY_ITSELF
from slate.domain.forgetting.feedback import stepped
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.forgetting.strength import RESTORED, since, strength

WAKES_AGAIN_MS: Final = 3_600_000
"""Within an hour a memory is woken once: a busy session writes no more than that."""
LEAST_TERMS: Final = 2
"""A single word in common is no sign that a turn is about a fact."""


def woken(fact: Fact, at: int, policy: DecayPolicy, now: int, *, spoken: bool) -> Fact | None:
    """The fact, used at an instant; nothing where that changes nothing.

    What was served before it went into limbo comes back; what was spoken of (``spoken``) comes back in any case.
    """
    asleep = fact.state is FactState.LIMBO
    if fact.state is not FactState.ACTIVE and not asleep:
        return None
    if at < since(fact) + (0 if asleep else WAKES_AGAIN_MS):
        return None
    if asleep and fact.keep_maybe and not spoken:
        return None
    up = fact.model_copy(update={"woken_at": at, "wakes": fact.wakes + 1})
    if not asleep:
        return up
    up = up.model_copy(update={"state": FactState.ACTIVE, "keep_maybe": False, "gone_by": None})
    return up if strength(up, policy, now) >= policy.limbo_below else None


def brought_back(before: Fact | None, after: Fact, now: int) -> Fact:
    """A fact as it is to be written: what comes back starts anew, and stronger if it had gone by itself.

    That somebody wants back what had faded says that it mattered more than was thought: a step of feedback.
    """
    if before is None or after.state is not FactState.ACTIVE:
        return _put_away(before, after, now)
    if before.state not in (FactState.LIMBO, FactState.FORGOTTEN) or after.woken_at != before.woken_at:
        return after
    started = {"woken_at": now, "strength_start": max(RESTORED, after.strength_start or 0.0), "gone_by": None}
    back = after.model_copy(update=started)
    return stepped(back, +1) if before.gone_by in BY_ITSELF else back


def _put_away(before: Fact | None, after: Fact, now: int) -> Fact:
    """Put in limbo to be kept perhaps, it starts anew too."""
    if after.state is FactState.LIMBO and after.keep_maybe and before is not None and not before.keep_maybe:
        return after.model_copy(update={"woken_at": now, "strength_start": max(RESTORED, after.strength_start or 0.0)})
    return after


def about(fact_terms: Collection[str], turn_terms: Collection[str]) -> float:
    """How much of what a fact says stands in a turn: 0 to 1."""
    said = set(fact_terms)
    common = said & set(turn_terms)
    return len(common) / len(said) if len(common) >= LEAST_TERMS else 0.0
