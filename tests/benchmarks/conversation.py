"""What a context costs with all that belongs to it: what is said before and after, the work behind it, what it leaves."""

from __future__ import annotations

import random
from typing import Any, Final, NamedTuple

import httpx

from slate.testing.capacity import item_bytes
from slate.testing.in_process import InProcessSlate

EXCHANGES: Final = 10
"""Of a conversation; each is a user's turn, a context and the agent's turn."""
FACTS: Final = 20
"""That are known of the person when it begins."""
WORDS: Final = (25, 50)
"""Of a user's turn, and of an agent's."""
_VOCABULARY: Final = [
    "order",
    "price",
    "red",
    "blue",
    "delivery",
    "Friday",
    "invoice",
    "seat",
    "plan",
    "return",
    "label",
    "broken",
    "fixed",
    "thanks",
    "quote",
]
_ATTRIBUTES: Final = [f"thing-{i}" for i in range(FACTS)]


class PerContext(NamedTuple):
    """Of one context, the tenth part of a conversation."""

    reads: float
    writes: float
    calls: float
    """Of DynamoDB, one after the other for the most part."""
    messages: float
    """Of the queue of work on memory."""
    bytes: float
    """That it leaves in the tables, sealed."""


def measured() -> PerContext:
    """A whole conversation, counted and divided; what the clock alone brings due is not in it."""
    with InProcessSlate() as slate:
        http = slate.http()
        _know(http)
        _work(slate)
        before = _bytes(slate)
        with slate.meter() as cost:
            messages = _talk(slate, http)
        left = _bytes(slate) - before
        counted = (figure / EXCHANGES for figure in (cost.reads, cost.writes, cost.calls, messages))
        # An id is now and then a letter longer.
        return PerContext(*counted, bytes=round(left / EXCHANGES, -2))


def _know(http: httpx.Client) -> None:
    facts = [
        {"category": "other", "attribute": attribute, "statement": f"The {attribute} is blue", "value": "blue"}
        for attribute in _ATTRIBUTES
    ]
    http.post("/v1/subjects/ann/facts", json={"facts": facts}).raise_for_status()


def _talk(slate: InProcessSlate, http: httpx.Client) -> int:
    """Say it all, and close; answer how many messages that sent."""
    rng = random.Random(5)  # noqa: S311  # the same conversation each time
    http.post("/v1/sessions", json={"session_id": "s", "subject": "ann", "system": "Be brief."}).raise_for_status()
    sent = 0
    for _ in range(EXCHANGES):
        _say(http, "user", rng)
        http.post("/v1/context", json={"session": "s", "budget": {"total": 4_096}}).raise_for_status()
        _say(http, "assistant", rng)
        sent += _work(slate)
    http.post("/v1/sessions/s/close").raise_for_status()
    return sent + _work(slate)


def _say(http: httpx.Client, role: str, rng: random.Random) -> None:
    said = " ".join(rng.choices(_VOCABULARY, k=WORDS[role != "user"]))
    http.post("/v1/sessions/s/turns", json={"turns": [{"role": role, "content": said}]}).raise_for_status()


def _work(slate: InProcessSlate) -> int:
    """What streams and queues start, and not what the timer does: its polls cost the same without any context."""
    local, messages = slate.service.local, 0
    while True:
        read = sum(consume() for consume in local.consumers)
        taken = local.queues.run_once()
        messages += taken
        if not read + taken:
            return messages


def _bytes(slate: InProcessSlate) -> int:
    local = slate.service.local
    pages: Any = local.dynamodb.get_paginator("scan").paginate(TableName=local.slate.settings.table)
    return sum(item_bytes(item) for page in pages for item in page["Items"])
