"""Episodes and parts of documents for a query: words and vector, fused; nothing else is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest

from slate.domain.ranking.fusion import fused
from slate.domain.ranking.turns import Ranked


def best_passages(
    lexical: Mapping[str, float], likeness: Mapping[str, float], *, share: float, count: int
) -> list[Ranked]:
    """The best of these candidates, each with what its words and its vector add."""
    legs = fused(lexical, likeness, share)
    ranked = [
        Ranked(name, words + vector, {"relevance": words + vector, "words": words, "vector": vector})
        for name, (words, vector) in legs.items()
    ]
    return nlargest(count, ranked, key=lambda each: (each.score, each.name))
