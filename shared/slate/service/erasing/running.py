"""Runs erasures: what is due next is done, and kept, one step after the other; each may be repeated.

Whatever is done is done before it is kept, and looked for before it is done: so a run that dies anywhere, or meets
another, is gone on with by the next one, and ends in the same state. A step that fails is tried again, later each time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from slate.domain.audit.deeds import told_about
from slate.domain.erasing.erasure import KEYS, Days, Erasure, Progress, added
from slate.domain.erasing.receipts import ReceiptClaims, subject_digest
from slate.domain.erasing.steps import RUNS_END_MS, Step, sweeps
from slate.domain.errors import NotFound, SubjectHeld
from slate.ports.clock import Clock
from slate.ports.counts import Count, Counts
from slate.ports.erasure_store import DueErasure, ErasureStore
from slate.ports.fences import Fences
from slate.ports.keyring import Keyring
from slate.ports.ledger import Ledger, LedgerEntry
from slate.ports.memory_index import Mark, MemoryIndex
from slate.ports.receipts import Signer
from slate.ports.subject_stores import SubjectStore
from slate.service.erasing.registry import Registry

EXPUNGE_LOOK_MS: Final = 10_000
_log = logging.getLogger(__name__)


class Places:
    """Where a person's data lies: what seeks, what keeps, and the index, whose files hold what went."""

    def __init__(
        self, seeking: Sequence[SubjectStore], keeping: Sequence[SubjectStore], index: MemoryIndex | None
    ) -> None:
        """``seeking`` are emptied first: by names that what is kept gives. Raises as ``Registry``."""
        self.seeking = Registry(seeking)
        self.keeping = Registry(keeping)
        self.all = Registry([*seeking, *keeping])
        self.index = index


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How long an erasure waits for what was under way, and for copies nobody reaches into."""

    queue_days: int = 4
    """So long a queue keeps a message."""
    days: Days = field(default_factory=Days)


class Running:
    """Does what is due on erasures."""

    def __init__(
        self,
        store: ErasureStore,
        places: Places,
        fences: Fences,
        keyring: Keyring,
        signer: Signer,
        ledger: Ledger,
        clock: Clock,
        counts: Counts,
        *,
        terms: Terms,
        release: str,
    ) -> None:
        """``release`` is the version of Slate that receipts name."""
        self._store = store
        self._places = places
        self._fences = fences
        self._keyring = keyring
        self._signer = signer
        self._ledger = ledger
        self._clock = clock
        self._counts = counts
        self._terms = terms
        self._release = release
        self._steps: Mapping[Step, Callable[[Erasure, str, int], Erasure]] = {
            Step.RECEIVED: self._fence,
            Step.HELD: self._fence,
            Step.FENCED: self._shred,
            Step.KEYS_SHREDDED: self._unindex,
            Step.INDEX_DELETED: self._delete,
            Step.PRIMARY_DELETED: self._sweep,
            Step.DRAINED: self._expunge,
            Step.EXPUNGED: self._verify,
            Step.VERIFIED: self._prove,
            Step.RECEIPTED: self._close,
        }

    # ---- what is due

    def work(self, due: DueErasure, deadline: int) -> None:
        """Step after step, as long as the next one is due, until an instant."""
        while self.step(due.tenant, due.erasure_id, deadline) and self._clock.now() <= deadline:
            pass

    def step(self, tenant: str, erasure_id: str, deadline: int) -> bool:
        """The one step that is due; False where none is, or another run did it, or it failed."""
        try:
            erasure = self._store.get(tenant, erasure_id)
        except NotFound:
            return False
        now = self._clock.now()
        if erasure.next_at is None or erasure.next_at > now:
            return False
        told_about(erasure.ref)
        try:
            after = self._steps[erasure.state](erasure, tenant, deadline)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is tried again, and somebody is told
            # Its kind alone: a message may quote what a caller said.
            kind = type(error).__name__
            _log.error("an erasure could not go on: %s", kind, extra={"erasure": erasure_id, "state": erasure.state})
            self._counts.add(Count.ERASURE_FAILED)
            self._store.save(tenant, erasure.failed(kind, now))
            return False
        return self._store.save(tenant, after)

    def resume(self, tenant: str, ref: str) -> None:
        """A hold on somebody has ended: what waited for it goes on, unless there is another."""
        erasure = self._store.running(tenant, ref)
        if erasure is not None and erasure.state is Step.HELD:
            self._store.save(tenant, erasure.going_on(None, self._clock.now()))

    # ---- the steps

    def _fence(self, erasure: Erasure, tenant: str, _: int) -> Erasure:
        now = self._clock.now()
        try:
            epoch = self._fences.close(tenant, erasure.ref, erasure.erasure_id)
        except SubjectHeld:
            return erasure.held(now)
        fenced = erasure.done(Step.FENCED, now, next_at=now).model_copy(update={"epoch": epoch})
        self._ledger.fenced(_entry(tenant, fenced))
        return fenced

    def _shred(self, erasure: Erasure, tenant: str, _: int) -> Erasure:
        """What is there is counted, and that is kept, before anything goes."""
        now = self._clock.now()
        if not erasure.found:
            keys = self._keyring.count(tenant, erasure.ref, erasure.epoch)
            return erasure.going_on(None, now, found={**self._places.all.count(tenant, erasure.ref), KEYS: keys})
        gone = self._keyring.shred(tenant, erasure.ref, erasure.epoch)
        return self._with(erasure, {KEYS: gone}).done(Step.KEYS_SHREDDED, now, {KEYS: gone}, next_at=now)

    def _unindex(self, erasure: Erasure, tenant: str, deadline: int) -> Erasure:
        return self._emptied(erasure, tenant, self._places.seeking, deadline, Step.INDEX_DELETED)

    def _delete(self, erasure: Erasure, tenant: str, deadline: int) -> Erasure:
        return self._emptied(erasure, tenant, self._places.keeping, deadline, Step.PRIMARY_DELETED)

    def _emptied(self, erasure: Erasure, tenant: str, places: Registry, deadline: int, step: Step) -> Erasure:
        """Some of it, or the rest of it."""
        now, progress = self._clock.now(), erasure.progress or Progress()
        gone = places.erase(tenant, erasure.ref, deadline, progress.position)
        progress, erasure = progress.plus(gone.counts, gone.position or ""), self._with(erasure, gone.counts)
        if gone.position is not None:
            return erasure.going_on(progress, now)
        later = self._next_sweep(erasure) if step is Step.PRIMARY_DELETED else now
        return erasure.done(step, self._clock.now(), progress.counts, next_at=later)

    def _next_sweep(self, erasure: Erasure) -> int:
        after = sweeps(self._terms.queue_days)
        return (erasure.fenced_at or 0) + after[min(erasure.swept, len(after) - 1)]

    def _sweep(self, erasure: Erasure, tenant: str, deadline: int) -> Erasure:
        """Whatever came since, with a key of an epoch that is over, too: all of it goes once more."""
        now, progress = self._clock.now(), erasure.progress or Progress()
        shredded = {KEYS: self._keyring.shred(tenant, erasure.ref, erasure.epoch)}
        gone = self._places.all.erase(tenant, erasure.ref, deadline, progress.position)
        counts = added(shredded, gone.counts)
        progress, erasure = progress.plus(counts, gone.position or ""), self._with(erasure, counts)
        if gone.position is not None:
            return erasure.going_on(progress, now)
        swept = erasure.model_copy(update={"swept": erasure.swept + 1})
        if swept.swept < len(sweeps(self._terms.queue_days)):
            return swept.going_on(progress.model_copy(update={"position": ""}), self._next_sweep(swept))
        now = self._clock.now()
        return swept.done(Step.DRAINED, now, progress.counts, next_at=now + RUNS_END_MS)

    def _expunge(self, erasure: Erasure, _: str, __: int) -> Erasure:
        now, index = self._clock.now(), self._places.index
        mark = None if erasure.expunging is None else Mark(erasure.expunging)
        left = None if index is None else index.expunge(mark)
        if left is None:
            return erasure.model_copy(update={"expunging": None}).done(Step.EXPUNGED, now, next_at=now)
        return erasure.going_on(None, now + EXPUNGE_LOOK_MS, expunging=str(left))

    def _verify(self, erasure: Erasure, tenant: str, _: int) -> Erasure:
        keys = self._keyring.count(tenant, erasure.ref, erasure.epoch)
        left, now = {**self._places.all.count(tenant, erasure.ref), KEYS: keys}, self._clock.now()
        if not any(left.values()):
            return erasure.done(Step.VERIFIED, now, next_at=now)
        _log.error("something of a person was left after all sweeps", extra={"erasure": erasure.erasure_id, **left})
        self._counts.add(Count.ERASURE_FAILED)
        return erasure.again(now, left)

    def _prove(self, erasure: Erasure, tenant: str, _: int) -> Erasure:
        """The receipt is kept before the fence opens; one that is kept already stands."""
        now, horizons = self._clock.now(), erasure.horizons(self._terms.days)
        after = dict.fromkeys(erasure.found, 0)
        claims = ReceiptClaims(
            jti=erasure.erasure_id,
            slate=self._release,
            tenant=tenant,
            subject_digest=subject_digest(erasure.erasure_id, erasure.ref),
            epoch=erasure.epoch,
            requested_at=erasure.requested_at,
            fenced_at=erasure.fenced_at or 0,
            verified_at=erasure.at(Step.VERIFIED) or 0,
            signed_at=now,
            keys_shredded=erasure.stores(after)[KEYS].erased,
            stores=erasure.stores(after),
            horizons=horizons,
        )
        self._ledger.receipted(_entry(tenant, erasure), self._signer.sign(claims))
        self._fences.open(tenant, erasure.ref, erasure.erasure_id)
        last = max(horizons.keys, horizons.snapshots, horizons.backups)
        return erasure.done(Step.RECEIPTED, now, next_at=last)

    def _close(self, erasure: Erasure, _: str, __: int) -> Erasure:
        return erasure.done(Step.CLOSED, self._clock.now(), next_at=None)

    @staticmethod
    def _with(erasure: Erasure, gone: Mapping[str, int]) -> Erasure:
        return erasure.model_copy(update={"erased": added(erasure.erased, gone)})


def _entry(tenant: str, erasure: Erasure) -> LedgerEntry:
    return LedgerEntry(
        tenant=tenant,
        erasure_id=erasure.erasure_id,
        ref=erasure.ref,
        epoch=erasure.epoch,
        requested_at=erasure.requested_at,
        fenced_at=erasure.fenced_at or 0,
    )
