"""Vectors of texts: of length one or, where a text says nothing, zero; so that a dot product is their likeness."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = tuple[float, ...]


def normalised(values: Sequence[float]) -> Vector:
    """The vector of length one in this direction; nothing stays nothing."""
    length = math.sqrt(math.fsum(v * v for v in values))
    return tuple(v / length for v in values) if length else tuple(values)


def likeness(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine of two vectors of length one: 1 the same, 0 nothing in common, and 0 where either says nothing."""
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def joined(centroid: Vector, weight: int, vector: Vector) -> Vector:
    """The middle of ``weight`` vectors (whose direction is ``centroid``) and one more."""
    if not centroid or not weight:
        return vector
    return normalised([c * weight + v for c, v in zip(centroid, vector, strict=True)])
