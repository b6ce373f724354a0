"""Many tenants share one index of a real node: nobody finds another's, and the filter takes nothing of one's own away."""

from __future__ import annotations

import pytest

from opensearch_node.crowd import Crowd
from opensearch_node.fixture import Node
from opensearch_node.indices import made_on
from slate.adapters.opensearch.places import places
from slate.domain.indexed import Kind, Place

SMALL, SOME = Crowd(each=10, dimension=64), 200
WHOLE, MANY = Crowd(), 1_000


@pytest.mark.parametrize(("crowd", "queries"), [(SMALL, SOME), pytest.param(WHOLE, MANY, marks=pytest.mark.race)])
@pytest.mark.parametrize("native", [True, False], ids=["production", "lucene"])
def test_no_search_finds_another_tenants_or_misses_ones_own(
    opensearch_node: Node, crowd: Crowd, queries: int, native: bool
):
    """The mapping of production compares one by one here, so it tests the filter; Lucene's graph tests finding by one."""
    with made_on(opensearch_node.address, crowd.embedder, native=native, at_once=False) as made:
        crowd.fill(made)
        found = crowd.ask(made.index, queries)
        assert set(crowd.complete(made.index)) == {(crowd.each, 0)}
        everywhere = {Place(f"tenant-{n}", Kind.EPISODE, f"person-{m}") for n in range(100) for m in range(10)}
        assert set(places(made.transport, None, made.aliases)) == everywhere
    assert found.foreign == 0
    assert found.off < 1e-3
    assert found.recall == 1 if native else found.recall > 0.95, f"recall@10 {found.recall:.4f}"
