"""Deliveries: an event becomes one delivery for each webhook that wants it, and each is tried until it is taken.

Two kinds of message go through one queue: an event, as a bus hands it on, and ``{tenant, webhook_id, delivery_id,
event_at, attempt}``, one try of one delivery. Every message may come twice, and the process may die after any step:

- an event that comes again finds its deliveries there, and only queues the first try of those that had none;
- a try is noted IF the ones before it are noted, so that of two at once one counts, and only that one queues the next;
- a try that was noted while its successor was not queued is seen when its message comes again: then that is queued.

So no delivery is lost, and a receiver may see one event twice, under one ``webhook-id``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue

from slate.domain.errors import NotFound
from slate.domain.fences import Intent
from slate.domain.pushed import PushedEvent
from slate.domain.webhooks import Attempt, DeliveryState, outcome_of, signature
from slate.ports.clock import Clock
from slate.ports.keyring import Operate
from slate.ports.queue import MAX_DELAY_SECONDS, Queue
from slate.ports.webhooks import DeliveryName, StoredDelivery, StoredWebhook, WebhookSender, WebhookStore

USER_AGENT: Final = "Slate-Webhooks/1"


class Try(BaseModel):
    """One try of one delivery, as a message."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    webhook_id: str
    delivery_id: str
    event_at: int
    attempt: int

    @property
    def delivery(self) -> DeliveryName:
        """The delivery that is tried."""
        return DeliveryName(self.webhook_id, self.event_at, self.delivery_id)


class Delivering:
    """Consumes the queue of webhooks."""

    def __init__(
        self,
        store: WebhookStore,
        queue: Queue,
        sender: WebhookSender,
        operate: Operate,
        clock: Clock,
        rng: random.Random,
        monotonic: Callable[[], float],
    ) -> None:
        self._store = store
        self._queue = queue
        self._sender = sender
        self._operate = operate
        self._clock = clock
        self._rng = rng
        self._monotonic = monotonic

    def consume(self, message: Mapping[str, JsonValue]) -> None:
        """Handle one message; what it raises makes the message come again."""
        if "detail" in message:
            event = PushedEvent.model_validate(message["detail"])
            with self._operate(Intent.WRITE, event.tenant):
                self._fan_out(event)
        else:
            this = Try.model_validate(message)
            with self._operate(Intent.WRITE, this.tenant):
                self._try(this)

    def _fan_out(self, event: PushedEvent) -> None:
        wanted = [w.webhook_id for w in self._store.all(event.tenant) if event.type in w.events]
        if not wanted:
            return
        for name, stored in self._store.open_deliveries(event.tenant, event, wanted, self._clock.now()).items():
            if stored.delivery.state is DeliveryState.PENDING and not stored.delivery.attempts:
                self._queue_try(event.tenant, name, 1, 0)

    def _try(self, this: Try) -> None:
        stored = self._store.delivery(this.tenant, this.delivery)
        if stored is None or stored.delivery.state is not DeliveryState.PENDING:
            return
        due, tried = stored.delivery.next_attempt_at or 0, len(stored.delivery.attempts)
        if tried == this.attempt:
            # Noted by this very message's first coming, or by its twin; the next may never have been queued.
            self._queue_try(this.tenant, this.delivery, tried + 1, due)
        elif tried == this.attempt - 1 and due > self._clock.now():
            self._queue_try(this.tenant, this.delivery, this.attempt, due)
        elif tried == this.attempt - 1:
            self._send(this, stored)

    def _send(self, this: Try, stored: StoredDelivery) -> None:
        try:
            webhook = self._store.get(this.tenant, this.webhook_id)
        except NotFound:
            return  # deleted: it is sent nothing more
        at, started = self._clock.now(), self._monotonic()
        body = stored.event.model_dump_json().encode()
        answer = self._sender.send(webhook.webhook.url, _headers(webhook, stored.event, at // 1000, body), body)
        took = round((self._monotonic() - started) * 1000)
        outcome = outcome_of(this.attempt, answer.status, answer.retry_after, self._rng)
        attempt = Attempt(number=this.attempt, at=at, milliseconds=took, status=answer.status, error=answer.error)
        due = None if outcome.pause_seconds is None else self._clock.now() + round(outcome.pause_seconds * 1000)
        noted = self._store.record(this.tenant, this.delivery, attempt, outcome.state, due)
        if noted and due is not None:
            self._queue_try(this.tenant, this.delivery, this.attempt + 1, due)

    def _queue_try(self, tenant: str, name: DeliveryName, attempt: int, due: int) -> None:
        """A queue holds a message back for a quarter of an hour at most: what is due later makes several hops."""
        wait = max(0, -((self._clock.now() - due) // 1000)) if due else 0
        message = Try(
            tenant=tenant,
            webhook_id=name.webhook_id,
            delivery_id=name.delivery_id,
            event_at=name.event_at,
            attempt=attempt,
        )
        self._queue.send(message.model_dump(), delay_seconds=min(wait, MAX_DELAY_SECONDS))


def _headers(stored: StoredWebhook, event: PushedEvent, timestamp: int, body: bytes) -> dict[str, str]:
    message_id = event.event_id
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(stored.secret, message_id, timestamp, body),
    }
