"""Examples of what the routes of exports take and give."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"

QUEUED: Final[dict[str, Any]] = {
    "export_id": "export-5f1b6c0e",
    "subject": "u-17",
    "agent": "privacy-officer",
    "state": "queued",
    "pages": 0,
    "lines": {},
    "created_at": _AT,
    "updated_at": _AT,
    "expires_at": "2026-12-07T12:00:00.000Z",
    "version": 1,
}
