"""Queries come again: the vectors of the last ones are kept, so that a model is asked once for each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final

from slate.domain.vectors import Vector
from slate.ports.embedder import Embedder

KEPT: Final = 1_000
LONGEST: Final = 2_000
"""Characters of a text that is worth keeping: what is longer is no query."""


class CachingEmbedder:
    """An embedder that remembers."""

    def __init__(self, embedder: Embedder, *, kept: int = KEPT) -> None:
        self._embedder = embedder
        self._kept = kept
        self._known: OrderedDict[str, Vector] = OrderedDict()
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
        with self._lock:
            known = {text: self._known[text] for text in texts if text in self._known}
            for text in known:
                self._known.move_to_end(text)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made = dict(zip(new, self._embedder.embed(new), strict=True)) if new else {}
        with self._lock:
            self._known.update({text: vector for text, vector in made.items() if len(text) <= LONGEST})
            while len(self._known) > self._kept:
                self._known.popitem(last=False)
        return [known[text] if text in known else made[text] for text in texts]
