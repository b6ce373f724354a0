"""Texts as vectors: what is alike in meaning lies close together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from slate.domain.vectors import Vector


class Embedder(Protocol):
    """Gives vectors of length one; a text without content has the vector zero."""

    @property
    def name(self) -> str:
        """Names the model and its version: vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def same_topic(self) -> float:
        """Below this likeness a turn leaves the topic: calibrated on a labelled set."""
        ...

    @property
    def share(self) -> float:
        """What its likeness counts for beside the words of a text, of 1: measured."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, in their order.

        Raises:
            Unavailable: the model does not answer now.
        """
        ...
