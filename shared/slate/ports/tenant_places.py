"""Where data of a whole tenant lies: what offboarding empties. An operator's, who may scan; no function does."""

from __future__ import annotations

from typing import Protocol

from slate.ports.subject_stores import StoreCounts


class TenantPlace(Protocol):
    """A place that holds data of tenants; it may account for several stores."""

    def count(self, tenant: str) -> StoreCounts:
        """How much of a tenant's is there now, of every store in which there is something; strongly consistent.

        Raises:
            Unavailable: it cannot be told now.
        """
        ...

    def erase(self, tenant: str) -> StoreCounts:
        """Make all of a tenant's go, and nothing of another's; how much went. May be stopped, and called again.

        Raises:
            Unavailable: not all of it went; what went stays gone.
        """
        ...
