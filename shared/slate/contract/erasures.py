"""Erasures on the wire."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.contract.tasks import Request
from slate.domain.erasing.erasure import Days, Erasure, StepDone
from slate.domain.erasing.receipts import Horizons
from slate.domain.erasing.steps import OPEN, Step
from slate.domain.instants import Instant
from slate.domain.names import Id

Reason = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=2_000)]


class AskErasure(Request):
    """Whose data is to go, and why."""

    subject: Id
    reason: Reason = Field(description="for whoever answers for it; sealed under the person's key, and gone with it")
    requested_at: Instant | None = Field(
        default=None, description="when the person asked, if that was before: the month to do it in begins then"
    )


class UnderWay(BaseModel):
    """How far the step under way is, in things of every store."""

    model_config = ConfigDict(frozen=True)

    done: int
    of: int
    counts: dict[str, int]


class ErasureStatus(BaseModel):
    """An erasure as it stands."""

    model_config = ConfigDict(frozen=True)

    erasure_id: str
    state: Step
    due_by: Instant = Field(description="one month after it was requested")
    subject: str | None = Field(description="the person, until their keys are gone; then nothing names them")
    reason: str | None = Field(description="likewise")
    asked_by: str
    requested_at: Instant
    received_at: Instant
    epoch: int = Field(description="the epoch of the person that begins with it; 0 before the fence")
    steps: tuple[StepDone, ...]
    under_way: UnderWay | None
    next_at: Instant | None = Field(description="when it goes on; null once it is closed")
    failures: int = Field(description="tries of the next step that failed, in a row")
    failure: str | None = Field(description="the kind of the last of them")
    horizons: Horizons | None = Field(description="when the last copies go that nobody can reach into")
    version: int

    @classmethod
    def of(cls, erasure: Erasure, days: Days) -> Self:
        """As callers see it."""
        plain = {name: getattr(erasure, name) for name in cls.model_fields if name in Erasure.model_fields}
        moving, total = erasure.progress, sum(erasure.found.values())
        return cls(
            **plain,
            under_way=None if moving is None else UnderWay(done=moving.done, of=total, counts=moving.counts),
            horizons=None if erasure.state in OPEN else erasure.horizons(days),
        )


class ErasurePage(BaseModel):
    """Some erasures, the newest first; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[ErasureStatus, ...]
    next_cursor: str | None
