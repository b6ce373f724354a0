"""The tasks API's app: its groups of routes over the use cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from slate.wiring.parts import Slate
from slate_functions.http.docs import DocsRoutes
from slate_functions.tasks_api.events_routes import EventRoutes
from slate_functions.tasks_api.health import HealthRoutes
from slate_functions.tasks_api.keys_routes import KeyRoutes
from slate_functions.tasks_api.routes import GraphRoutes, TaskRoutes, WorkRoutes
from slate_functions.tasks_api.values_routes import LockRoutes, ValueRoutes
from slate_functions.tasks_api.views_routes import ViewRoutes
from slate_functions.tasks_api.webhook_routes import WebhookRoutes

GROUPS: Final = (
    GraphRoutes,
    TaskRoutes,
    WorkRoutes,
    ValueRoutes,
    LockRoutes,
    EventRoutes,
    ViewRoutes,
    KeyRoutes,
    WebhookRoutes,
    HealthRoutes,
)
"""In the order of the document."""


def tasks_groups(slate: Slate, document: Callable[[], Mapping[str, Any]]) -> tuple[object, ...]:
    """Every group of routes of the tasks API; it serves the ``document`` of all APIs too."""
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
        DocsRoutes(document),
    )
