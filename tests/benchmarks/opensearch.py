"""A real OpenSearch node: how long it takes to start, to be filled, and to be searched; and what a search misses.

    python -m benchmarks.opensearch

10,000 vectors of 256 numbers in one index, of 100 tenants and of one alone; 1,000 random searches for ten candidates
and 200 for 200, each in one tenant. The mapping of production compares so few one by one; beside it stands Lucene's
own graph of neighbours (HNSW), which walks the graph where a tenant has many.
"""

from __future__ import annotations

import sys
import time

from opensearch_node.crowd import TOP, Crowd
from opensearch_node.indices import made_on
from opensearch_node.node import NoNode, fetch, running, version

QUERIES, FEWER = 1_000, 200
CANDIDATES = 200
"""What a recall asks for, before it ranks them by more than likeness."""


def main() -> None:
    try:
        fetch()
        began = time.perf_counter()
        with running() as address:
            say(f"OpenSearch {version()} answers after {time.perf_counter() - began:.1f} s")
            for crowd in (Crowd(), Crowd(tenants=1, each=10_000)):
                say(f"{crowd.tenants * crowd.each:,} vectors, tenants: {crowd.tenants}")
                measure(address, "production", crowd, native=True)
                measure(address, "Lucene's graph", crowd, native=False)
    except NoNode as error:
        say(f"no OpenSearch node: {error}")


def measure(address: str, name: str, crowd: Crowd, *, native: bool) -> None:
    with made_on(address, crowd.embedder, native=native, at_once=False) as made:
        began = time.perf_counter()
        crowd.fill(made)
        say(f"  {name}, filled in {time.perf_counter() - began:.1f} s")
        crowd.ask(made.index, 100)  # the compiler warms up
        for candidates, queries in ((TOP, QUERIES), (CANDIDATES, FEWER)):
            found = crowd.ask(made.index, queries, candidates)
            p50, p95 = found.percentile(0.5), found.percentile(0.95)
            say(
                f"    {candidates:3} candidates   p50 {p50:5.1f} ms   p95 {p95:5.1f} ms   recall@{TOP} {found.recall:.4f}"
                f"   of other tenants {found.foreign}"
            )


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
