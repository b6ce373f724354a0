"""What is deleted leaves everything that was made of it: facts known from a turn alone, receipts that show either.

A turn that is deleted is gone at once; the facts known from it alone are forgotten, and go for good with their undo
window, as any fact that somebody deletes. Receipts are redacted once: a turn's right after it, a fact's once it cannot
come back. Reads have left out what is gone from its first moment on. Every step may be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from slate.domain.context import Context
from slate.domain.facts.model import Fact, FactState, Quarantined, Source
from slate.domain.forgetting.acts import Act
from slate.ports.clock import Clock
from slate.ports.fact_records import FactRecords
from slate.ports.holds import HELD_MS, Held
from slate.ports.memory_timer import DueMemory, MemoryTimer
from slate.ports.scrubs import Scrub, Scrubs
from slate.service.facts.deciding import DAY_MS
from slate.service.facts.remembering import Facts
from slate.service.tenants import Tenants

TURN_DELETED: Final = "turn_deleted"
_BY: Final = "slate"


class Scrubbing:
    """Works off what is to be scrubbed."""

    def __init__(
        self,
        scrubs: Scrubs,
        facts: Facts,
        records: FactRecords,
        tenants: Tenants,
        timer: MemoryTimer,
        clock: Clock,
        redacted: Callable[[str, Context], Context],
        *,
        unsaid: Callable[[str, str, Collection[tuple[str, int]]], None],
        held: Held,
    ) -> None:
        """``redacted`` gives a receipt (of a tenant) without what is gone; ``unsaid`` is told of a person's turns."""
        self._unsaid = unsaid
        self._scrubs = scrubs
        self._facts = facts
        self._records = records
        self._tenants = tenants
        self._timer = timer
        self._clock = clock
        self._redacted = redacted
        self._held = held

    def tick(self, due: DueMemory, deadline: int) -> None:
        """Scrub what of a person is to be; what there is no time for is gone on with."""
        tenant, ref = due.tenant, due.owner
        if self._held(tenant, ref):
            self._timer.postpone(due, HELD_MS)
            return
        seen = self._scrubs.read(tenant, ref)
        if seen is None:
            return
        if seen.turns and not seen.position:
            self._unlearn(tenant, ref, seen)
        for context in self._scrubs.receipts(tenant, ref, seen.position):
            left = self._redacted(tenant, context)
            if left != context:
                self._scrubs.redact(tenant, left)
            if self._clock.now() > deadline:
                self._scrubs.go_on(tenant, ref, seen, context.context_id)
                return
        self._scrubs.done(tenant, ref, seen)

    def _unlearn(self, tenant: str, ref: str, seen: Scrub) -> None:
        """What is known from a turn that is gone, and was not said again since; and what was held back from it."""

        def learned(fact: Fact) -> bool:
            return (
                _said_in(fact.source, seen)
                and fact.state is not FactState.FORGOTTEN
                and fact.last_confirmed_at == fact.observed_at
            )

        now = self._clock.now()
        until = now + self._tenants.of(tenant).restore_days * DAY_MS
        act = Act(TURN_DELETED, "the turn that it was learned from was deleted", _BY, now, until)
        self._facts.forget_all(tenant, ref, learned, act, said=True)
        self._records.drop(tenant, ref, lambda held: _of_turn(held, seen))
        self._unsaid(tenant, ref, seen.turns)


def _of_turn(held: Quarantined, seen: Scrub) -> bool:
    return _said_in(held.source, seen)


def _said_in(source: Source | str | None, seen: Scrub) -> bool:
    return (
        isinstance(source, Source)
        and source.session_id is not None
        and source.seq is not None
        and (source.session_id, source.seq) in seen.turns
    )
