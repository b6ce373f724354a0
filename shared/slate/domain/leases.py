"""The lease: the time-limited right to run a task, and how long a task rests between attempts."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict

from slate.domain.instants import Instant
from slate.domain.tasks import Task

MAX_BACKOFF_SECONDS: Final = 3_600


class Lease(BaseModel):
    """What a token says of the claim it was given for; the holder sees only an opaque text.

    It carries what later steps need, so that none of them has to read the task first.
    """

    model_config = ConfigDict(frozen=True)

    graph_id: str
    task_id: str
    nonce: str
    """Tells apart two claims under one epoch, and two workers of one name."""
    epoch: int
    agent: str
    lease_seconds: int
    attempts: int
    max_attempts: int
    backoff_seconds: int
    subject_ref: str | None = None
    has_dependents: bool = False
    """Whether another task waited for this one at the claim: picks the likelier form of the completion."""
    history_length: int = 0
    """At the claim: above the bound, the next step reads and trims."""


class Claim(BaseModel):
    """A task handed to a worker: the token proves it, the epoch fences external writes, the lease ends."""

    model_config = ConfigDict(frozen=True)

    task: Task
    token: str
    epoch: int
    lease_until: Instant


def backoff_ms(attempt: int, backoff_seconds: int, jitter: float) -> int:
    """The rest after the n-th attempt: doubled each time, capped at an hour, spread over its upper half.

    ``jitter`` is uniform in [0, 1). Spreading keeps a crowd that failed together from coming back together
    (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: "equal jitter").
    """
    full = min(backoff_seconds << min(attempt - 1, 20), MAX_BACKOFF_SECONDS) * 1000
    return round(full / 2 * (1 + jitter))
