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
    "half_lives": {"task": 14},
    "category_retention_days": {"volatile": 730},
}
TENANT: Final = {
    **PUT_TENANT,
    "restore_days": 30,
    "half_lives": {
        "identity": 365,
        "preference": 180,
        "constraint": 365,
        "volatile": 180,
        "decision": 120,
        "task": 14,
        "other": 60,
    },
    "limbo_below": 0.25,
    "forget_below": 0.05,
    "fact_cap": 2000,
    "low_churn": ["timezone", "language", "response_language", "diet", "accessibility"],
    "category_retention_days": {"volatile": 730},
    "session_retention_days": None,
    "wake_similarity": 0.6,
    "reflection": True,
    "recall": True,
    "summary_schema_version": 2,
    "version": 1,
    "warnings": [],
}
