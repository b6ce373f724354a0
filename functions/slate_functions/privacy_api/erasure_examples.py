"""Examples of what the routes of erasures take and give."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"

ASK_ERASURE: Final[dict[str, Any]] = {
    "subject": "u-17",
    "reason": "request by the person, by letter",
    "requested_at": "2026-11-28T00:00:00.000Z",
}
FENCED: Final[dict[str, Any]] = {
    "erasure_id": "e019ad4b2c0003e1f6a0c2d4b5a69",
    "state": "FENCED",
    "due_by": "2026-12-28T00:00:00.000Z",
    "subject": None,
    "reason": None,
    "asked_by": "privacy-officer",
    "requested_at": "2026-11-28T00:00:00.000Z",
    "received_at": _AT,
    "epoch": 1,
    "steps": [
        {"step": "RECEIVED", "at": _AT, "counts": {}},
        {"step": "FENCED", "at": _AT, "counts": {}},
    ],
    "under_way": None,
    "next_at": _AT,
    "failures": 0,
    "failure": None,
    "horizons": None,
    "version": 2,
}
RECEIPTED: Final[dict[str, Any]] = {
    **FENCED,
    "state": "RECEIPTED",
    "steps": [
        *FENCED["steps"],
        {"step": "KEYS_SHREDDED", "at": _AT, "counts": {"keys": 1}},
        {"step": "INDEX_DELETED", "at": _AT, "counts": {"vectors": 41}},
        {"step": "PRIMARY_DELETED", "at": _AT, "counts": {"facts": 12, "objects": 2, "sessions": 96}},
        {"step": "DRAINED", "at": "2026-12-04T13:00:00.000Z", "counts": {"sessions": 3}},
        {"step": "EXPUNGED", "at": "2026-12-04T13:01:00.000Z", "counts": {}},
        {"step": "VERIFIED", "at": "2026-12-04T13:01:00.000Z", "counts": {}},
        {"step": "RECEIPTED", "at": "2026-12-04T13:01:00.000Z", "counts": {}},
    ],
    "next_at": "2027-01-08T13:00:00.000Z",
    "horizons": {
        "keys": "2026-12-01T12:00:00.000Z",
        "snapshots": "2026-12-18T13:01:00.000Z",
        "backups": "2027-01-08T13:00:00.000Z",
    },
    "version": 13,
}
ERASURE_PAGE: Final[dict[str, Any]] = {"items": [RECEIPTED], "next_cursor": None}
