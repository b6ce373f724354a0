"""Forgetting on the wire: feedback on a context, undoing many acts at once, how well a memory is."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.contract.tasks import Request
from slate.domain.instants import Instant
from slate.domain.names import Id

MAX_ITEMS = 200
MAX_UNDONE = 1_000
ItemId = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=500)]


class GiveFeedback(Request):
    """Which items of a context the answer was made of, and which were of no use."""

    used: tuple[ItemId, ...] = Field(default=(), max_length=MAX_ITEMS)
    noise: tuple[ItemId, ...] = Field(default=(), max_length=MAX_ITEMS)


class Feedback(BaseModel):
    """What feedback did: the facts whose importance it moved, by one step each."""

    model_config = ConfigDict(frozen=True)

    context_id: str
    raised: tuple[str, ...] = ()
    lowered: tuple[str, ...] = ()


class RestoreMany(Request):
    """Which acts of forgetting to undo: those that meet all that is named; something must be."""

    fact_ids: tuple[Id, ...] | None = Field(default=None, max_length=MAX_UNDONE)
    rule: Id | None = None
    since: Instant | None = None
    until: Instant | None = None


class Undone(BaseModel):
    """One fact, and whether it is back; if not, why."""

    model_config = ConfigDict(frozen=True)

    fact_id: str
    restored: bool
    reason: str | None = None


class RestoredMany(BaseModel):
    """What became of each; with ``more``, there were more than one call undoes: call again."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Undone, ...]
    more: bool = False


class GrowthHealth(BaseModel):
    """Whether a memory grows without bound; ``items`` are the facts that would go first."""

    model_config = ConfigDict(frozen=True)

    flagged: bool
    learned_30_days: int
    gone_30_days: int
    items: tuple[str, ...] = ()


class GroupsHealth(BaseModel):
    """Groups of facts that are unwell together."""

    model_config = ConfigDict(frozen=True)

    flagged: bool
    items: tuple[tuple[str, ...], ...] = ()


class FactsHealth(BaseModel):
    """Facts that are unwell."""

    model_config = ConfigDict(frozen=True)

    flagged: bool
    items: tuple[str, ...] = ()


class Health(BaseModel):
    """How well the memory of a person is."""

    model_config = ConfigDict(frozen=True)

    healthy: bool
    active: int
    limbo: int
    cap: int
    cap_full: bool = Field(description="more facts than the cap, of which too few may go: nothing of them is trimmed")
    growth: GrowthHealth
    duplicates: GroupsHealth
    irrelevant: FactsHealth
    conflicts: GroupsHealth
    stale: FactsHealth
    regret_rate: float = Field(description="of what went by itself in 30 days, how much was wanted back")
