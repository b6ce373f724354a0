"""The next version of a fact: what a write adds to what was decided about it, whichever storage it is written to."""

from __future__ import annotations

from typing import NamedTuple

from slate.domain.facts.model import Fact
from slate.domain.forgetting.acts import Act, stepping
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.forgetting.strength import due_at
from slate.domain.forgetting.waking import brought_back


class Version(NamedTuple):
    """A fact as it is to be kept, when it is to be looked at next, and what the log says beside."""

    fact: Fact
    due: int | None
    act: Act | None
    """That its importance moved, because somebody brought back what had gone by itself."""


def following(before: Fact | None, after: Fact, policy: DecayPolicy, now: int) -> Version:
    """What follows on ``before``, a fact as it was read; ``after`` is what was decided."""
    back = brought_back(before, after, now)
    counted = {
        "version": 1 if before is None else before.version + 1,
        "created_at": now if before is None else after.created_at,
        "updated_at": now,
    }
    fact = back.model_copy(update=counted)
    moved = back.importance != after.importance
    act = stepping(after, back, now, "brought back after it had gone by itself") if moved else None
    return Version(fact, due_at(fact, policy, now), act)
