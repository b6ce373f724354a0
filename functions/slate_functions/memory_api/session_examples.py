"""Examples of what the routes of sessions take and give. Each is checked against its model."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"

PINNED: Final[dict[str, Any]] = {
    "goal": "quote a plan for 25 seats",
    "constraints": ["based in Germany"],
    "entities": {"orderId": "O-17"},
    "decisions": [],
    "plan": [{"step": "look up prices", "done": True}, {"step": "send the quote", "done": False}],
}
PINNED_STATE: Final[dict[str, Any]] = {
    **PINNED,
    "text": "Goal: quote a plan for 25 seats\nConstraints:\n- based in Germany\nEntities:\n- orderId: O-17\n"
    "Plan:\n- [x] look up prices\n- [ ] send the quote",
    "tokens": 46,
    "warnings": [],
    "version": 1,
}
PATCH_PINNED: Final = {"entities": {"orderId": "O-18"}, "decisions": ["annual billing"]}
PATCHED_PINNED: Final[dict[str, Any]] = {
    **PINNED_STATE,
    "entities": {"orderId": "O-18"},
    "decisions": ["annual billing"],
    "text": "Goal: quote a plan for 25 seats\nConstraints:\n- based in Germany\nEntities:\n- orderId: O-18\n"
    "Decisions:\n- annual billing\nPlan:\n- [x] look up prices\n- [ ] send the quote",
    "tokens": 52,
    "version": 2,
}

CREATE_SESSION: Final[dict[str, Any]] = {
    "session_id": "quote-2026-11-30",
    "subject": "customer-77",
    "system": "You quote prices.",
    "pinned": PINNED,
    "window": 128_000,
    "readers": ["sales-specialist"],
    "retention_days": 30,
}
SESSION: Final[dict[str, Any]] = {
    "session_id": "quote-2026-11-30",
    "subject": "customer-77",
    "agent": "sales-agent",
    "system": None,
    "window": 128_000,
    "readers": ["sales-specialist"],
    "retention_days": 30,
    "state": "open",
    "turns": 0,
    "exchanges": 0,
    "segment": 1,
    "segment_first": 1,
    "segment_exchanges": 0,
    "segment_tokens": 0,
    "edits": 0,
    "first_seq": None,
    "extraction_id": None,
    "created_at": _AT,
    "updated_at": _AT,
    "last_turn_at": None,
    "version": 1,
}
SHOWN_SESSION: Final[dict[str, Any]] = {
    **SESSION,
    "system": "You quote prices.",
    "pinned": PINNED_STATE,
    "summary": None,
    "model_usage": {"calls": 0, "input_tokens": 0, "output_tokens": 0},
}
SESSION_PAGE: Final = {"items": [SESSION], "next_cursor": None}

APPEND: Final[dict[str, Any]] = {
    "turns": [
        {"role": "user", "content": "Hello, I am in Germany and need 25 seats with SSO.", "client_id": "m-1"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call-1", "name": "price_of", "arguments": {"seats": 25}}],
            "client_id": "m-2",
        },
        {"role": "tool", "content": "25 seats: 1,250 EUR a year", "tool_call_id": "call-1", "client_id": "m-3"},
    ]
}


def _turn(seq: int, role: str, content: str, **more: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "role": role,
        "content": content,
        "name": None,
        "tool_calls": [],
        "tool_call_id": None,
        "client_id": f"m-{seq}",
        "tokens": 17,
        "importance": 5,
        "marks": [],
        "found": [],
        "segment": 1,
        "agent": "sales-agent",
        "at": _AT,
        "version": 1,
        **more,
    }


TURN: Final = _turn(1, "user", "Hello, I am in Germany and need 25 seats with SSO.")
APPENDED: Final[dict[str, Any]] = {
    "turns": [
        TURN,
        _turn(2, "assistant", "", tool_calls=[{"id": "call-1", "name": "price_of", "arguments": {"seats": 25}}]),
        _turn(
            3,
            "tool",
            "25 seats: 1,250 EUR a year",
            tool_call_id="call-1",
            marks=["tool"],
            found=[{"rule": "role.tool", "mark": "tool", "importance": None}],
        ),
    ]
}
TURN_PAGE: Final = {"items": APPENDED["turns"], "next_cursor": None}
PATCH_TURN: Final = {"marks": ["fact"], "importance": 8}
PATCHED_TURN: Final = {**TURN, "marks": ["fact"], "importance": 8, "version": 2}

SUMMARY_PAGE: Final[dict[str, Any]] = {
    "items": [
        {
            "segment": 1,
            "first_seq": 1,
            "last_seq": 30,
            "fields": {"intent": "a quote for 25 seats with SSO", "confirmed": ["based in Germany"]},
            "kept": ["The budget is $4,200, must be spent by March 15, except the printer line item."],
            "left_out": [4],
            "tokens": 61,
            "made_by": "rules-1 schema 1",
            "folded": False,
            "version": 1,
        }
    ],
    "next_cursor": None,
}
CLOSED: Final = {"extraction_id": "x-8fdd4f6e0a1b4f0c"}
EXTRACTION: Final[dict[str, Any]] = {
    "extraction_id": "x-8fdd4f6e0a1b4f0c",
    "session_id": "quote-2026-11-30",
    "subject": "customer-77",
    "state": "done",
    "decisions": [],
    "created_at": _AT,
    "updated_at": _AT,
    "version": 2,
}

PUT_VALUE: Final = {"value": 100}
PATCH_VALUE: Final = {"op": "increment", "value": -40}
VALUE: Final = {"key": "seats", "value": 25, "version": 4, "updated_at": _AT, "updated_by": "sales-agent"}
VALUE_PAGE: Final = {"items": [VALUE], "next_cursor": None}
CHANGED: Final = {"key": "seats", "version": 4, "deleted": False, "value": 25, "left_out": False}
CHANGES: Final = {"changes": [{"key": "seats", "op": "put", "value": 25}]}
CHANGED_VALUES: Final = {"items": [CHANGED]}
