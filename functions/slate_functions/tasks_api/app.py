"""The tasks API's app: its groups of routes over the use cases."""

from __future__ import annotations

from slate.wiring import Slate
from slate_functions.http.docs import DocsRoutes
from slate_functions.tasks_api.events_routes import EventRoutes
from slate_functions.tasks_api.health import HealthRoutes
from slate_functions.tasks_api.keys_routes import KeyRoutes
from slate_functions.tasks_api.openapi import tasks_document
from slate_functions.tasks_api.routes import GraphRoutes, TaskRoutes, WorkRoutes
from slate_functions.tasks_api.values_routes import LockRoutes, ValueRoutes
from slate_functions.tasks_api.views_routes import ViewRoutes
from slate_functions.tasks_api.webhook_routes import WebhookRoutes


def tasks_groups(slate: Slate) -> tuple[object, ...]:
    """Every group of routes of the tasks API."""
    return (
        GraphRoutes(slate.planning),
        TaskRoutes(slate.steering),
        WorkRoutes(slate.working),
        ValueRoutes(slate.values),
        LockRoutes(slate.locks),
        EventRoutes(slate.following),
        ViewRoutes(slate.viewing),
        KeyRoutes(slate.access),
        WebhookRoutes(slate.webhooks),
        HealthRoutes(),
        DocsRoutes(tasks_document),
    )
