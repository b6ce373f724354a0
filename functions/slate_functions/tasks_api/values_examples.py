"""Examples of what the routes of values and locks take and give."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"
_LEASE_UNTIL: Final = "2026-11-30T12:01:00.000Z"
_TOKEN: Final = "AQxsb2NrLXRva2Vu"  # noqa: S105  # an example


def _changed(**changes: Any) -> dict[str, Any]:
    return {"key": "budget", "version": 4, "deleted": False, "value": 60, "left_out": False, **changes}


PUT: Final = {"value": 100}
PATCH: Final = {"op": "increment", "value": -40}
VALUE: Final = {"key": "budget", "value": 60, "version": 4, "updated_at": _AT, "updated_by": "billing-agent"}
VALUE_PAGE: Final = {"items": [VALUE], "next_cursor": None}
HISTORY_PAGE: Final = {
    "items": [VALUE, {**VALUE, "value": 100, "version": 3, "updated_by": "planner"}],
    "next_cursor": None,
}
PUT_VALUE: Final = _changed(value=100, version=3)
PATCHED_VALUE: Final = _changed()
CHANGES: Final = {
    "changes": [
        {"key": "budget", "op": "increment", "value": -40, "version": 3},
        {"key": "refunds", "op": "append", "value": {"order": "1042", "amount": 40}},
        {"key": "draft", "op": "delete"},
    ]
}
CHANGED: Final = {
    "items": [
        _changed(),
        _changed(key="refunds", version=1, value=[{"order": "1042", "amount": 40}]),
        _changed(key="draft", version=8, deleted=True, value=None),
    ]
}

ACQUIRE: Final = {"lease_seconds": 60, "wait_seconds": 10}
HELD: Final = {"name": "ledger", "token": _TOKEN, "epoch": 7, "lease_until": _LEASE_UNTIL}
BEAT: Final = {"token": _TOKEN, "lease_seconds": 60}
BEATEN: Final = {"epoch": 7, "lease_until": _LEASE_UNTIL}
RELEASE: Final = {"token": _TOKEN}
LOCK: Final = {"name": "ledger", "held": True, "holder": "billing-agent", "lease_until": _LEASE_UNTIL, "epoch": 7}
FREE: Final = {"name": "ledger", "held": False, "holder": None, "lease_until": None, "epoch": 7}
