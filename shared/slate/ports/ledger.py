"""The ledger of erasures: what a backup does not know of when it comes back, and where receipts are kept.

It holds refs, ids, instants, epochs and receipts: no content, no subject's id. It outlives every erasure in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant


class LedgerEntry(BaseModel):
    """An erasure whose fence is up."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    erasure_id: str
    ref: str | None = Field(description="whose data; none: all that the tenant had")
    epoch: int = Field(description="the epoch that began with it; 0 of a tenant")
    requested_at: Instant
    fenced_at: Instant
    found: dict[str, int] = Field(default_factory=dict, description="of a tenant: what there was before, by store")


class Receipt(NamedTuple):
    """A receipt, and whose data it is of; none: of all that the tenant had."""

    ref: str | None
    text: str


class Ledger(Protocol):
    """Keeps entries and receipts. Every method may be repeated."""

    def fenced(self, entry: LedgerEntry) -> None:
        """Note an erasure right after its fence was closed, before anything is removed; the same again is nothing.

        It is noted in the main table first, then in the ledger: so a main table that knows of fewer erasures than
        the ledger comes from a backup, and is not served (``Quarantine``) until they have been replayed over it.

        Raises:
            Unavailable: a table is out of reach.
        """
        ...

    def receipted(self, entry: LedgerEntry, receipt: str) -> str:
        """Keep the receipt of an erasure, and answer the one that stands: where there is one already, that one."""
        ...

    def receipt(self, tenant: str, erasure_id: str) -> Receipt:
        """The receipt of an erasure.

        Raises:
            NotFound: there is no such erasure, or it has no receipt yet.
        """
        ...

    def entries(self, tenant: str) -> Iterator[LedgerEntry]:
        """Every erasure of a tenant whose fence was ever up, in no order."""
        ...


class Quarantine(Protocol):
    """Refuses a tenant's data while the main table misses an erasure that the ledger knows of."""

    def admit(self, tenant: str) -> None:
        """Let an operation pass, or say why not; asked of the tables once a minute and tenant.

        Raises:
            Unavailable: the table comes from a backup, and the ledger has not been replayed over it.
            SubjectErased: the tenant was offboarded.
        """
        ...
