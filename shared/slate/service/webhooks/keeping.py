"""Webhooks: made, listed, deleted, and what became of their deliveries.

They send the events of every task of a tenant to an address outside: so each of these calls needs ``admin``, and a
credential that is bound to one person makes none of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from slate.contract.webhooks import CreatedWebhook, CreateWebhook, DeliveryPage, WebhookPage
from slate.domain.access import Principal
from slate.domain.addresses import BadTarget, target_of
from slate.domain.errors import Conflict, Forbidden, Invalid
from slate.domain.webhooks import Webhook, new_secret
from slate.ports.clock import Clock
from slate.ports.webhooks import StoredWebhook, WebhookStore
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors

MAX_WEBHOOKS: Final = 20
"""Of one tenant; each event is matched with all of them."""
SECRET_BYTES: Final = 32


class Webhooks:
    """What an operator does with webhooks."""

    def __init__(
        self,
        store: WebhookStore,
        idempotency: Idempotency,
        cursors: Cursors,
        clock: Clock,
        *,
        loopback: bool,
        entropy: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._store = store
        self._idempotency = idempotency
        self._cursors = cursors
        self._clock = clock
        self._loopback = loopback
        self._entropy = entropy

    def create(self, principal: Principal, body: CreateWebhook, idempotency_key: str | None) -> CreatedWebhook:
        """A new webhook; its secret is shown this once.

        Raises:
            Forbidden: the caller is bound to a subject.
            Invalid: the URL does not point to a public address over https.
            Conflict: the tenant has as many as it may.
        """
        _unbound(principal)
        try:
            target_of(body.url, loopback=self._loopback)
        except BadTarget as bad:
            raise Invalid.field("url", str(bad)) from None

        def do(seed: str) -> tuple[CreatedWebhook, JsonValue]:
            made = self._made(principal, body, f"w-{seed}")
            return made, made.webhook_id

        def again(webhook_id: JsonValue) -> CreatedWebhook:
            return _shown(self._store.get(principal.tenant, str(webhook_id)))

        request: JsonValue = ["POST /v1/webhooks", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again)

    def _made(self, principal: Principal, body: CreateWebhook, webhook_id: str) -> CreatedWebhook:
        there = self._store.all(principal.tenant)
        if len(there) >= MAX_WEBHOOKS and all(webhook.webhook_id != webhook_id for webhook in there):
            raise Conflict(f"there are {MAX_WEBHOOKS} webhooks, and no more may be; delete one first")
        webhook = Webhook(
            webhook_id=webhook_id,
            url=body.url,
            events=tuple(sorted(set(body.events))),
            created_at=self._clock.now(),
            created_by=principal.agent,
        )
        secret = new_secret(self._entropy(SECRET_BYTES))
        return _shown(self._store.put(principal.tenant, StoredWebhook(webhook, secret)))

    def list(self, principal: Principal, limit: int, cursor: str | None) -> WebhookPage:
        """The tenant's webhooks by id, without their secrets.

        Raises:
            Forbidden: the caller is bound to a subject.
        """
        _unbound(principal)
        position = self._cursors.position(principal.tenant, "webhooks", cursor)
        after = [webhook for webhook in self._store.all(principal.tenant) if webhook.webhook_id > (position or "")]
        last = after[limit - 1].webhook_id if len(after) > limit else None
        return WebhookPage(
            items=tuple(after[:limit]), next_cursor=self._cursors.next(principal.tenant, "webhooks", last)
        )

    def get(self, principal: Principal, webhook_id: str) -> Webhook:
        """One webhook, without its secret.

        Raises:
            Forbidden: the caller is bound to a subject.
            NotFound: there is no such webhook.
        """
        _unbound(principal)
        return self._store.get(principal.tenant, webhook_id).webhook

    def delete(self, principal: Principal, webhook_id: str) -> None:
        """Send it nothing more, not even what was to be tried again; a repeat finds none.

        Raises:
            Forbidden: the caller is bound to a subject.
            NotFound: there is no such webhook.
        """
        _unbound(principal)
        self._store.delete(principal.tenant, webhook_id)

    def deliveries(self, principal: Principal, webhook_id: str, limit: int, cursor: str | None) -> DeliveryPage:
        """What was sent to a webhook in the last days, or is about to be.

        Raises:
            Forbidden: the caller is bound to a subject.
            NotFound: there is no such webhook.
        """
        _unbound(principal)
        self._store.get(principal.tenant, webhook_id)
        of = f"deliveries {webhook_id}"
        position = self._cursors.position(principal.tenant, of, cursor)
        page = self._store.deliveries(principal.tenant, webhook_id, position, limit)
        return DeliveryPage(
            items=tuple(page.items), next_cursor=self._cursors.next(principal.tenant, of, page.position)
        )


def _shown(stored: StoredWebhook) -> CreatedWebhook:
    return CreatedWebhook(**stored.webhook.model_dump(), secret=stored.secret)


def _unbound(principal: Principal) -> None:
    """A key that reaches one person's data must not be told of everybody's."""
    if principal.subject is not None:
        raise Forbidden("this key is bound to one subject, and webhooks tell of all; use one that is not")
