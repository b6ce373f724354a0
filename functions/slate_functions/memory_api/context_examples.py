"""Examples of what the routes of contexts take and give: one question, late in a conversation."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-30T12:00:00.000Z"

ASK: Final = {
    "session": "chat-1042",
    "query": "what does it cost?",
    "budget": {"total": 1_500, "recent": 600},
    "format": "anthropic",
}


def _item(item_id: str, kind: str, text: str, tokens: int, **more: Any) -> dict[str, Any]:
    item = {
        "id": item_id,
        "kind": kind,
        "text": text,
        "tokens": tokens,
        "score": None,
        "why": None,
        "version": 1,
        "seq": None,
        "role": None,
        "name": None,
        "marks": [],
        "tool_calls": [],
        "tool_call_id": None,
    }
    return {**item, **more}


_SYSTEM: Final = "You quote prices."
_PINNED: Final = "Goal: quote a plan\nConstraints:\n- based in Germany"
_FIRST: Final = "Hello, I need 25 seats with SSO."
_NOW: Final = "And what does it cost?"

_SECTIONS: Final = [
    {"name": "system", "tokens": 13, "items": [_item("system", "system", _SYSTEM, 4)]},
    {"name": "pinned", "tokens": 22, "items": [_item("pinned", "pinned", _PINNED, 12)]},
    {
        "name": "first_message",
        "tokens": 25,
        "items": [_item("turn:1", "turn", _FIRST, 13, seq=1, role="user")],
    },
    {
        "name": "recent",
        "tokens": 20,
        "items": [_item("turn:201", "turn", _NOW, 10, seq=201, role="user")],
    },
]

CONTEXT: Final = {
    "context_id": "c-9f2e41",
    "agent": "sales-agent",
    "session": "chat-1042",
    "subject": "customer-77",
    "graph": None,
    "task": None,
    "query": "what does it cost?",
    "created_at": _AT,
    "sections": _SECTIONS,
    "breakdown": {"system": 13, "pinned": 22, "first_message": 25, "recent": 20},
    "total_tokens": 80,
    "budget": 1_500,
    "window": 128_000,
    "window_share": 0.0006,
    "stable_prefix_tokens": 46,
    "counted_by": "o200k_base",
    "dropped": [
        {"id": "turn:187", "section": "recent", "reason": "no room: it has 812 tokens, the section 580 left"},
    ],
    "warnings": [],
    "format": "anthropic",
    "text": None,
    "system": [{"type": "text", "text": _SYSTEM}, {"type": "text", "text": f"# Pinned state\n{_PINNED}"}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": _FIRST}, {"type": "text", "text": _NOW}]}],
    "converse": None,
}
