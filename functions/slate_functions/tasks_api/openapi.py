"""The tasks API's OpenAPI document; ``python -m slate_functions.tasks_api.openapi`` prints it."""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any, Final

import slate
from slate_functions.http.openapi import document
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

DESCRIPTION: Final = (
    "Shared state for teams of AI agents: one task graph that planners write, workers claim from and people steer. "
    "Send an API key as `Authorization: Bearer`. Times are RFC 3339 UTC with milliseconds. Errors are "
    "`application/problem+json` with a stable `code`. Lists are paged by `limit` and `cursor`. A body has at most "
    "1 MB; unknown fields are refused. Put no personal data into ids: they are stored in clear."
)


@cache
def tasks_document() -> dict[str, Any]:
    """The document of every route of the tasks API."""
    return document(GROUPS, title="Slate", version=slate.__version__, description=DESCRIPTION)


def main() -> None:
    """Print it as it is checked in."""
    json.dump(tasks_document(), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
