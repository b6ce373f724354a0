"""Makes up for what a table from a backup misses: whoever was erased since is erased in it again, before it is served.

The table is in quarantine as long as it knows of fewer erasures than the ledger. Each is noted in it once its keys are
shredded and its fence is closed there: from then on nothing of the person is served, quarantine or not. The replay ends
when no key, vector, object or item is left. What then follows, the sweeps of what may still arrive and the
verification, is the eraser's, as it is of any erasure; the receipt of the first time stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final, NamedTuple

from slate.domain.erasing.erasure import Erasure, received
from slate.domain.erasing.steps import Step
from slate.domain.errors import Conflict, Unavailable
from slate.ports.clock import Clock
from slate.ports.erasure_store import ErasureStore
from slate.ports.fences import Fences
from slate.ports.hold_store import HoldStore
from slate.ports.keyring import Keyring
from slate.ports.ledger import Ledger, LedgerEntry
from slate.service.erasing.running import Running
from slate.service.holding import Holding

_GONE: Final = frozenset(
    {Step.PRIMARY_DELETED, Step.DRAINED, Step.EXPUNGED, Step.VERIFIED, Step.RECEIPTED, Step.CLOSED}
)
"""From the first of these on, nothing of the person is left that could be served."""
_STEP_MS: Final = 60_000
_TRIES: Final = 20
_PAUSE_SECONDS: Final = 3.0
BY: Final = "slate ledger replay"


class Replayed(NamedTuple):
    """What was found of a tenant, and done."""

    erasures: int = 0
    """In the ledger."""
    persons: int = 0
    """Whose they are."""
    missed: int = 0
    """Persons who were still there, and are gone now."""
    shredded: int = 0
    """Data keys that had come back."""
    held: int = 0
    """Holds that were put on again, or taken off."""
    waiting: int = 0
    """Holds on persons whose erasure is not over: to be put on by another replay, after their receipts."""


class Replaying:
    """Replays the ledger over the main table, and over a keys table that may come from a backup, too."""

    def __init__(
        self,
        ledger: Ledger,
        erasures: ErasureStore,
        running: Running,
        fences: Fences,
        keyring: Keyring,
        holds: HoldStore,
        holding: Holding,
        clock: Clock,
        *,
        sleep: Callable[[float], None],
    ) -> None:
        """``fences`` and ``keyring`` stand outside the quarantine."""
        self._ledger = ledger
        self._erasures = erasures
        self._running = running
        self._fences = fences
        self._keyring = keyring
        self._holds = holds
        self._holding = holding
        self._clock = clock
        self._sleep = sleep

    def replay(self, tenant: str) -> Replayed:
        """Everything that a tenant's part of the table misses; a repeat finds it there.

        Raises:
            Conflict: the tenant was offboarded: that is to be done again.
            Unavailable: something could not be removed; the same call goes on.
        """
        entries = list(self._ledger.entries(tenant))
        if any(entry.ref is None for entry in entries):
            raise Conflict(f"the tenant {tenant} was offboarded: `slate offboard {tenant}` does it again")
        persons: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
        for entry in entries:
            persons[entry.ref or ""].append(entry)
        lifted = self._lifted(tenant)
        done = Replayed(len(entries), len(persons))
        for ref, theirs in persons.items():
            missed, shredded = self._person(tenant, ref, sorted(theirs, key=lambda entry: entry.epoch))
            done = done._replace(missed=done.missed + missed, shredded=done.shredded + shredded)
        put, waiting = self._put_on(tenant)
        return done._replace(held=lifted + put, waiting=waiting)

    def _person(self, tenant: str, ref: str, entries: list[LedgerEntry]) -> tuple[bool, int]:
        """Whether somebody was still there; and the keys that were."""
        last = entries[-1]
        shredded = self._keyring.shred(tenant, ref, last.epoch)
        fence = self._fences.read(tenant, ref)
        missed = fence.epoch < last.epoch
        # What closes the fence next begins the very epoch that the ledger has: a person who is back is not "missed".
        self._fences.advance(tenant, ref, last.epoch if fence.closed else last.epoch - 1)
        if missed or fence.closed:
            self._erased(tenant, ref, last)
        for entry in entries:
            self._ledger.fenced(entry)
        return missed, shredded

    def _erased(self, tenant: str, ref: str, last: LedgerEntry) -> None:
        """Until nothing is left: by the erasure that this table knows is under way, or by the ledger's last."""
        found = self._erasures.running(tenant, ref)
        if found is None:
            new = received(last.erasure_id, ref, None, None, BY, last.requested_at, self._clock.now())
            found = self._erasures.begin(tenant, new)
        for _ in range(_TRIES):
            erasure = self._driven(tenant, found.erasure_id)
            if erasure.state in _GONE:
                return
            self._sleep(_PAUSE_SECONDS)
        raise Unavailable(
            f"the erasure {found.erasure_id} is stuck at {erasure.state}: {erasure.failure}; run it again"
        )

    def _driven(self, tenant: str, erasure_id: str) -> Erasure:
        """As far as it goes now, and no further than a replay needs."""
        while self._erasures.get(tenant, erasure_id).state not in _GONE:
            if not self._running.step(tenant, erasure_id, self._clock.now() + _STEP_MS):
                break
        return self._erasures.get(tenant, erasure_id)

    def _lifted(self, tenant: str) -> int:
        """Takes off what was lifted since: it would hold up what is to be erased."""
        noted = {held.hold.hold_id for held in self._holds.all_noted(tenant)}
        over = [kept for kept in self._holds.all_kept(tenant) if kept.hold_id not in noted]
        for kept in over:
            self._holding.settle(tenant, kept.hold_id)
        return len(over)

    def _put_on(self, tenant: str) -> tuple[int, int]:
        """Puts on what the table does not know of; none while an erasure is not over, which no hold may stop."""
        kept = {kept.hold_id for kept in self._holds.all_kept(tenant)}
        missed = [held for held in self._holds.all_noted(tenant) if held.hold.hold_id not in kept]
        waiting = [held for held in missed if self._fences.read(tenant, held.ref).closed]
        for held in missed:
            if held not in waiting:
                self._holds.restore(tenant, held)
                self._holding.settle(tenant, held.hold.hold_id)
        return len(missed) - len(waiting), len(waiting)
