"""Scores of different kinds made comparable: each leg is stretched to 0..1 over the candidates, then they are mixed.

Ranks alone (reciprocal rank fusion) lose what a weak leg does not know; see docs/retrieval.md for what was measured.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def stretched(scores: Mapping[Name, float]) -> dict[Name, float]:
    """Each score between the least (0) and the greatest (1); where all are alike, 1 if they say something."""
    if not scores:
        return {}
    least, most = min(scores.values()), max(scores.values())
    if most <= least:
        return dict.fromkeys(scores, 1.0 if most > 0 else 0.0)
    return {name: (score - least) / (most - least) for name, score in scores.items()}


def fused(
    lexical: Mapping[Name, float], likeness: Mapping[Name, float], share: float
) -> dict[Name, tuple[float, float]]:
    """Of each candidate what its words and what its vector add; ``share`` is the vector's, 0 without vectors."""
    if not any(likeness.values()):
        share = 0.0
    words, vectors = stretched(lexical), stretched(likeness)
    return {
        name: ((1 - share) * words.get(name, 0.0), share * vectors.get(name, 0.0)) for name in {**lexical, **likeness}
    }
