"""Acts that the forgetting log tells of: by which rule, by whose word, by which numbers, until when to be undone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from slate.domain.facts.model import Fact, FactState, Forgetting
from slate.domain.forgetting.fading import BY_ITSELF, BY_TIME, IMPORTANCE


class Act(NamedTuple):
    """Who does something, when, and until when it can be undone."""

    rule: str
    reason: str
    actor: str
    at: int
    restorable_until: int
    numbers: Mapping[str, float] = MappingProxyType({})
    """What the rule went by."""

    def entry(self, fact: Fact, unique: str) -> Forgetting:
        """What the log says of it; the fact is as it was before."""
        return Forgetting(
            # Of two acts on a fact at one instant, the later sorts after the earlier.
            log_id=f"{fact.version:04x}{unique}",
            fact_id=fact.fact_id,
            rule=self.rule,
            reason=self.reason,
            actor=self.actor,
            at=self.at,
            numbers={"importance": fact.importance, "confidence": fact.confidence, **self.numbers},
            restorable_until=self.restorable_until,
            readers=fact.readers,
        )


def stepping(before: Fact, after: Fact, now: int, reason: str) -> Act:
    """What the log says of an importance that moved."""
    numbers = {"importance_before": before.importance, "importance_after": after.importance}
    return Act(IMPORTANCE, reason, BY_TIME, now, now, numbers)


def gone(fact: Fact, state: FactState, act: Act) -> Fact:
    """The fact after an act of time. By which rule it went is remembered, unless somebody had put it away before."""
    until = act.restorable_until if state is FactState.FORGOTTEN else None
    kept: dict[str, object] = {"state": state, "restorable_until": until}
    if act.rule in BY_ITSELF or fact.gone_by is None:
        kept["gone_by"] = act.rule
    return fact.model_copy(update=kept)


def came_back(entry: Forgetting, at: int) -> Forgetting | None:
    """The entry of a fact that came back at an instant; none where it says so already, or tells of no forgetting."""
    if entry.restored_at is not None or entry.rule == IMPORTANCE:
        return None
    return entry.model_copy(update={"restored_at": at, "version": entry.version + 1})


def left_by_itself(fact: Fact) -> bool:
    """Whether what is left of a fact may still be shown where it was served: nobody has deleted it on purpose."""
    return fact.state is not FactState.FORGOTTEN or fact.gone_by in BY_ITSELF
