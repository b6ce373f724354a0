"""A named lock: one holder at a time, for as long as a lease lasts, under an epoch that only grows."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant


class LockLease(BaseModel):
    """What a token says of the acquisition it was given for; the holder sees only an opaque text."""

    model_config = ConfigDict(frozen=True)

    name: str
    nonce: str
    """Tells apart two acquisitions by one agent."""
    epoch: int
    agent: str
    lease_seconds: int


class Lock(BaseModel):
    """A lock as it stands; one that nobody ever took stands free under epoch 0."""

    model_config = ConfigDict(frozen=True)

    name: str
    held: bool
    holder: str | None = Field(default=None, description="the agent that holds it")
    lease_until: Instant | None = Field(default=None, description="until when, unless a heartbeat comes")
    epoch: int = Field(default=0, description="of the last acquisition: only grows, over every release")


class HeldLock(BaseModel):
    """A lock just acquired: the token proves it, the epoch fences external writes, the lease ends."""

    model_config = ConfigDict(frozen=True)

    name: str
    token: str
    epoch: int = Field(description="pass it to whatever the lock protects, and let that refuse a lower one")
    lease_until: Instant
