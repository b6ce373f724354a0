"""A real OpenSearch node: how long it takes to start, to be filled, and to be searched; and what a search misses.

    python -m benchmarks.opensearch

10,000 vectors of 256 numbers in one index, of 100 tenants and of one alone; 1,000 random searches, each in one tenant.
The mapping of production compares so few one by one; beside it stands Lucene's own graph of neighbours (HNSW), which
walks the graph where a tenant has many.
"""

from __future__ import annotations

import sys
import time

from opensearch_node.crowd import TOP, Crowd
from opensearch_node.indices import made_on
from opensearch_node.node import NoNode, fetch, running, version

QUERIES = 1_000


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
        filled = time.perf_counter() - began
        crowd.ask(made.index, 100)  # the compiler warms up
        found = crowd.ask(made.index, QUERIES)
    say(
        f"  {name:<15} filled in {filled:5.1f} s   p50 {found.percentile(0.5):5.1f} ms   p95 {found.percentile(0.95):5.1f} ms"
        f"   recall@{TOP} {found.recall:.4f}   of other tenants {found.foreign}"
    )


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
