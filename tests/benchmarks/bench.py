"""Claim and complete through HTTP on a local server: ``make bench`` prints p50 and p95."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from serving import Served, serving
from slate.client import SlateClient

CYCLES = 400


def cycles(server: Served, queue: str, count: int) -> list[tuple[float, float]]:
    """Seconds of each claim and of its completion."""
    times: list[tuple[float, float]] = []
    with SlateClient(*server) as client:
        for _ in range(count):
            started = time.perf_counter()
            claims = client.claim(["runner"], queue=queue)
            claimed = time.perf_counter()
            for claim in claims:
                client.complete(claim, "ran", {"ok": True})
                times.append((claimed - started, time.perf_counter() - claimed))
    return times


def measure(server: Served, clients: int) -> None:
    """One row: so many clients work off one queue side by side."""
    queue = f"bench-{clients}"
    specs = [{"task_id": f"t{i}", "title": "t", "role": "runner"} for i in range(CYCLES)]
    with SlateClient(*server) as client:
        client.create_graph(goal="bench", queue=queue, tasks=specs)
    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        parts = pool.map(lambda _: cycles(server, queue, CYCLES // clients), range(clients))
        times = [pair for part in parts for pair in part]
    rate = len(times) / (time.perf_counter() - started)
    columns = zip(("claim", "complete", "cycle"), (*zip(*times, strict=True), [a + b for a, b in times]), strict=True)
    shown = "   ".join(f"{name} {_of(values, 50):5.1f} / {_of(values, 95):5.1f}" for name, values in columns)
    print(f"{clients:2d} client(s)   {shown}   {rate:5.0f} cycles/s")  # noqa: T201  # what it is for


def _of(values: list[float] | tuple[float, ...], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1] * 1000


def main() -> None:
    """Print a row for one client, and one for eight."""
    print(f"{CYCLES} cycles of claim + complete over HTTP, p50 / p95 in ms")  # noqa: T201  # what it is for
    with serving() as server:
        for clients in (1, 8):
            measure(server, clients)


if __name__ == "__main__":
    main()
