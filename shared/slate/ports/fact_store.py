"""What is known about people: facts, each in its slot.

Every method may be repeated: a repeat after a lost reply finds its own work. ``ref`` stands for the subject; whether
the caller reaches it was asked before. All reads are strongly consistent, and skip nothing but what was erased.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from slate.domain.facts.model import Decision, Fact
from slate.domain.facts.slots import Slot
from slate.domain.facts.timeline import Observation
from slate.domain.forgetting.acts import Act
from slate.ports.graph_store import Page


class Shelf(StrEnum):
    """Where a fact is kept: what lives (active, limbo) apart from what is past (superseded, forgotten)."""

    LIVING = "living"
    PAST = "past"


class Stated(NamedTuple):
    """A statement for its slot: the fact that it would be on its own, and its observation."""

    slot: Slot
    fact: Fact
    said: Observation
    consents: int | None = None
    """The version of the consents that it rests on; it is not written if they moved."""


class ConsentMoved(Exception):  # not an error: what rests on the consents is asked again
    """The consents changed since they were looked at."""


class FactStore(Protocol):
    """Keeps facts."""

    def state(self, tenant: str, ref: str, stated: Stated, act: Act) -> Decision:
        """Decide a statement against its slot and write what follows, in one transaction; ``act`` is for the log.

        Raises:
            ConsentMoved: the consents are at another version.
        """
        ...

    def withdraw(self, tenant: str, ref: str, stated: Stated) -> Decision:
        """Likewise for a statement that something holds no longer."""
        ...

    def active(self, tenant: str, ref: str) -> list[Fact]:
        """Every active fact of a subject, those among them that are over or stale too: one query."""
        ...

    def page(
        self, tenant: str, ref: str, shelves: Sequence[Shelf], position: str | None, limit: int
    ) -> Page[tuple[str, Fact]]:
        """Facts by the instant of their making, each with its position."""
        ...

    def get(self, tenant: str, ref: str, fact_id: str) -> Fact:
        """One fact.

        Raises:
            NotFound: there is none.
        """
        ...

    def history(self, tenant: str, ref: str, fact_id: str) -> list[Fact]:
        """All that was ever said of its slot and is not forgotten, the oldest first.

        Raises:
            NotFound: there is no such fact.
        """
        ...

    def forget(self, tenant: str, ref: str, fact_id: str, act: Act, *, said: bool, version: int | None = None) -> Fact:
        """Forget a fact, log it, and drop the notices about it; one that is forgotten stays as it is.

        ``said`` as in the domain.

        Raises:
            NotFound: there is none.
            VersionMismatch: it is not at ``version``.
        """
        ...

    def forget_many(self, tenant: str, ref: str, fact_ids: Sequence[str], act: Act, *, said: bool) -> int:
        """Forget several, side by side; how many there were."""
        ...

    def restore(self, tenant: str, ref: str, fact_id: str, at: int, *, consents: int | None = None) -> Fact:
        """Undo forgetting, and say so in the log.

        Raises:
            NotFound: there is none.
            Conflict: a newer fact has its place.
            ConsentMoved: the consents are at another version.
        """
        ...

    def keep(self, tenant: str, ref: str, fact_id: str, act: Act) -> Fact:
        """Put it in limbo, and log it.

        Raises:
            NotFound, Conflict: as in ``restore``.
        """
        ...

    def confirm(self, tenant: str, ref: str, fact_id: str, at: int, at_least: float = 0.0) -> Fact:
        """The person says that it holds; it is so certain ``at_least`` from then on.

        Raises:
            NotFound: there is none.
            Conflict: it holds no longer.
        """
        ...

    def edit(self, tenant: str, ref: str, edited: Fact, slot: Slot, version: int | None) -> Fact:
        """Replace what a fact says.

        Raises:
            NotFound, Conflict: as in ``confirm``.
            VersionMismatch: it is not at ``version``.
        """
        ...

    def purge(self, tenant: str, ref: str, fact_id: str) -> None:
        """Remove what is left of a forgotten fact that can be restored no more: its item, and its words in its slot."""
        ...
