"""A tenant goes, with everybody it knew: its keys first, then all else, and a receipt says so.

It is one erasure of everything, not one of each person: all keys are destroyed at once, and nothing is left for whose
sake anything would have to be told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from slate.domain.erasing.erasure import Days
from slate.domain.erasing.receipts import Erased, Horizons, ReceiptClaims, StoreCount
from slate.domain.erasing.steps import DAY_MS, FIRST_SWEEP_MS
from slate.domain.errors import Conflict, NotFound, Unavailable
from slate.ports.clock import Clock
from slate.ports.ids import Ids
from slate.ports.ledger import Ledger, LedgerEntry
from slate.ports.memory_index import Mark, MemoryIndex
from slate.ports.receipts import Signer
from slate.ports.tenant_places import TenantPlace
from slate.service.holding import Holding

_EXPUNGE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 30.0


class Offboarding:
    """Erases tenants; begun again it goes on, and a tenant that is gone has its receipt read again."""

    def __init__(
        self,
        keys: TenantPlace,
        places: Sequence[TenantPlace],
        index: MemoryIndex | None,
        holding: Holding,
        ledger: Ledger,
        signer: Signer,
        clock: Clock,
        ids: Ids,
        *,
        sleep: Callable[[float], None],
        days: Days,
        release: str,
    ) -> None:
        """``places`` are emptied in their order: what names other things comes after these."""
        self._keys = keys
        self._places = places
        self._index = index
        self._holding = holding
        self._ledger = ledger
        self._signer = signer
        self._clock = clock
        self._ids = ids
        self._sleep = sleep
        self._days = days
        self._release = release

    def offboard(self, tenant: str, told: Callable[[str], object]) -> str:
        """Everything a tenant has goes; its receipt. It takes a quarter of an hour, for what was under way to arrive.

        Raises:
            Conflict: there are holds: they say that something must stay.
            Unavailable: something could not be removed; the same call goes on.
        """
        entry = self._closed(tenant)
        told(f"{tenant} is closed: nothing of it is served, and in a minute at most nothing is taken")
        gone = Counter(self._emptied(tenant))
        told(f"{gone.total():,} things went; waiting for what was under way")
        while (left := entry.fenced_at + FIRST_SWEEP_MS - self._clock.now()) > 0:
            self._sleep(min(left / 1000, _LOOK_SECONDS))
        gone.update(self._emptied(tenant))
        if any((after := self._counted(tenant)).values()):
            raise Unavailable(f"some is left: {_listed(after)}; run it again")
        verified = self._clock.now()
        self._expunged()
        return self._receipt(entry, gone, verified)

    def _closed(self, tenant: str) -> LedgerEntry:
        """The one entry of all that the tenant had, made at the first call; what there was is counted before."""
        found = next((entry for entry in self._ledger.entries(tenant) if entry.ref is None), None)
        if found is None:
            if holds := self._holding.standing(tenant):
                raise Conflict(f"{holds} holds stand in {tenant}: lift them first, if nothing need stay")
            counted, now = self._counted(tenant), self._clock.now()
            found = LedgerEntry(
                tenant=tenant,
                erasure_id=f"offboard-{self._ids.new()}",
                ref=None,
                epoch=0,
                requested_at=now,
                fenced_at=self._clock.now(),
                found=counted,
            )
        self._ledger.fenced(found)
        return found

    def _counted(self, tenant: str) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for place in (self._keys, *self._places):
            counts.update(place.count(tenant))
        return dict(counts)

    def _emptied(self, tenant: str) -> dict[str, int]:
        gone: Counter[str] = Counter()
        for place in (self._keys, *self._places):
            gone.update(place.erase(tenant))
        return dict(gone)

    def _expunged(self) -> None:
        mark: Mark | None = None
        while self._index is not None and (mark := self._index.expunge(mark)) is not None:
            self._sleep(_EXPUNGE_SECONDS)

    def _receipt(self, entry: LedgerEntry, gone: Mapping[str, int], verified: int) -> str:
        try:
            return self._ledger.receipt(entry.tenant, entry.erasure_id).text
        except NotFound:
            now, stores = self._clock.now(), sorted({*entry.found, *gone})
        # What was found went, whether or not the run that took it out lived to say so.
        counts = {
            name: StoreCount(
                counted=entry.found.get(name, 0),
                erased=max(entry.found.get(name, 0), gone.get(name, 0)),
                after=0,
            )
            for name in stores
        }
        claims = ReceiptClaims(
            jti=entry.erasure_id,
            slate=self._release,
            erased=Erased.TENANT,
            tenant=entry.tenant,
            requested_at=entry.requested_at,
            fenced_at=entry.fenced_at,
            verified_at=verified,
            signed_at=now,
            keys_shredded=counts["keys"].erased if "keys" in counts else 0,
            stores=counts,
            horizons=Horizons(
                keys=verified + self._days.keys * DAY_MS,
                snapshots=now + self._days.snapshots * DAY_MS,
                backups=verified + self._days.backups * DAY_MS,
            ),
        )
        return self._ledger.receipted(entry, self._signer.sign(claims))


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()) if count)
