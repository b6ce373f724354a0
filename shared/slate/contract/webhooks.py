"""Webhooks on the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.contract.tasks import Request
from slate.domain.addresses import MAX_URL
from slate.domain.pushed import PUSHED, PushedType
from slate.domain.webhooks import Delivery, Webhook

Url = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_URL)]


class CreateWebhook(Request):
    """Where events go, and which."""

    url: Url = Field(description="https, at a public address")
    events: tuple[PushedType, ...] = Field(
        min_length=1, max_length=len(PUSHED), description="the types that are sent; others never are"
    )


class CreatedWebhook(Webhook):
    """The webhook with its secret, shown this once."""

    secret: str = Field(description="`whsec_` and base64: the key of the signatures, as Standard Webhooks has it")


class WebhookPage(BaseModel):
    """Some webhooks; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Webhook, ...]
    next_cursor: str | None


class DeliveryPage(BaseModel):
    """Some deliveries, the newest first; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Delivery, ...]
    next_cursor: str | None
