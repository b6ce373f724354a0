"""Webhooks: where a tenant's events are sent, each delivery's life, and when it is tried again.

A delivery is tried until it is answered with 2xx, ``MAX_ATTEMPTS`` times at most::

    PENDING ──2xx──► DELIVERED
       │ anything else: tried again after 5 s, 20 s, 80 s ... (four times as long each, a fifth more or less)
       └──the last try failed, or 410 Gone──► GIVEN_UP
"""

from __future__ import annotations

import random
from base64 import b64decode, b64encode
from enum import StrEnum
from hashlib import sha256
from hmac import digest
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant
from slate.domain.pushed import PushedType

MAX_ATTEMPTS: Final = 8
FIRST_PAUSE_SECONDS: Final = 5
PAUSE_GROWS: Final = 4
LONGEST_PAUSE_SECONDS: Final = 6 * 3_600
JITTER: Final = 0.2
LONGEST_ASKED_SECONDS: Final = 3_600
"""A receiver may ask for a longer pause by Retry-After, of an hour at most."""
KEPT_DAYS: Final = 7
"""How long a delivery is shown after its event."""
GONE: Final = 410

SECRET_PREFIX: Final = "whsec_"  # noqa: S105  # how a secret begins, not one


class Webhook(BaseModel):
    """An address that events are sent to; its secret is shown once, when it is made."""

    model_config = ConfigDict(frozen=True)

    webhook_id: str
    url: str
    events: tuple[PushedType, ...]
    created_at: Instant
    created_by: str
    version: int = 1


class DeliveryState(StrEnum):
    """Where a delivery stands."""

    PENDING = "PENDING"
    DELIVERED = "DELIVERED"
    GIVEN_UP = "GIVEN_UP"


class Attempt(BaseModel):
    """One try: the status of the answer, or why there was none."""

    model_config = ConfigDict(frozen=True)

    number: int
    at: Instant
    milliseconds: int
    status: int | None = None
    error: str | None = None


class Delivery(BaseModel):
    """One event on its way to one webhook."""

    model_config = ConfigDict(frozen=True)

    delivery_id: str
    webhook_id: str
    event_id: str
    event: PushedType
    event_at: Instant
    graph_id: str
    task_id: str | None
    state: DeliveryState
    attempts: tuple[Attempt, ...] = ()
    next_attempt_at: Instant | None = Field(default=None, description="while PENDING: when it is tried next")
    version: int = 1


class Outcome(BaseModel):
    """What a try leads to."""

    model_config = ConfigDict(frozen=True)

    state: DeliveryState
    pause_seconds: float | None = None


def outcome_of(number: int, status: int | None, asked_seconds: int | None, rng: random.Random) -> Outcome:
    """What the try of this number leads to, by the status it was answered with (None: it was not answered)."""
    if status is not None and 200 <= status < 300:  # noqa: PLR2004  # success, as RFC 9110 has it
        return Outcome(state=DeliveryState.DELIVERED)
    if number >= MAX_ATTEMPTS or status == GONE:
        return Outcome(state=DeliveryState.GIVEN_UP)
    pause = min(FIRST_PAUSE_SECONDS * PAUSE_GROWS ** (number - 1), LONGEST_PAUSE_SECONDS)
    jittered = pause * rng.uniform(1 - JITTER, 1 + JITTER)
    return Outcome(
        state=DeliveryState.PENDING, pause_seconds=max(jittered, min(asked_seconds or 0, LONGEST_ASKED_SECONDS))
    )


def new_secret(randomness: bytes) -> str:
    """A secret as Standard Webhooks writes it."""
    return SECRET_PREFIX + b64encode(randomness).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of ``webhook-signature``: HMAC-SHA256 over id, timestamp and body (Standard Webhooks 1.0, ``v1``)."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return f"v1,{b64encode(digest(key, signed, sha256)).decode()}"
