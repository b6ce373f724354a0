"""Routes that only a local server has: its clock can be moved, its due work done at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from slate.contract.tasks import Request
from slate.domain.instants import Instant
from slate.domain.tasks import StrictBool
from slate.service.forgetting.fading import Preview
from slate_functions.http.answers import Page
from slate_functions.http.routes import get, post

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


class Within(Request):
    """How far to look ahead."""

    within_days: Annotated[float, Field(strict=True, ge=0, le=36_500)] = 0


class WouldGo(BaseModel):
    """A fact that would go."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    ref: str
    fact_id: str
    state: str
    rule: str
    reason: str
    numbers: dict[str, float]


class Previewed(BaseModel):
    """What decay would do; it was not done."""

    model_config = ConfigDict(frozen=True)

    items: tuple[WouldGo, ...]


class Driven(Protocol):
    """A Slate whose time and work are in the caller's hand."""

    def advance(self, seconds: float) -> int:
        """Move the clock, do what fell due; answer the new instant."""
        ...

    def drain(self, *, queues: bool = True) -> int:
        """Do all that is due; answer how much that was. Without ``queues`` no message is delivered."""
        ...

    def preview(self, within_days: float) -> Iterable[Preview]:
        """What decay would do in so many days, and why."""
        ...

    def metrics(self) -> str:
        """What was counted, as Prometheus reads it."""
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

    @post("/_local/decay", public=True, sends={"within_days": 30}, gives={"items": []})
    def preview(self, body: Within) -> Previewed:
        """What decay would do, and why; nothing is changed."""
        return Previewed(items=tuple(WouldGo(**each._asdict()) for each in self._driven.preview(body.within_days)))

    @get("/v1/metrics", public=True)
    def metrics(self) -> Page:
        """What was counted in this process, as Prometheus reads it."""
        return Page("text/plain; version=0.0.4; charset=utf-8", self._driven.metrics())
