"""What a person was asked in their sessions and has answered: so that no later session asks it once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from slate.domain.repeats import Answered


class AnsweredStore(Protocol):
    """Keeps the last of it, as long as its session is kept. A note that is lost costs a warning, and nothing else."""

    def note(self, tenant: str, ref: str, answered: Sequence[Answered]) -> None:
        """Keep these too; the same again changes nothing."""
        ...

    def read(self, tenant: str, ref: str) -> list[Answered]:
        """What is kept, the oldest first: one read."""
        ...

    def drop(self, tenant: str, ref: str, which: Callable[[Answered], bool]) -> None:
        """Keep none of which this holds."""
        ...
