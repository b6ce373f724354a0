"""Examples of what the routes of forgetting take and give. Each is checked against its model."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"
_UNTIL: Final = "2027-04-18T12:00:00.000Z"
_HERON: Final = "f019ad4b2c00011c3b2a7"
_UMBRELLA: Final = "f019ad4b2c0002be40d1c"

LOG_PAGE: Final[dict[str, Any]] = {
    "items": [
        {
            "log_id": "8b6f0a2d4c1e4d55",
            "fact_id": _HERON,
            "session_id": None,
            "seqs": [],
            "rule": "decay",
            "reason": "in limbo: neither used nor said again, its strength fell below 0.25",
            "actor": "slate",
            "at": _AT,
            "numbers": {
                "strength": 0.25,
                "start": 0.5,
                "importance": 5.0,
                "confidence": 0.8,
                "age_days": 60.0,
                "half_life_days": 60.0,
                "wakes": 0.0,
                "limbo_below": 0.25,
                "forget_below": 0.05,
            },
            "restorable_until": _UNTIL,
            "restored_at": None,
            "readers": [],
            "version": 1,
        }
    ],
    "next_cursor": None,
}
RESTORE_MANY: Final[dict[str, Any]] = {"rule": "decay", "since": "2026-11-01T00:00:00.000Z"}
RESTORED_MANY: Final[dict[str, Any]] = {
    "items": [
        {"fact_id": _HERON, "restored": True, "reason": None},
        {"fact_id": _UMBRELLA, "restored": False, "reason": "something newer was said of its slot: it is history"},
    ],
    "more": False,
}
FEEDBACK: Final[dict[str, Any]] = {"used": [_HERON], "noise": [_UMBRELLA]}
GIVEN_FEEDBACK: Final[dict[str, Any]] = {
    "context_id": "c-6f0a2d4c1e4d55aa",
    "raised": [_HERON],
    "lowered": [_UMBRELLA],
}
HEALTH: Final[dict[str, Any]] = {
    "healthy": False,
    "active": 41,
    "limbo": 6,
    "cap": 2000,
    "cap_full": False,
    "growth": {"flagged": False, "learned_30_days": 12, "gone_30_days": 4, "items": []},
    "duplicates": {"flagged": True, "items": [[_HERON, _UMBRELLA]]},
    "irrelevant": {"flagged": False, "items": []},
    "conflicts": {"flagged": False, "items": []},
    "stale": {"flagged": False, "items": []},
    "regret_rate": 0.02,
}
