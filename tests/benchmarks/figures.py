"""What calls of DynamoDB cost, in the units that AWS bills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Figures(NamedTuple):
    """Calls of DynamoDB, and the units they use."""

    calls: float
    reads: float
    writes: float

    @property
    def units(self) -> float:
        """Both kinds together."""
        return self.reads + self.writes

    def less(self, other: Figures) -> Figures:
        """What this costs beyond another."""
        return Figures(*(a - b for a, b in zip(self, other, strict=True)))

    def each(self, count: int) -> Figures:
        """What one of so many costs."""
        return Figures(*(figure / count for figure in self))

    def row(self, step: str) -> str:
        """A row of the table."""
        return f"| {step} | {' | '.join(f'{figure:g}' for figure in self)} |"


Measured = Mapping[str, Figures]
