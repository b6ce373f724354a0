"""The routes of webhooks."""

from __future__ import annotations

from http import HTTPStatus

from slate.contract.webhooks import CreatedWebhook, CreateWebhook, DeliveryPage, WebhookPage
from slate.domain.access import Principal, Scope
from slate.domain.webhooks import Webhook
from slate.service.webhooks.keeping import Webhooks
from slate_functions.http.dependencies import IdempotencyKey, Paging, PathId
from slate_functions.http.routes import delete, get, post
from slate_functions.tasks_api import webhook_examples as examples


class WebhookRoutes:
    """Webhooks: addresses that a tenant's events are sent to."""

    def __init__(self, webhooks: Webhooks) -> None:
        self._webhooks = webhooks

    @post(
        "/v1/webhooks",
        scope=Scope.ADMIN,
        status=HTTPStatus.CREATED,
        refusals=(HTTPStatus.CONFLICT,),
        sends=examples.CREATE_WEBHOOK,
        gives=examples.CREATED_WEBHOOK,
    )
    def create_webhook(
        self, principal: Principal, body: CreateWebhook, idempotency_key: IdempotencyKey
    ) -> CreatedWebhook:
        """Send events to an address from now on; its secret is shown in this answer only.

        The address is public and speaks https. Deliveries are signed as Standard Webhooks has it, and tried 8 times
        within about 8 hours.
        """
        return self._webhooks.create(principal, body, idempotency_key)

    @get("/v1/webhooks", scope=Scope.ADMIN, gives=examples.WEBHOOK_PAGE)
    def list_webhooks(self, principal: Principal, query: Paging) -> WebhookPage:
        """List the webhooks, never with their secrets."""
        return self._webhooks.list(principal, query.limit, query.cursor)

    @get("/v1/webhooks/{webhook_id}", scope=Scope.ADMIN, gives=examples.WEBHOOK)
    def get_webhook(self, principal: Principal, webhook_id: PathId) -> Webhook:
        """Look at a webhook, never with its secret."""
        return self._webhooks.get(principal, webhook_id)

    @delete("/v1/webhooks/{webhook_id}", scope=Scope.ADMIN, status=HTTPStatus.NO_CONTENT)
    def delete_webhook(self, principal: Principal, webhook_id: PathId) -> None:
        """Send it nothing more, not even what was to be tried again."""
        self._webhooks.delete(principal, webhook_id)

    @get("/v1/webhooks/{webhook_id}/deliveries", scope=Scope.ADMIN, gives=examples.DELIVERY_PAGE)
    def list_deliveries(self, principal: Principal, webhook_id: PathId, query: Paging) -> DeliveryPage:
        """List what was sent to a webhook in the last 7 days, the newest first, with every try."""
        return self._webhooks.deliveries(principal, webhook_id, query.limit, query.cursor)
