"""What stands beside the facts of a person: notices, what is held back, consent, the forgetting log.

As in ``fact_store``, every method may be repeated, ``ref`` stands for the subject, and all reads are consistent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from slate.domain.facts.model import (
    Consent,
    Consents,
    Forgetting,
    Notice,
    Quarantined,
    QuarantineState,
    Sensitive,
)
from slate.ports.graph_store import Page


class FactRecords(Protocol):
    """Keeps them."""

    # ---- notices

    def notices(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Notice]:
        """Notices, the newest first."""
        ...

    def undelivered(self, tenant: str, ref: str, session_id: str) -> list[Notice]:
        """The notices that this session has not been told, the oldest first: two queries.

        One whose fact was itself replaced since, as a newer notice says, is told no more.
        """
        ...

    def deliver(self, tenant: str, ref: str, session_id: str, notice_ids: Collection[str], by: str = "") -> set[str]:
        """This session is told, ``by`` a context; answers those that no other context had told it before."""
        ...

    # ---- quarantine

    def hold_back(self, tenant: str, ref: str, held: Quarantined) -> Quarantined:
        """Keep what is not taken for true; the same statement again is the one that is there."""
        ...

    def quarantine(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Quarantined]:
        """What is held back, whatever became of it."""
        ...

    def drop(self, tenant: str, ref: str, which: Callable[[Quarantined], bool]) -> None:
        """Delete, for good, what is held back and meant."""
        ...

    def quarantined(self, tenant: str, ref: str, quarantine_id: str) -> Quarantined:
        """One of these.

        Raises:
            NotFound: there is none.
        """
        ...

    def review(self, tenant: str, ref: str, quarantine_id: str, state: QuarantineState) -> Quarantined:
        """Note what was decided; the same again changes nothing.

        Raises:
            NotFound: there is none.
            Conflict: the opposite was decided.
        """
        ...

    # ---- consent and the log

    def consents(self, tenant: str, ref: str) -> Consents:
        """What the person consented to."""
        ...

    def put_consents(self, tenant: str, ref: str, given: dict[Sensitive, Consent], version: int | None) -> Consents:
        """Change some of it.

        Raises:
            VersionMismatch: it is not at ``version``.
        """
        ...

    def note(self, tenant: str, ref: str, entry: Forgetting) -> None:
        """Add an entry to the log; one that is there stays."""
        ...

    def log(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Forgetting]:
        """The forgetting log, the newest first."""
        ...
