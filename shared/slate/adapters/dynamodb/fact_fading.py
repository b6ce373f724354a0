"""Facts that fade and wake: each look at one is a read, and one conditional write on the version that was read.

::

    FACT#<fact>              a fact that lives; in the timer index for the instant at which it fades further
    STEP#<fact>#<once>       that feedback has moved its importance: once for each occasion
    ASKED                    what was asked about the person lately; sealed
    SERVED#<session>         the facts that a session was served; sealed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.changes import CONSTANTS, Change, put
from slate.adapters.dynamodb.fact_items import FACT, FactItems
from slate.adapters.dynamodb.fact_writes import (
    Batch,
    FactWrites,
    Known,
    Policies,
    default_policy,
    pinned_to,
    tried,
)
from slate.adapters.dynamodb.keys import prefix, subject_attributes, subject_pk, timer_attributes, timer_due
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import TIMER_SK
from slate.domain.facts.model import Fact, FactState
from slate.domain.forgetting.acts import gone, left_by_itself, stepping
from slate.domain.forgetting.lately import with_query, with_served
from slate.domain.forgetting.strength import DAY_MS, due_at
from slate.ports.fact_fading import Fade, Settled
from slate.ports.ids import Ids

STEP_KEPT_DAYS: Final = 400
_ASKED: Final = "ASKED"
_SERVED: Final = "SERVED#"
_STEP: Final = "STEP#"
_TRIES: Final = 5


class DynamoFactFading:
    """Lets facts fade and wake in DynamoDB."""

    def __init__(self, storage: Storage, ids: Ids, policies: Policies = default_policy) -> None:
        self._storage = storage
        self._ids = ids
        self._policies = policies
        self._items = FactItems(storage)
        self._writes = FactWrites(storage, self._items, ids, policies)

    # ---- fading

    def settle(self, tenant: str, ref: str, fact_id: str, decide: Callable[[Fact], Fade | None]) -> Settled | None:
        """A read of both places, then a transaction with the log, or an update that moves the entry."""

        def once() -> Settled | bool | None:
            known = self._writes.known(tenant, ref, [fact_id]).get(fact_id)
            if known is None:
                return False
            fact, due = known.fact, _due(known.item)
            fade = decide(fact)
            if fade is None:
                return Settled(fact, fact.state, due) if self._moved_on(tenant, known) else None
            batch = self._writes.batch(tenant, ref)
            after = gone(fact, fade.state, fade.act)
            (written,) = self._writes.with_facts(batch, [after], {fact_id: known}, known.item["slot"])
            self._writes.with_log(batch, fade.act, fact)
            return Settled(written, fact.state, due) if self._writes.commit(batch) else None

        settled = tried(self._writes, once)
        return settled if isinstance(settled, Settled) else None

    def _moved_on(self, tenant: str, known: Known) -> bool:
        """The entry goes to where it is due by now; False where the fact changed meanwhile."""
        key = Key(known.item["pk"], known.item["sk"])
        due = due_at(known.fact, self._policies(tenant), self._storage.clock.now())
        if due is None or due == _due(known.item):
            return True
        change = Change().set(**timer_attributes(key, due, "memory"))
        condition, values = pinned_to(known.item, {})
        return self._applied(tenant, change.on(key, condition, **_bare(values)))

    # ---- waking

    def wake(self, tenant: str, ref: str, fact_ids: Sequence[str], change: Callable[[Fact], Fact | None]) -> list[Fact]:
        """One read of all; then an update each, side by side, or a transaction for what comes back from limbo."""
        known = self._writes.known(tenant, ref, fact_ids)
        done = self._storage.each(lambda each: self._woken(tenant, ref, each, change), known.values())
        return [fact for fact in done if fact is not None]

    def _woken(self, tenant: str, ref: str, known: Known, change: Callable[[Fact], Fact | None]) -> Fact | None:
        for _ in range(_TRIES):
            up = change(known.fact)
            if up is None:
                return None
            if up.state is not known.fact.state:
                return self._back(tenant, ref, up.fact_id, change)
            if self._used(tenant, known, up):
                return up
            again = self._writes.known(tenant, ref, [up.fact_id]).get(up.fact_id)
            if again is None:
                return None
            known = again
        raise self._writes.busy()

    def _used(self, tenant: str, known: Known, up: Fact) -> bool:
        """An update of what stands in clear: it is no new version, and nothing is sealed anew."""
        key = Key(known.item["pk"], known.item["sk"])
        change = Change().set(woken_at=up.woken_at, wakes=up.wakes)
        due = due_at(up, self._policies(tenant), self._storage.clock.now())
        if due is not None:
            change.set(**timer_attributes(key, due, "memory"))
        condition, values = pinned_to(known.item, {})
        return self._applied(tenant, change.on(key, condition, **_bare(values)), woken_at=up.woken_at, wakes=up.wakes)

    def _back(self, tenant: str, ref: str, fact_id: str, change: Callable[[Fact], Fact | None]) -> Fact | None:
        def once() -> Fact | bool | None:
            known = self._writes.known(tenant, ref, [fact_id]).get(fact_id)
            up = None if known is None else change(known.fact)
            if known is None or up is None:
                return False
            batch = self._writes.batch(tenant, ref)
            (written,) = self._writes.with_facts(batch, [up], {fact_id: known}, known.item["slot"])
            return written if self._writes.commit(batch) else None

        back = tried(self._writes, once)
        if not isinstance(back, Fact):
            return None
        self._writes.note_restored(tenant, ref, fact_id, self._storage.clock.now())
        return back

    # ---- steps

    def step(self, tenant: str, ref: str, fact_id: str, once: str, reason: str, change: Callable[[Fact], Fact]) -> bool:
        """One transaction over the fact, its log, and the note that this occasion has had its say."""
        now = self._storage.clock.now()
        note = Key(subject_pk(tenant, ref), f"{_STEP}{fact_id}#{once}")

        def attempt() -> bool | None:
            known = self._writes.known(tenant, ref, [fact_id]).get(fact_id)
            if known is None or known.fact.state is FactState.FORGOTTEN:
                return False
            after = change(known.fact)
            if after == known.fact or self._storage.calls.get(tenant, note) is not None:
                return False
            batch = self._writes.batch(tenant, ref)
            self._writes.with_facts(batch, [after], {fact_id: known}, known.item["slot"])
            self._writes.with_log(batch, stepping(known.fact, after, now, reason), known.fact)
            batch.writes.append(put(self._noted(batch, note, now)))
            return True if self._writes.commit(batch) else None

        return tried(self._writes, attempt)

    @staticmethod
    def _noted(batch: Batch, note: Key, now: int) -> Item:
        ttl = (now + STEP_KEPT_DAYS * DAY_MS) // 1000
        return {**note.attributes, **subject_attributes(batch.tenant, batch.ref), "by": batch.by, "ttl": ttl}

    # ---- all of a person's

    def deleted(self, tenant: str, ref: str, fact_ids: Sequence[str]) -> set[str]:
        """One read of both places of each."""
        known = self._writes.known(tenant, ref, fact_ids)
        return set(fact_ids) - {fact_id for fact_id, each in known.items() if left_by_itself(each.fact)}

    def living(self, tenant: str, ref: str) -> list[Fact]:
        """One query."""
        return self._items.facts(
            tenant, self._storage.calls.query(tenant, subject_pk(tenant, ref), between=prefix(FACT))
        )

    def count(self, tenant: str, ref: str, most: int) -> int:
        """One query of keys."""
        found = self._storage.calls.query(tenant, subject_pk(tenant, ref), between=prefix(FACT), names=("sk",))
        return sum(1 for _ in islice(found, most + 1))

    def note_query(self, tenant: str, ref: str, query: str) -> None:
        """A put over what was read; one that others are faster than is not missed."""
        self._note(tenant, ref, _ASKED, lambda asked: with_query(asked, query), ttl=None)

    def queries(self, tenant: str, ref: str) -> list[str]:
        """One read."""
        return self._listed(tenant, self._storage.calls.get(tenant, Key(subject_pk(tenant, ref), _ASKED)))

    def note_served(self, tenant: str, ref: str, session_id: str, fact_ids: Sequence[str]) -> None:
        """As ``note_query``."""
        ttl = (self._storage.clock.now() + STEP_KEPT_DAYS * DAY_MS) // 1000
        self._note(tenant, ref, _SERVED + session_id, lambda served: with_served(served, fact_ids), ttl=ttl)

    def served(self, tenant: str, ref: str, session_id: str) -> list[str]:
        """One read."""
        key = Key(subject_pk(tenant, ref), _SERVED + session_id)
        return self._listed(tenant, self._storage.calls.get(tenant, key))

    def _note(
        self, tenant: str, ref: str, sk: str, change: Callable[[list[str]], list[str]], *, ttl: int | None
    ) -> None:
        key = Key(subject_pk(tenant, ref), sk)
        item = self._storage.calls.get(tenant, key)
        before = self._listed(tenant, item)
        after = change(before)
        if after == before:
            return
        version = 1 if item is None else item["version"] + 1
        noted = self._items.sealed(tenant, ref, key, after, version=version, ttl=ttl)
        seen = {**CONSTANTS, ":seen": version - 1}
        condition = "attribute_not_exists(#pk)" if item is None else "#version = :seen"
        with suppress(ConditionFailed):
            self._storage.calls.write(tenant, Write(key, condition, seen, item=noted))

    def _listed(self, tenant: str, item: Item | None) -> list[str]:
        return [] if item is None else [str(each) for each in self._items.opened(tenant, item)]

    def _applied(self, tenant: str, write: Write, **wanted: int | None) -> bool:
        """Whether it was written, perhaps by this call whose reply was lost: what is wanted stands there then."""
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed as failed:
            return failed.old is not None and bool(wanted) and all(failed.old.get(k) == v for k, v in wanted.items())
        return True


def _due(item: Item) -> int | None:
    return timer_due(item) if TIMER_SK in item else None


def _bare(values: dict[str, object]) -> dict[str, object]:
    """Without the colons, and without the constants that every change has."""
    return {name[1:]: value for name, value in values.items() if name not in CONSTANTS}
