"""Webhooks: where they are kept, and who carries a delivery out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from slate.domain.pushed import PushedEvent
from slate.domain.webhooks import Attempt, Delivery, DeliveryState, Webhook
from slate.ports.graph_store import Page


class StoredWebhook(NamedTuple):
    """A webhook with the secret that its deliveries are signed with."""

    webhook: Webhook
    secret: str


class StoredDelivery(NamedTuple):
    """A delivery with what is delivered."""

    delivery: Delivery
    event: PushedEvent


class DeliveryName(NamedTuple):
    """Names one delivery; the same event to the same webhook has the same name."""

    webhook_id: str
    event_at: int
    delivery_id: str


class WebhookStore(Protocol):
    """Keeps webhooks, and the deliveries of each until they are old."""

    def put(self, tenant: str, stored: StoredWebhook) -> StoredWebhook:
        """Keep a new webhook; one that is there under this id already is answered instead."""
        ...

    def get(self, tenant: str, webhook_id: str) -> StoredWebhook:
        """One webhook, strongly consistent.

        Raises:
            NotFound: there is none.
        """
        ...

    def all(self, tenant: str) -> list[Webhook]:
        """Every webhook of a tenant: they are few."""
        ...

    def delete(self, tenant: str, webhook_id: str) -> None:
        """Take a webhook out.

        Raises:
            NotFound: there is none.
        """
        ...

    def open_deliveries(
        self, tenant: str, event: PushedEvent, webhooks: list[str], now: int
    ) -> dict[DeliveryName, StoredDelivery]:
        """The event's delivery to each of these webhooks, made where it is not there yet.

        None at all where the event's graph is gone, and what was known of it with it.
        """
        ...

    def delivery(self, tenant: str, name: DeliveryName) -> StoredDelivery | None:
        """One delivery, strongly consistent; None where it is gone."""
        ...

    def record(
        self, tenant: str, name: DeliveryName, attempt: Attempt, state: DeliveryState, next_attempt_at: int | None
    ) -> bool:
        """Note a try and what it led to; False where a try of this number was noted before."""
        ...

    def deliveries(self, tenant: str, webhook_id: str, position: str | None, limit: int) -> Page[Delivery]:
        """Deliveries of a webhook, the newest first."""
        ...


class Answer(NamedTuple):
    """What a receiver answered: a status, or no answer and why."""

    status: int | None = None
    error: str | None = None
    retry_after: int | None = None
    """Seconds, where the receiver asked for a pause."""


class WebhookSender(Protocol):
    """Carries one delivery out."""

    def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """One POST, bounded in time; it follows no redirect, reaches no private address, and raises nothing.

        No part of the receiver's answer but its status and its wish for a pause is kept.
        """
        ...
