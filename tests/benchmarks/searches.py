"""How long a search among the turns of one person takes, by how many there are, and beside a thousand tenants.

    python -m benchmarks.searches [ITEMS ...]

The local index is exact: it looks at every turn of the person, and at nobody else's.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.inprocess.vector_rows import HAS_NUMPY
from slate.domain.indexed import Entry, entry_of_turn
from slate.domain.sessions import Speaker, Turn
from slate.domain.vectors import normalised
from slate.service.search.turns import TurnSearch

SIZES = (100, 10_000, 100_000)
TENANTS = 1_000
QUERIES = 60
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("lan", "mir", "tok", "ves", "dun", "gar")]


def entries(count: int, scope: str, seed: int) -> Iterator[Entry]:
    """Turns of twelve words, some common and most rare; a vector of forty places, as such a turn's has."""
    rng = random.Random(seed)  # noqa: S311  # a workload
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    before: list[Turn] = []
    for i in range(count):
        text = " ".join(rng.choices(WORDS, weights, k=12))
        turn = Turn(seq=i % 200 + 1, role=Speaker.USER, content=text, tokens=0, at=1_700_000_000_000 + i)
        entry = entry_of_turn(turn, before, session_id=f"{scope}-{i // 200}", scope=scope)
        places = [0.0] * HashingEmbedder.dimension
        for _ in range(40):
            places[rng.randrange(len(places))] += rng.choice((1, -1))
        yield replace(entry, vector=normalised(places), embedder=HashingEmbedder.name)
        before = [*before[-1:], turn]


def filled(index: InProcessMemoryIndex, tenant: str, count: int, scope: str) -> None:
    some: list[Entry] = []
    for entry in entries(count, scope, len(tenant)):
        some.append(entry)
        if len(some) == 1_000:
            index.put(tenant, some)
            some = []
    index.put(tenant, some)


def times(search: TurnSearch, tenant: str, scope: str) -> list[float]:
    rng, taken = random.Random(2), []  # noqa: S311  # a workload
    for _ in range(QUERIES):
        query = " ".join(rng.choices(WORDS, k=4))
        began = time.perf_counter()
        search.best(tenant, [scope], query, 10)
        taken.append((time.perf_counter() - began) * 1000)
    return sorted(taken)


def say(name: str, taken: list[float]) -> None:
    p50, p95 = taken[len(taken) // 2], taken[int(len(taken) * 0.95)]
    sys.stdout.write(f"{name:<42} p50 {p50:8.1f} ms   p95 {p95:8.1f} ms\n")


def main() -> None:
    sizes = tuple(int(size) for size in sys.argv[1:]) or SIZES
    sys.stdout.write(f"vectors compared {'by numpy' if HAS_NUMPY else 'in plain Python'}\n")
    for size in sizes:
        index = InProcessMemoryIndex()
        filled(index, "acme", size, "ann")
        say(f"{size:,} turns of one person", times(TurnSearch(index, HashingEmbedder()), "acme", "ann"))
    index = InProcessMemoryIndex()
    for number in range(TENANTS):
        filled(index, f"tenant-{number}", 100, "ann")
    say(
        f"100 turns, beside {TENANTS - 1:,} tenants with 100 each",
        times(TurnSearch(index, HashingEmbedder()), "tenant-7", "ann"),
    )


if __name__ == "__main__":
    main()
