"""Vectors without weights: words and pieces of words, hashed into a fixed number of places.

Deterministic, in pure Python, the same on every machine. Two texts are alike as far as they share words, forms of a
word, or parts of compounds; a synonym is no likeness to it. It is what a laptop and a test use.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final
from zlib import crc32

from slate.domain.vectors import Vector, normalised
from slate.domain.words import content_words

DIMENSION: Final = 512
MAX_WORDS: Final = 2_000
"""Of a text, those after it change nothing: a long tool output must not take seconds."""
_PIECE: Final = 4
_PIECES_WEIGH: Final = 0.5
_PLACES: Final = 2
"""Of each feature: two that share a place by chance have half of it in common, not all."""
_BITS: Final = DIMENSION.bit_length()


class HashingEmbedder:
    """The embedder that needs no model."""

    name = f"hashing-{DIMENSION}-1"
    dimension = DIMENSION
    same_topic = 0.11
    share = 0.2

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Each text by itself."""
        return [_embedded(text) for text in texts]


def _embedded(text: str) -> Vector:
    counts = Counter(content_words(text)[:MAX_WORDS])
    places = [0.0] * DIMENSION
    for word, count in counts.items():
        weight = 1 + math.log(count)
        _add(places, word, weight)
        pieces = _pieces(word)
        for piece in pieces:
            _add(places, piece, weight * _PIECES_WEIGH / math.sqrt(len(pieces)))
    return normalised(places)


def _pieces(word: str) -> list[str]:
    padded = f"<{word}>"
    return [padded[i : i + _PIECE] for i in range(len(padded) - _PIECE + 1)] if len(word) >= _PIECE else []


def _add(places: list[float], feature: str, weight: float) -> None:
    # CRC-32 is linear in its input; the multiplication spreads what it leaves alike.
    hashed = (crc32(feature.encode()) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) >> 28
    for _ in range(_PLACES):
        places[hashed % DIMENSION] += weight if hashed & DIMENSION else -weight
        hashed >>= _BITS
