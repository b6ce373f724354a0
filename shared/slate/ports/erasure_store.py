"""Erasures as they stand, one record each, and the timer that says which is to go on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from slate.domain.erasing.erasure import Erasure
from slate.ports.graph_store import Page


class DueErasure(NamedTuple):
    """An erasure whose moment has come."""

    tenant: str
    erasure_id: str


class ErasureStore(Protocol):
    """Keeps erasures. A person has one that is open at most."""

    def begin(self, tenant: str, erasure: Erasure) -> Erasure:
        """Keep a new one, which is due; where one of this person is open already, that one is answered.

        Raises:
            SubjectErased: one of this person just came in between; ask again.
        """
        ...

    def running(self, tenant: str, ref: str) -> Erasure | None:
        """The one of a person that is open, if there is one."""
        ...

    def get(self, tenant: str, erasure_id: str) -> Erasure:
        """One, strongly consistent; whose it is, and why, as long as their key is there and opens.

        Raises:
            NotFound: there is none.
        """
        ...

    def page(self, tenant: str, ref: str | None, position: str | None, limit: int) -> Page[Erasure]:
        """The newest first; of one person where they are given."""
        ...

    def save(self, tenant: str, erasure: Erasure) -> bool:
        """Keep it over the version before; False where another run was faster. One that is not open frees the person.

        Whose it is, and why, goes with the keys.
        """
        ...


class ErasureTimer(Protocol):
    """What has fallen due."""

    def due(self, shard: int, at_once: int, *, by: int | None = None) -> Iterable[DueErasure]:
        """Erasures of one of the shards whose moment has come, or will have by an instant, the oldest first: hints."""
        ...

    def postpone(self, due: DueErasure, ms: int) -> None:
        """Move one that could not be worked on."""
        ...
