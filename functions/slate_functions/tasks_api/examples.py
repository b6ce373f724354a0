"""Examples of what the routes take and give: one refund, from plan to result. Each is checked against its model."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"
_LEASE_UNTIL: Final = "2026-11-30T12:01:00.000Z"
_TOKEN: Final = "AQx0b2tlbi1vZi10aGUtY2xhaW0"  # noqa: S105  # an example
_TRIAGE: Final = {"task_id": "triage", "title": "Read the ticket", "role": "triage"}
_REFUND: Final = {
    "task_id": "refund",
    "title": "Refund order 1042",
    "role": "billing-specialist",
    "input": {"order": "1042", "amount": "40.00 EUR"},
    "depends_on": ["triage"],
    "priority": 7,
}
_REPLY: Final = {"task_id": "reply", "title": "Answer the customer", "role": "writer", "depends_on": ["refund"]}

CREATE_GRAPH: Final = {
    "graph_id": "ticket-1042",
    "goal": "Settle the refund of ticket 1042",
    "tasks": [_TRIAGE, _REFUND],
}
ADD_TASKS: Final = {"tasks": [_REPLY]}
CLAIM: Final = {"roles": ["billing-specialist"], "max": 1, "wait_seconds": 20}
BEAT: Final = {"token": _TOKEN, "progress": {"step": 2, "of": 3}}
COMPLETE: Final = {
    "token": _TOKEN,
    "action": "issued the refund",
    "result": {"refund_id": "r-77"},
    "values": [{"key": "budget", "op": "increment", "value": -40}],
}
FAIL: Final = {"token": _TOKEN, "error": "the payment provider did not answer"}
RELEASE: Final = {"token": _TOKEN}
ASK: Final = {"token": _TOKEN, "question": "Refund 40.00 EUR although the order is 61 days old?"}
RESUME: Final = {"answer": "yes", "epoch": 2}
RETRY: Final = {"cascade": True}
CREATE_KEY: Final = {"agent": "billing-agent", "scopes": ["tasks:read", "tasks:write"], "roles": ["billing-specialist"]}


def _graph(**changes: Any) -> dict[str, Any]:
    none = dict.fromkeys(("blocked", "ready", "running", "delayed", "waiting", "done", "failed", "cancelled"), 0)
    graph = {
        "graph_id": "ticket-1042",
        "goal": "Settle the refund of ticket 1042",
        "queue": "default",
        "subject": None,
        "retention_days": 7,
        "state": "ACTIVE",
        "version": 1,
        "created_at": _AT,
        "updated_at": _AT,
        "counts": {**none, "blocked": 1, "ready": 1},
        "tasks": None,
    }
    return {**graph, **changes}


def _task(**changes: Any) -> dict[str, Any]:
    task = {
        **_REFUND,
        "depends_on": [{"task_id": "triage", "kind": "success"}],
        "max_attempts": 3,
        "backoff_seconds": 5,
        "lease_seconds": 60,
        "parent_task": None,
        "needs_approval": False,
        "graph_id": "ticket-1042",
        "queue": "default",
        "state": "RUNNING",
        "agent": "billing-agent",
        "action": None,
        "result": None,
        "artifacts": [],
        "error": None,
        "cause": None,
        "attempts": 1,
        "epoch": 1,
        "lease_until": _LEASE_UNTIL,
        "due_at": None,
        "question": None,
        "answer": None,
        "progress": None,
        "waiting_on": [],
        "unlocking": False,
        "history": [{"at": _AT, "event": "claimed", "agent": "billing-agent", "epoch": 1}],
        "created_at": _AT,
        "updated_at": _AT,
        "version": 3,
    }
    return {**task, **changes}


_IDLE: Final = {"lease_until": None, "epoch": 2, "version": 4, "attempts": 0}

GRAPH: Final = _graph()
CANCELLING_GRAPH: Final = _graph(state="CANCELLING", version=2)
GRAPH_PAGE: Final = {"items": [GRAPH], "next_cursor": None}
TASK: Final = _task()
TASK_PAGE: Final = {"items": [TASK], "next_cursor": None}
ANSWERED_TASK: Final = _task(**_IDLE, state="READY", question=ASK["question"], answer="yes")
WAITING_TASK: Final = _task(**_IDLE, state="WAITING", question=ASK["question"])
CANCELLED_TASK: Final = _task(**_IDLE, state="CANCELLED", cause="cancelled by support-lead")
RETRIED_TASK: Final = _task(**_IDLE, state="READY")
DELAYED_TASK: Final = _task(
    state="DELAYED", epoch=2, version=4, lease_until=None, error=FAIL["error"], due_at="2026-11-30T12:00:04.200Z"
)
ADDED: Final = {
    "graph": _graph(counts={**GRAPH["counts"], "blocked": 2}),
    "tasks": [
        _task(
            **_REPLY
            | {
                "input": None,
                "priority": 5,
                "depends_on": [{"task_id": "refund", "kind": "success"}],
                "state": "BLOCKED",
                "agent": None,
                "attempts": 0,
                "epoch": 0,
                "lease_until": None,
                "waiting_on": ["refund"],
                "history": [],
                "version": 1,
            }
        )
    ],
    "added": 1,
}
CLAIMS: Final = {"claims": [{"task": TASK, "token": _TOKEN, "epoch": 1, "lease_until": _LEASE_UNTIL}]}
HEARTBEAT: Final = {"lease_until": _LEASE_UNTIL, "cancel_requested": False}
COMPLETED: Final = {
    **_task(state="DONE", lease_until=None, action=COMPLETE["action"], result=COMPLETE["result"], version=4),
    "unlocked": ["reply"],
}
_KEY: Final = {
    "key_id": "k-5f0c9a",
    "agent": "billing-agent",
    "scopes": ["tasks:read", "tasks:write"],
    "roles": ["billing-specialist"],
    "subject": None,
    "created_at": _AT,
    "created_by": "admin",
    "revoked_at": None,
    "version": 1,
}
CREATED_KEY: Final = {**_KEY, "key": "slate_acme.k-5f0c9a.the-secret-shown-once"}
KEY_PAGE: Final = {"items": [_KEY], "next_cursor": None}
REVOKED_KEY: Final = {**_KEY, "revoked_at": _LEASE_UNTIL, "version": 2}
HEALTH: Final = {"status": "ok", "version": "0.1.0"}
