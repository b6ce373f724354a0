"""Routes that only a local server has: its clock can be moved, its due work done at once."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from slate.contract.tasks import Request
from slate.domain.instants import Instant
from slate.domain.tasks import StrictBool
from slate_functions.http.routes import post

CENTURY_SECONDS = 3_155_760_000


class AdvanceClock(Request):
    """How far to move the clock."""

    advance_seconds: Annotated[float, Field(strict=True, ge=0, le=CENTURY_SECONDS)]


class Drain(Request):
    """What to run; with ``queues`` false no queued message is delivered."""

    queues: StrictBool = True


class Now(BaseModel):
    """What the service's clock shows."""

    model_config = ConfigDict(frozen=True)

    now: Instant


class Processed(BaseModel):
    """How much was done."""

    model_config = ConfigDict(frozen=True)

    processed: int


class Driven(Protocol):
    """A Slate whose time and work are in the caller's hand."""

    def advance(self, seconds: float) -> int:
        """Move the clock, do what fell due; answer the new instant."""
        ...

    def drain(self, *, queues: bool = True) -> int:
        """Do all that is due; answer how much that was. Without ``queues`` no message is delivered."""
        ...


class LocalRoutes:
    """A local server's own routes."""

    def __init__(self, driven: Driven) -> None:
        self._driven = driven

    @post("/_local/clock", public=True, sends={"advance_seconds": 61}, gives={"now": "2026-11-30T12:00:00.000Z"})
    def advance(self, body: AdvanceClock) -> Now:
        """Move the clock, and do what fell due."""
        return Now(now=self._driven.advance(body.advance_seconds))

    @post("/_local/drain", public=True, gives={"processed": 3})
    def drain(self, body: Drain) -> Processed:
        """Do all that is due, until nothing is."""
        return Processed(processed=self._driven.drain(queues=body.queues))
