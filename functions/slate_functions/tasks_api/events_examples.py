"""Examples of the change feed, for the documentation."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"
_TASK: Final = {"graph_id": "order-1042", "task_id": "refund", "role": "billing-specialist", "queue": "default"}
_OF_SERVICE: Final[dict[str, Any]] = {"at": _AT, "agent": None}

FEED_PAGE: Final[dict[str, Any]] = {
    "items": [
        {
            "seq": 1,
            "type": "graph.created",
            "graph_id": "order-1042",
            "task_id": None,
            "state": "ACTIVE",
            "epoch": None,
            "role": None,
            "queue": "default",
            "version": 1,
            **_OF_SERVICE,
        },
        {"seq": 2, "type": "task.ready", "state": "READY", "epoch": 0, "version": 1, **_TASK, **_OF_SERVICE},
        {
            "seq": 3,
            "at": "2026-11-30T12:00:02.400Z",
            "type": "task.claimed",
            "state": "RUNNING",
            "agent": "worker-7",
            "epoch": 1,
            "version": 2,
            **_TASK,
        },
    ],
    "next_after": 3,
}
