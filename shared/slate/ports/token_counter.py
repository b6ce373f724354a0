"""How many tokens a model makes of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class TokenCounter(Protocol):
    """Counts tokens, never fewer than a text has words; safe to share between threads."""

    @property
    def name(self) -> str:
        """What it counts by: ``o200k_base``, or ``estimate``."""
        ...

    def count(self, text: str) -> int:
        """The tokens of a text, without the overhead of a message."""
        ...

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text."""
        ...
