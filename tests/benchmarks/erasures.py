"""What erasing a person costs by how much there is of them: calls, units, seconds; all of it should grow in a line.

The items are written straight into the table, as copies of real ones: turns of sessions, facts, receipts of contexts.
Counting reads every item before and after each write, so that the seconds are those of a second run without it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, Final

from slate.contract.erasures import AskErasure
from slate.domain.access import Principal, Scope
from slate.testing.in_process import InProcessSlate
from slate.testing.meter import Cost

SIZES: Final = (1_000, 10_000, 100_000)
TURNS: Final = 500
"""Of a session."""
PERSON: Final = "somebody"
ME: Final = Principal(tenant="acme", agent="officer", key_id="k", scopes=frozenset(Scope))


def main() -> None:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="*", default=SIZES)
    say("Erasing a person: DynamoDB of an engine in this process; units are those that AWS would bill\n")
    say(f"{'items':>9} {'calls':>9} {'read units':>11} {'write units':>11} {'seconds':>8}   an item: calls, units, ms")
    for size in parser.parse_args().items:
        cost, seconds = erased(size, metered=True)[0], erased(size, metered=False)[1]
        row = f"{size:>9,} {cost.calls:>9,} {cost.reads:>11,.0f} {cost.writes:>11,.0f} {seconds:>8.1f}"
        say(f"{row}   {cost.calls / size:.3f}, {cost.units / size:.2f}, {1000 * seconds / size:.2f}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def erased(size: int, *, metered: bool) -> tuple[Cost, float]:
    """Fill, erase, and say what that took."""
    with InProcessSlate() as running:
        filled(running, size)
        with running.meter() if metered else nullcontext(Cost()) as cost:
            started = time.perf_counter()
            to_the_receipt(running)
            return cost, time.perf_counter() - started


def to_the_receipt(running: InProcessSlate) -> None:
    """Without the rest of the service: only what erasing takes is counted."""
    slate, clock = running.service.slate, running.service.local.clock
    status = slate.privacy.erasing.ask(ME, AskErasure(subject=PERSON, reason="a benchmark"), None)
    while status.state != "RECEIPTED":
        clock.advance(max((status.next_at or 0) - clock.now(), 0) / 1000)
        slate.privacy.eraser.run_once()
        status = slate.privacy.erasing.get(ME, status.erasure_id)


def filled(running: InProcessSlate, size: int) -> None:
    """Of ten items eight are turns, one is a fact, one a receipt."""
    http = running.http("officer")
    sessions = max(size * 8 // 10 // TURNS, 1)
    http.post("/v1/sessions", json={"session_id": "s-0", "subject": PERSON})
    http.post("/v1/sessions/s-0/turns", json={"turns": [{"role": "assistant", "content": "word " * 60}]})
    http.post(f"/v1/subjects/{PERSON}/facts", json={"facts": [{"statement": "Likes rain", "category": "other"}]})
    http.post("/v1/context", json={"session": "s-0", "subject": PERSON, "query": "rain"})
    for requests in in_batches(copies(running, size, sessions)):
        running.service.local.dynamodb.batch_write_item(RequestItems={running.service.slate.settings.table: requests})


def copies(running: InProcessSlate, size: int, sessions: int) -> Iterator[Any]:
    table = running.service.slate.settings.table
    items = running.service.local.dynamodb.scan(TableName=table)["Items"]
    turn, fact, receipt, head, entry = (
        next(item for item in items if test(item["pk"]["S"], item["sk"]["S"]))
        for test in (
            lambda _, sk: sk.startswith("TURN#"),
            lambda _, sk: sk.startswith("FACT#"),
            lambda pk, _: "#C#" in pk,
            lambda _, sk: sk == "TURNS#HEAD",
            lambda pk, sk: "#U#" in pk and sk.startswith("SESSION#"),
        )
    )
    for number in range(1, sessions):
        pk = {"S": f"acme#S#s-{number}"}
        yield put(head, pk=pk, timer_sk={"S": head["timer_sk"]["S"].replace("#s-0#", f"#s-{number}#")})
        yield put(entry, sk={"S": f"{entry['sk']['S'].removesuffix('0')}{number}"})
    for number in range(size * 8 // 10):
        yield put(turn, pk={"S": f"acme#S#s-{number % sessions}"}, sk={"S": f"TURN#{number + 2:09d}"})
    for number in range(size // 10):
        yield put(fact, sk={"S": f"PAST#{number:010d}"})
        yield put(receipt, pk={"S": f"acme#C#c-{number:010d}"})


def put(like: Any, **other: Any) -> Any:
    """A copy under another key."""
    return {"PutRequest": {"Item": {**like, **other}}}


def in_batches(requests: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := [request for request, _ in zip(requests, range(25), strict=False)]:
        yield batch


if __name__ == "__main__":
    main()
