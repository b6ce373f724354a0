"""A context of a long session against the naive way, which reads all turns and keeps the last that fit."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

import httpx

from slate.domain.errors import NotFound
from slate.testing.in_process import InProcessSlate

TURNS: Final = 10_000
TIMES: Final = 60
TOTAL: Final = 4_096
_WORDS: Final = [
    "order",
    "price",
    "red",
    "blue",
    "delivery",
    "Friday",
    "invoice",
    "seat",
    "plan",
    "Germany",
    "return",
    "label",
    "broken",
    "fixed",
    "thanks",
    "quote",
]


def fill(http: httpx.Client, session_id: str, turns: int) -> None:
    """A session of so many turns."""
    rng = random.Random(7)  # noqa: S311  # a conversation, not a secret
    http.post("/v1/sessions", json={"session_id": session_id, "system": "You answer customers."}).raise_for_status()
    said = [
        {"role": "user" if i % 2 == 0 else "assistant", "content": f"{i}: " + " ".join(rng.choices(_WORDS, k=25))}
        for i in range(turns)
    ]
    for start in range(0, turns, 100):
        http.post(f"/v1/sessions/{session_id}/turns", json={"turns": said[start : start + 100]}).raise_for_status()


def by_slate(http: httpx.Client, session_id: str) -> None:
    """One call."""
    http.post("/v1/context", json={"session": session_id, "budget": {"total": TOTAL}}).raise_for_status()


def naively(http: httpx.Client, session_id: str) -> None:
    """Every turn is read, and the last ones kept by their tokens."""
    turns: list[dict[str, Any]] = []
    params: dict[str, str] = {"limit": "200"}
    while True:
        page = http.get(f"/v1/sessions/{session_id}/turns", params=params).raise_for_status().json()
        turns += page["items"]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    room, kept = TOTAL, []
    for turn in reversed(turns):
        room -= turn["tokens"]
        if room < 0:
            break
        kept.append(turn)
    if not kept:
        raise NotFound("nothing was said")


def timed(act: Callable[[], None], times: int) -> str:
    """p50 and p95 in milliseconds."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        taken.append((time.perf_counter() - started) * 1000)
    return f"{statistics.median(taken):8.1f} / {statistics.quantiles(taken, n=20)[-1]:8.1f}"


def main() -> None:
    """Print a row for each way, in a session of 200 turns and one of 10,000."""
    print(f"a context of {TOTAL:,} tokens, p50 / p95 in ms, and what it reads")  # noqa: T201  # what it is for
    with InProcessSlate() as slate:
        http = slate.http()
        for turns in (200, TURNS):
            session_id = f"s-{turns}"
            fill(http, session_id, turns)
            slate.drain()
            for name, act, times in (("slate", by_slate, TIMES), ("read all, trim", naively, 5)):
                act(http, session_id)
                shown = timed(lambda act=act, session_id=session_id: act(http, session_id), times)  # type: ignore[misc]  # bound at once
                with slate.meter() as cost:
                    act(http, session_id)
                print(  # noqa: T201  # what it is for
                    f"{turns:6,} turns   {name:14}   {shown}   {cost.calls:3d} calls   {cost.reads:7.1f} RCU"
                    f"   {cost.writes:5.1f} WCU"
                )


if __name__ == "__main__":
    main()
