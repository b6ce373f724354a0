"""Starts the eraser between its scheduled runs."""

from __future__ import annotations

from typing import Protocol


class EraserStart(Protocol):
    """A kick: the timer says what is to be done, so that one that is lost costs time and nothing else."""

    def __call__(self) -> None:
        """Have it look at what is due, soon; never raises."""
        ...


def runs_anyway() -> None:
    """Where the eraser runs all the time, nobody starts it."""
