"""Holds on the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.contract.tasks import Request
from slate.domain.holds import Hold
from slate.domain.instants import Instant
from slate.domain.names import Id

Reason = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=2_000)]


class CreateHold(Request):
    """Whose data is to stay as it is, and why."""

    subject: Id
    reason: Reason = Field(description="for whoever decides when it ends; kept sealed, and gone with the hold")
    until: Instant | None = Field(default=None, description="when it ends by itself; without it, when it is lifted")


class HoldPage(BaseModel):
    """Some holds; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Hold, ...]
    next_cursor: str | None
