"""The fence of a person: which epoch of theirs runs, and whether anything may be served or written now."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from slate.domain.errors import SubjectErased, SubjectHeld


class Intent(StrEnum):
    """What an operation is about to do with a person's data."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"


class Fence(NamedTuple):
    """How it stands with a person; nothing is stored of whoever was never erased and never held."""

    epoch: int = 0
    """Erasures so far: content of an earlier epoch is gone, whatever still lies about of it."""
    closed: bool = False
    """An erasure is running: nothing is served, nothing is written."""
    held: bool = False
    """Somebody has a reason why nothing may be deleted; nothing is served meanwhile."""

    def admit(self, intent: Intent) -> None:
        """Let an operation pass, or say why not.

        Raises:
            SubjectErased: an erasure is running.
            SubjectHeld: it would serve or delete what is on hold.
        """
        if self.closed:
            raise SubjectErased("this person's data is being erased; a write is taken again once the receipt is there")
        if self.held and intent is not Intent.WRITE:
            raise SubjectHeld("this person's data is on hold: it is neither served nor deleted until the hold ends")
