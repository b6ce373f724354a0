"""Queries come again: the vectors of the last ones are kept, so that a model is asked once for each.

A query may be about somebody, who may be erased: so it is known by a digest under a key of this process, and its vector
is gone five minutes after it was last asked for, as a data key is.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import Lock
from typing import Final

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
        self._kept = kept
        self._key = entropy(32)
        self._known: OrderedDict[bytes, tuple[int, Vector]] = OrderedDict()
        self._lock = Lock()

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
        digests = {text: self._digest(text) for text in texts}
        with self._lock:
            self._lapse()
            known = {text: self._known[digest][1] for text, digest in digests.items() if digest in self._known}
        new = [text for text in digests if text not in known]
        made = dict(zip(new, self._embedder.embed(new), strict=True)) if new else {}
        self._keep({digests[text]: vector for text, vector in {**known, **made}.items() if len(text) <= LONGEST})
        return [known[text] if text in known else made[text] for text in texts]

    def _digest(self, text: str) -> bytes:
        return blake2b(text.encode(errors="surrogatepass"), key=self._key, digest_size=32).digest()

    def _keep(self, vectors: dict[bytes, Vector]) -> None:
        """The one that is asked for last stands last, and lapses last."""
        until = self._clock.now() + KEPT_MS
        with self._lock:
            for digest, vector in vectors.items():
                self._known[digest] = until, vector
                self._known.move_to_end(digest)
            self._lapse()
            while len(self._known) > self._kept:
                self._known.popitem(last=False)

    def _lapse(self) -> None:
        now = self._clock.now()
        while self._known and next(iter(self._known.values()))[0] <= now:
            self._known.popitem(last=False)
