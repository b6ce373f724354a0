"""Refuses what a backup brought back: a main table that misses erasures which the ledger knows of is not served.

Both tables count a tenant's erasures (``ledger_store``). Whoever points Slate at a restored table need not remember
anything: nobody's content is sealed or opened in it, since no fence is read, until ``slate ledger replay`` has made up
what it misses.
"""

from __future__ import annotations

from typing import Final

from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.ledger_store import known_key, ledger_head_key
from slate.domain.errors import SubjectErased, Unavailable
from slate.domain.fences import Fence
from slate.domain.lapsing import Lapsing
from slate.ports.clock import Clock
from slate.ports.fences import FenceReader
from slate.ports.ledger import Quarantine

_CACHE_MS: Final = 60_000
_CACHE_SIZE: Final = 10_000


class DynamoQuarantine:
    """Compares the two counts."""

    def __init__(self, main: Calls, ledger: Calls, clock: Clock) -> None:
        self._main = main
        self._ledger = ledger
        self._clock = clock
        self._passed = Lapsing[str, bool](_CACHE_SIZE)

    def admit(self, tenant: str) -> None:
        """Two reads, the ledger's last; one where nobody was ever erased. What passed passes for a minute."""
        now = self._clock.now()
        if not self._passed.get(tenant, now):
            self._compare(tenant)
            self._passed.keep(tenant, True, now + _CACHE_MS, now)  # that it passed

    def _compare(self, tenant: str) -> None:
        noted = self._ledger.get(tenant, ledger_head_key(tenant))
        if noted is None:
            return
        if "offboarded_at" in noted:
            raise SubjectErased("this tenant was offboarded: all of its data is gone, and none is taken")
        # Read after the ledger's, and written before it: so a table that is no copy never shows fewer.
        known = self._main.get(tenant, known_key(tenant)) or {"count": 0}
        if known["count"] < noted["count"]:
            raise Unavailable(
                "this table comes from a backup and misses erasures: an operator is to run `slate ledger replay`"
            )


class QuarantinedFences:
    """The fences, behind the quarantine: every use of a person's key reads one, and so none passes it."""

    def __init__(self, fences: FenceReader, quarantine: Quarantine) -> None:
        self._fences = fences
        self._quarantine = quarantine

    def read(self, tenant: str, ref: str) -> Fence:
        """Once the quarantine has let the tenant pass."""
        self._quarantine.admit(tenant)
        return self._fences.read(tenant, ref)
