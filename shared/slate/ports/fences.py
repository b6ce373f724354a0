"""The fences: one for each person of a tenant, and the one thing that erasing and holding change at once."""

from __future__ import annotations

from typing import Protocol

from slate.domain.fences import Fence


class FenceReader(Protocol):
    """Shows fences."""

    def read(self, tenant: str, ref: str) -> Fence:
        """How it stands, strongly consistent; an open fence of epoch 0 of whom nothing is stored."""
        ...


class Fences(FenceReader, Protocol):
    """Keeps fences. Each change is one conditional write, and the same change again changes nothing."""

    def close(self, tenant: str, ref: str, by: str) -> int:
        """Close it for an erasure: the epoch grows by one; the new epoch, also when this erasure closed it before.

        Raises:
            Conflict: another erasure has closed it and is not done.
            SubjectHeld: there is a hold on it.
        """
        ...

    def open(self, tenant: str, ref: str, by: str) -> None:
        """Open it again after that erasure, in the epoch that it began; nothing where it is open."""
        ...

    def advance(self, tenant: str, ref: str, epoch: int) -> None:
        """Let the epoch be this one at least, in a table from a backup, which misses some; open or closed it stays."""
        ...

    def hold(self, tenant: str, ref: str, hold_id: str) -> None:
        """Put a hold on it.

        Raises:
            SubjectErased: an erasure has closed it.
        """
        ...

    def release(self, tenant: str, ref: str, hold_id: str) -> None:
        """Take a hold off; nothing where it is off."""
        ...
