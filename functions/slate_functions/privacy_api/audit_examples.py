"""Examples of what the routes of the audit give."""

from __future__ import annotations

from typing import Any, Final

_HASH: Final = "5a1f0c6d9e7b4a3c2f1e0d9c8b7a69584736251403f2e1d0c9b8a79685746352"
_TEXT: Final = (
    '{"act":"POST /v1/context","agent":"support","at":1796040000000,"deed":"Jx3kVh","items":["context c-7 - -",'
    '"fact f-42 3 9f86d081884c7d65"],"key_id":"k-1","phase":"done","ref":"b1946ac92492d2347c6235b4d2611184",'
    '"session":"chat-1042","verb":"serve"}'
)

ENTRY: Final[dict[str, Any]] = {
    "at": "2026-11-30T12:00:00.000Z",
    "deed": "Jx3kVh",
    "phase": "done",
    "verb": "serve",
    "act": "POST /v1/context",
    "agent": "support",
    "key_id": "k-1",
    "ref": "b1946ac92492d2347c6235b4d2611184",
    "session": "chat-1042",
    "code": None,
    "items": [
        {"kind": "context", "id": "c-7", "version": None, "digest": None, "gone": False},
        {"kind": "fact", "id": "f-42", "version": 3, "digest": "9f86d081884c7d65", "gone": False},
    ],
    "more": 0,
    "day": "2026-11-30",
    "shard": 7,
    "number": 118,
    "hash": _HASH,
}
PAGE: Final = {"items": [ENTRY], "next_cursor": None}
CHAINS: Final = {
    "tenant": "acme",
    "day": "2026-11-30",
    "items": [{"day": "2026-11-30", "shard": 7, "number": 1, "previous": "", "hash": _HASH, "text": _TEXT}],
    "next_cursor": None,
    "root": None,
    "before": None,
}
