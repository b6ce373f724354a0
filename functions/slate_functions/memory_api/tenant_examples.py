"""Examples of what the routes of a tenant's settings take and give. Each is checked against its model."""

from __future__ import annotations

from typing import Any, Final

_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "intent": {"type": "string", "description": "what the user wants, in one sentence"},
        "confirmed": {"type": "array", "items": {"type": "string"}},
        "outstanding": {"type": "array", "items": {"type": "string"}},
        "order_ids": {"type": "array", "items": {"type": "string"}, "description": "every order that was named"},
    },
    "required": ["intent", "confirmed", "outstanding"],
}

PUT_TENANT: Final = {
    "summary_schema": _SCHEMA,
    "extract": "segment",
    "sensitive_categories": ["health"],
    "closed_categories": ["task"],
    "refused_words": ["project nightingale"],
}
TENANT: Final = {
    **PUT_TENANT,
    "restore_days": 30,
    "summary_schema_version": 2,
    "version": 1,
    "warnings": [],
}
