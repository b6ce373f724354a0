"""Webhooks in the tenant's list of them, and the deliveries of each in a partition of its own.

A delivery holds ids and states alone, in clear; one about a graph that is about a person carries its subject, and goes
with it.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key
from slate.adapters.dynamodb.changes import Change, put, removal
from slate.adapters.dynamodb.keys import END, deliveries_pk, head_key, list_pk, ref_of, subject_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.task_store import take
from slate.domain.errors import NotFound
from slate.domain.graphs import GraphState
from slate.domain.pushed import PushedEvent
from slate.domain.webhooks import KEPT_DAYS, Attempt, Delivery, DeliveryState, Webhook
from slate.ports.graph_store import Page
from slate.ports.webhooks import DeliveryName, StoredDelivery, StoredWebhook

_WEBHOOKS: Final = "webhooks"
_DAY_SECONDS: Final = 86_400


class DynamoWebhookStore:
    """Keeps webhooks and deliveries in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def put(self, tenant: str, stored: StoredWebhook) -> StoredWebhook:
        """One conditional put."""
        webhook = stored.webhook
        place = _place(tenant, webhook.webhook_id)
        codec = self._storage.codec
        item: Item = {
            **place.attributes,
            "events": list(webhook.events),
            "created_at": webhook.created_at,
            "created_by": webhook.created_by,
            "version": webhook.version,
            "url": codec.seal(tenant, None, place, "url", webhook.url),
            "secret": codec.seal(tenant, None, place, "secret", stored.secret),
        }
        try:
            self._storage.calls.write(tenant, put(item))
        except ConditionFailed as failed:
            if failed.old is None:
                raise _unknown(webhook.webhook_id) from None
            return self._stored(tenant, failed.old)
        return stored

    def get(self, tenant: str, webhook_id: str) -> StoredWebhook:
        """One read."""
        item = self._storage.calls.get(tenant, _place(tenant, webhook_id))
        if item is None:
            raise _unknown(webhook_id)
        return self._stored(tenant, item)

    def all(self, tenant: str) -> list[Webhook]:
        """One query."""
        items = self._storage.calls.query(tenant, list_pk(tenant, _WEBHOOKS), between=(" ", END))
        return [self._opened(tenant, item) for item in items]

    def delete(self, tenant: str, webhook_id: str) -> None:
        """One delete; its deliveries are found no more, and expire."""
        write = removal(_place(tenant, webhook_id))
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed:
            raise _unknown(webhook_id) from None

    def open_deliveries(
        self, tenant: str, event: PushedEvent, webhooks: list[str], now: int
    ) -> dict[DeliveryName, StoredDelivery]:
        """A read of the graph's head, which knows whom the graph is about; then a conditional put for each webhook."""
        head = self._storage.calls.get(tenant, head_key(tenant, event.graph_id))
        if head is None or head["state"] == GraphState.DELETING:
            return {}
        subject = subject_attributes(tenant, ref_of(head))

        def open_one(webhook_id: str) -> tuple[DeliveryName, StoredDelivery]:
            name = DeliveryName(webhook_id, event.at, _delivery_id(event, webhook_id))
            item = {**_new(tenant, name, event, now), **subject}
            try:
                self._storage.calls.write(tenant, put(item))
            except ConditionFailed as failed:
                item = failed.old or item
            return name, _delivery(item)

        return dict(self._storage.each(open_one, webhooks))

    def delivery(self, tenant: str, name: DeliveryName) -> StoredDelivery | None:
        """One read."""
        item = self._storage.calls.get(tenant, _delivery_place(tenant, name))
        return None if item is None else _delivery(item)

    def record(
        self, tenant: str, name: DeliveryName, attempt: Attempt, state: DeliveryState, next_attempt_at: int | None
    ) -> bool:
        """One update, of a delivery that is pending and has seen just the tries before this one."""
        line = attempt.model_dump()
        change = Change(line=[line]).let(attempts="list_append(#attempts, :line)").grow("version")
        change.set(state=state.value, tried=attempt.number)
        if next_attempt_at is None:
            change.remove("next_attempt_at")
        else:
            change.set(next_attempt_at=next_attempt_at)
        write = change.on(
            _delivery_place(tenant, name),
            "#state = :pending AND #tried = :before",
            pending=DeliveryState.PENDING.value,
            before=attempt.number - 1,
        )
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed as failed:
            # Ours, where the reply of an earlier send was lost.
            return failed.old is not None and failed.old["attempts"][-1:] == [line]
        return True

    def deliveries(self, tenant: str, webhook_id: str, position: str | None, limit: int) -> Page[Delivery]:
        """One query, backward; what has expired is passed over."""
        now_seconds = self._storage.clock.now() // 1000
        items = self._storage.calls.query(
            tenant,
            deliveries_pk(tenant, webhook_id),
            between=(" ", position or END),
            backward=True,
            at_once=limit + 2,
        )
        found = take(items, lambda item: item["sk"] != position and item["ttl"] > now_seconds, limit + 1)
        shown = found[:limit]
        return Page([_delivery(item).delivery for item in shown], str(shown[-1]["sk"]) if len(found) > limit else None)

    def _stored(self, tenant: str, item: Item) -> StoredWebhook:
        place = Key(item["pk"], item["sk"])
        secret = self._storage.codec.open(tenant, None, place, "secret", item["secret"])
        return StoredWebhook(self._opened(tenant, item), secret)

    def _opened(self, tenant: str, item: Item) -> Webhook:
        place = Key(item["pk"], item["sk"])
        return Webhook(
            webhook_id=place.sk,
            url=self._storage.codec.open(tenant, None, place, "url", item["url"]),
            events=tuple(item["events"]),
            created_at=item["created_at"],
            created_by=item["created_by"],
            version=item["version"],
        )


def _new(tenant: str, name: DeliveryName, event: PushedEvent, now: int) -> Item:
    return {
        **_delivery_place(tenant, name).attributes,
        "event": event.model_dump(),
        "state": DeliveryState.PENDING.value,
        "tried": 0,
        "attempts": [],
        "next_attempt_at": now,
        "version": 1,
        "ttl": now // 1000 + KEPT_DAYS * _DAY_SECONDS,
    }


def _delivery(item: Item) -> StoredDelivery:
    event: Any = PushedEvent.model_validate(item["event"])
    delivery = Delivery(
        delivery_id=str(item["sk"]).partition("#")[2],
        webhook_id=str(item["pk"]).rpartition("#")[2],
        event_id=event.event_id,
        event=event.type,
        event_at=event.at,
        graph_id=event.graph_id,
        task_id=event.task_id,
        state=DeliveryState(item["state"]),
        attempts=tuple(Attempt.model_validate(attempt) for attempt in item["attempts"]),
        next_attempt_at=item.get("next_attempt_at"),
        version=item["version"],
    )
    return StoredDelivery(delivery, event)


def _delivery_id(event: PushedEvent, webhook_id: str) -> str:
    """The same event to the same webhook is the same delivery, however often it is published."""
    return f"d-{blake2b(f'{event.event_id}#{webhook_id}'.encode(), digest_size=16).hexdigest()}"


def _place(tenant: str, webhook_id: str) -> Key:
    return Key(list_pk(tenant, _WEBHOOKS), webhook_id)


def _delivery_place(tenant: str, name: DeliveryName) -> Key:
    return Key(deliveries_pk(tenant, name.webhook_id), f"{name.event_at:015d}#{name.delivery_id}")


def _unknown(webhook_id: str) -> NotFound:
    return NotFound(f"there is no webhook {webhook_id!r}")
