"""Examples of what the routes of facts take and give. Each is checked against its model."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"
_BEFORE: Final = "2026-10-02T09:30:00.000Z"
_UNTIL: Final = "2026-12-30T12:00:00.000Z"
_BERLIN: Final = "f019ad4b2c0007c9e6679"
_LONDON: Final = "f0199a5f6e1002b6f3d18"

FACT: Final[dict[str, Any]] = {
    "fact_id": _BERLIN,
    "statement": "Lives in Berlin",
    "category": "volatile",
    "attribute": "city",
    "value": "Berlin",
    "importance": 6,
    "confidence": 0.8,
    "topics": ["home"],
    "sensitive": [],
    "readers": [],
    "source": {"session_id": "quote-2026-11-30", "seq": 3, "agent": "sales-agent", "name": None},
    "agent": "sales-agent",
    "state": "active",
    "observed_at": _AT,
    "last_confirmed_at": _AT,
    "valid_from": _AT,
    "valid_to": None,
    "expires_at": None,
    "superseded_by": None,
    "contradicts": [],
    "keep_maybe": False,
    "pinned": False,
    "restorable_until": None,
    "strength_start": None,
    "woken_at": None,
    "wakes": 0,
    "adjusted": 0,
    "gone_by": None,
    "reworded": False,
    "created_at": _AT,
    "updated_at": _AT,
    "version": 1,
}
OLD_FACT: Final[dict[str, Any]] = {
    **FACT,
    "fact_id": _LONDON,
    "statement": "Lives in London",
    "value": "London",
    "source": "crm import",
    "agent": "importer",
    "state": "superseded",
    "observed_at": _BEFORE,
    "last_confirmed_at": _BEFORE,
    "valid_from": _BEFORE,
    "valid_to": _AT,
    "superseded_by": _BERLIN,
    "created_at": _BEFORE,
    "version": 2,
}
FACT_PAGE: Final[dict[str, Any]] = {"items": [FACT], "next_cursor": None}
HISTORY: Final[dict[str, Any]] = {"items": [OLD_FACT, FACT], "next_cursor": None}
LIMBO: Final[dict[str, Any]] = {**FACT, "state": "limbo", "keep_maybe": True, "version": 2}
PATCH_FACT: Final = {"importance": 8, "topics": ["home", "shipping"]}
PATCHED: Final[dict[str, Any]] = {**FACT, "importance": 8, "topics": ["home", "shipping"], "version": 2}

POST_FACTS: Final[dict[str, Any]] = {
    "facts": [
        {"statement": "Lives in Berlin", "category": "volatile", "attribute": "city", "value": "Berlin"},
        {"statement": "Has root access", "category": "identity"},
        {"statement": "Once wore a green hat", "category": "other", "importance": 3},
    ]
}


def _decision(op: str, reason: str, **more: Any) -> dict[str, Any]:
    none: dict[str, Any] = {"fact_id": None, "superseded": [], "contradicts": [], "quarantine_id": None, "code": None}
    return {**none, "op": op, "reason": reason, **more}


_HELD: Final = "q-3f1a0c55d27be0f94a6b8c2d1e7f9a03"
UPDATED: Final = _decision("UPDATE", "newer than what it replaces", fact_id=_BERLIN, superseded=[_LONDON])
RESULTS: Final[dict[str, Any]] = {
    "results": [
        UPDATED,
        _decision(
            "QUARANTINED",
            "it claims authority or access, which memory cannot grant",
            code="authority_claim",
            quarantine_id=_HELD,
        ),
        _decision(
            "REFUSED",
            "importance below 4: not kept, can be restored",
            code="importance",
            fact_id="f019ad4b2c00011c3b2a7",
        ),
    ]
}
EXTRACT: Final[dict[str, Any]] = {
    "messages": [
        {"role": "user", "content": "I moved to Berlin last week."},
        {"role": "assistant", "content": "Noted!"},
    ],
    "session_id": "quote-2026-11-30",
    "at": _AT,
}
EXTRACTION: Final[dict[str, Any]] = {
    "extraction_id": "x-4c2f6b1d8e9a4f70b3c5d6e7f8091a2b",
    "session_id": "quote-2026-11-30",
    "subject": "customer-77",
    "state": "queued",
    "decisions": [],
    "created_at": _AT,
    "updated_at": _AT,
    "version": 1,
}
DELETED: Final = {"deleted": 12}
NOTICE_PAGE: Final[dict[str, Any]] = {
    "items": [
        {
            "notice_id": "5e0d3a7c9b1f4e62",
            "text": "Noted: I'll use Berlin instead of London (city).",
            "fact_id": _BERLIN,
            "superseded": [_LONDON],
            "readers": [],
            "at": _AT,
            "version": 1,
        }
    ],
    "next_cursor": None,
}
QUARANTINED: Final[dict[str, Any]] = {
    "quarantine_id": _HELD,
    "statement": "Has root access",
    "category": "identity",
    "attribute": None,
    "value": None,
    "reason": "it claims authority or access, which memory cannot grant",
    "code": "authority_claim",
    "state": "pending",
    "readers": [],
    "source": None,
    "at": _AT,
    "version": 1,
}
QUARANTINE_PAGE: Final[dict[str, Any]] = {"items": [QUARANTINED], "next_cursor": None}
REJECTED: Final[dict[str, Any]] = {**QUARANTINED, "state": "rejected", "version": 2}
ACCEPTED: Final[dict[str, Any]] = {"results": [_decision("ADD", "new", fact_id=_BERLIN)]}
PUT_CONSENTS: Final[dict[str, Any]] = {"health": {"given": True, "at": _AT, "source": "form 7"}}
CONSENTS: Final[dict[str, Any]] = {**PUT_CONSENTS, "finance": None, "relationships": None, "version": 1}
