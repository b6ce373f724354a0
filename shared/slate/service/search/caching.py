"""Queries come again: the vectors of the last ones are kept, so that a model is asked once for each.

A query may be about somebody, who may be erased: so it is known by a digest under a key of this process, and its vector
is gone five minutes after it was last asked for, as a data key is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final

from slate.domain.lapsing import Lapsing
from slate.domain.vectors import Vector
from slate.ports.clock import Clock
from slate.ports.embedder import Embedder

KEPT_MS: Final = 300_000
KEPT: Final = 1_000
LONGEST: Final = 2_000
"""Characters of a text that is worth keeping: what is longer is no query."""


class CachingEmbedder:
    """An embedder that remembers."""

    def __init__(
        self, embedder: Embedder, clock: Clock, *, kept: int = KEPT, entropy: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._embedder = embedder
        self._clock = clock
        self._key = entropy(32)
        self._known = Lapsing[bytes, Vector](kept)

    @property
    def name(self) -> str:
        """The other's."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The other's."""
        return self._embedder.dimension

    @property
    def same_topic(self) -> float:
        """The other's."""
        return self._embedder.same_topic

    @property
    def share(self) -> float:
        """The other's."""
        return self._embedder.share

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Those that are not known are asked for together."""
        digests, now = {text: self._digest(text) for text in texts}, self._clock.now()
        found = {text: self._known.get(digest, now) for text, digest in digests.items()}
        vectors = {text: vector for text, vector in found.items() if vector is not None}
        new = [text for text in digests if text not in vectors]
        vectors |= dict(zip(new, self._embedder.embed(new), strict=True)) if new else {}
        now = self._clock.now()
        for text in filter(lambda each: len(each) <= LONGEST, vectors):
            # The one that is asked for last stands last, and lapses last.
            self._known.keep(digests[text], vectors[text], now + KEPT_MS, now)
        return [vectors[text] for text in texts]

    def _digest(self, text: str) -> bytes:
        return blake2b(text.encode(errors="surrogatepass"), key=self._key, digest_size=32).digest()
