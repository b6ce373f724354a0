"""The estimate as a counter, for where no tokenizer is installed."""

from __future__ import annotations

from collections.abc import Sequence

from slate.domain.tokens import estimate


class EstimatingCounter:
    """Counts by script, rather too many than too few."""

    @property
    def name(self) -> str:
        """That it is an estimate."""
        return "estimate"

    def count(self, text: str) -> int:
        """About how many tokens a text has."""
        return estimate(text)

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """The same for each."""
        return [estimate(text) for text in texts]
