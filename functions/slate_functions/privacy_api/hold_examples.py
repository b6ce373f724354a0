"""Examples of what the routes of holds take and give."""

from __future__ import annotations

from typing import Any, Final

CREATE_HOLD: Final[dict[str, Any]] = {
    "subject": "u-17",
    "reason": "claim 2026-118 is before the court",
    "until": "2027-05-31T00:00:00.000Z",
}
HOLD: Final[dict[str, Any]] = {
    "hold_id": "h-5f1b6c0e",
    **CREATE_HOLD,
    "created_at": "2026-11-30T12:00:00.000Z",
    "created_by": "privacy-officer",
}
HOLD_PAGE: Final[dict[str, Any]] = {"items": [HOLD], "next_cursor": None}
