"""Named locks on the wire."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from slate.contract.tasks import Request, Token, WaitSeconds
from slate.domain.instants import Instant
from slate.domain.tasks import LeaseSeconds

DEFAULT_LEASE_SECONDS = 60


class AcquireLock(Request):
    """An agent wants the lock; with ``wait_seconds`` it waits so long for whoever has it."""

    lease_seconds: LeaseSeconds = DEFAULT_LEASE_SECONDS
    wait_seconds: WaitSeconds = 0


class BeatLock(Request):
    """The holder is alive."""

    token: Token
    lease_seconds: LeaseSeconds | None = Field(default=None, description="that of the acquisition, if not given")


class LockBeat(BaseModel):
    """Until when the lease holds."""

    model_config = ConfigDict(frozen=True)

    epoch: int
    lease_until: Instant


class ReleaseLock(Request):
    """The holder is done."""

    token: Token
