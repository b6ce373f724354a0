"""Examples of what the routes of webhooks take and give."""

from __future__ import annotations

from typing import Final

_AT: Final = "2026-11-30T12:00:00.000Z"
_URL: Final = "https://agents.example.com/slate"

CREATE_WEBHOOK: Final = {"url": _URL, "events": ["task.ready", "graph.completed"]}
WEBHOOK: Final = {
    "webhook_id": "w-4f1c2a",
    "url": _URL,
    "events": ["graph.completed", "task.ready"],
    "created_at": _AT,
    "created_by": "admin",
    "version": 1,
}
CREATED_WEBHOOK: Final = {**WEBHOOK, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="}  # nosec B105  # the page's own
WEBHOOK_PAGE: Final = {"items": [WEBHOOK], "next_cursor": None}
DELIVERY_PAGE: Final = {
    "items": [
        {
            "delivery_id": "d-9b0e7c",
            "webhook_id": "w-4f1c2a",
            "event_id": "e-51f3d8",
            "event": "task.ready",
            "event_at": _AT,
            "graph_id": "ticket-1042",
            "task_id": "refund",
            "state": "PENDING",
            "attempts": [
                {"number": 1, "at": _AT, "milliseconds": 38, "status": 503, "error": None},
            ],
            "next_attempt_at": "2026-11-30T12:00:05.300Z",
            "version": 2,
        }
    ],
    "next_cursor": None,
}
