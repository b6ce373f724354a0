"""Vectors of texts: of length one or, where a text says nothing, zero; so that a dot product is their likeness."""

from __future__ import annotations

import math
import struct
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

Vector = tuple[float, ...]
_STEPS: Final = 127


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


def pack(vector: Vector) -> str:
    """A direction as text, a byte a place: a vector of 256 places takes 344 characters, and keeps its likenesses."""
    largest = max(map(abs, vector), default=0.0)
    steps = [round(v / largest * _STEPS) if largest else 0 for v in vector]
    return b64encode(struct.pack(f"{len(steps)}b", *steps)).decode()


def unpack(text: object) -> object:
    """The direction again; what is no text stays as it is."""
    if not isinstance(text, str):
        return text
    packed = b64decode(text)
    return normalised(struct.unpack(f"{len(packed)}b", packed))


Direction = Annotated[
    Vector, BeforeValidator(unpack), PlainSerializer(pack, when_used="json"), WithJsonSchema({"type": "string"})
]
"""A vector that is kept as text."""
