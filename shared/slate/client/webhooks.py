"""The client's methods for webhooks, and what a receiver needs to know a delivery."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from slate.client.answers import pages, parse, segment
from slate.client.calls import Calls
from slate.contract.webhooks import CreatedWebhook, DeliveryPage, WebhookPage
from slate.domain.webhooks import Delivery, Webhook, signature

TOLERANCE_SECONDS: Final = 300
"""A delivery that was sent longer ago may be an old one that somebody sends again."""


class Webhooks:
    """Webhooks: ``client.webhooks.create("https://agents.example.com/slate", ["task.ready"])``."""

    def __init__(self, calls: Calls, new_id: Callable[[], str]) -> None:
        self._calls = calls
        self._new_id = new_id

    def create(self, url: str, events: Iterable[str], *, idempotency_key: str | None = None) -> CreatedWebhook:
        """Send events of these types to an address from now on; the secret is shown in this answer only.

        Raises:
            Invalid: the address is not a public one over https.
            Conflict: the tenant has as many webhooks as it may.
        """
        body = {"url": url, "events": list(events)}
        key = idempotency_key or self._new_id()
        return parse(CreatedWebhook, self._calls.call("POST", "/v1/webhooks", body=body, idempotency_key=key))

    def list(self) -> Iterator[Webhook]:
        """All of them, without their secrets."""
        return pages(self._calls, "/v1/webhooks", partial(parse, WebhookPage), {})

    def get(self, webhook_id: str) -> Webhook:
        """One of them, without its secret."""
        return parse(Webhook, self._calls.call("GET", _path(webhook_id)))

    def delete(self, webhook_id: str) -> None:
        """Send it nothing more."""
        self._calls.call("DELETE", _path(webhook_id))

    def deliveries(self, webhook_id: str) -> Iterator[Delivery]:
        """What was sent to it in the last days, the newest first; page after page as they are asked for."""
        return pages(self._calls, f"{_path(webhook_id)}/deliveries", partial(parse, DeliveryPage), {})


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> bool:
    """Whether a request is a delivery of the webhook with this secret, sent lately; ``body`` is as it came.

    It may still be one that was handled before: ``webhook-id`` tells.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdecimal()):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = signature(secret, message_id, int(timestamp), body).encode()
    found = given.get("webhook-signature", "").encode(errors="replace").split(b" ")
    return any(hmac.compare_digest(expected, one) for one in found)


def _path(webhook_id: str) -> str:
    return f"/v1/webhooks/{segment('webhook_id', webhook_id)}"
