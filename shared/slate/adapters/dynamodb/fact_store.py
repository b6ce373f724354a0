"""Facts: each step reads a slot and the facts that hang on it, and is one transaction over both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from typing import Final, TypeVar

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.changes import CONSTANTS, put
from slate.adapters.dynamodb.fact_items import FACT, NOTICE, PAST, FactItems
from slate.adapters.dynamodb.fact_versions import DynamoFactVersions
from slate.adapters.dynamodb.fact_writes import Batch, FactWrites, Known, Policies, SlotState, default_policy, tried
from slate.adapters.dynamodb.keys import prefix, subject_pk
from slate.adapters.dynamodb.scrub_store import DynamoScrubs
from slate.adapters.dynamodb.storage import Storage
from slate.domain.facts import changing, deciding
from slate.domain.facts.changing import with_history
from slate.domain.facts.model import Decision, Fact, FactState
from slate.domain.facts.notices import notice_of, outdated
from slate.domain.facts.slots import Slot
from slate.domain.facts.standing import history
from slate.domain.facts.timeline import Timeline, blanked, fold
from slate.domain.forgetting.acts import Act
from slate.domain.forgetting.fading import is_over
from slate.ports.fact_store import Shelf, Stated
from slate.ports.graph_store import Page
from slate.ports.ids import Ids

T = TypeVar("T")
_PREFIXES: Final = {Shelf.LIVING: FACT, Shelf.PAST: PAST}


class DynamoFactStore:
    """Keeps facts in DynamoDB."""

    def __init__(self, storage: Storage, ids: Ids, policies: Policies = default_policy) -> None:
        self._storage = storage
        self._ids = ids
        self._items = FactItems(storage)
        self._scrubs = DynamoScrubs(storage)
        self._versions = DynamoFactVersions(storage)
        self._writes = FactWrites(storage, self._items, ids, policies)

    # ---- statements

    def state(self, tenant: str, ref: str, stated: Stated, act: Act) -> Decision:
        """A read of the slot, one of the facts that change, and a transaction; all again where another was faster.

        What comes back by being said again is told in the log, which may be late.
        """
        key, fresh = self._items.slot_key(tenant, ref, stated.slot), self._writes.new_id()
        fact = stated.fact.model_copy(update={"fact_id": fresh})
        said = stated.said._replace(fact_id=fresh)

        def once() -> Decision | None:
            slot, seen = self._writes.slot(tenant, key), dict[str, Known]()
            fetch = self._writes.fetching(tenant, ref, seen)
            plan = deciding.state(slot.timeline, fact, said, fetch, self._writes.new_id, act.at)
            batch = self._writes.batch(tenant, ref)
            if plan.shelves and plan.fact is not None:
                self._writes.with_log(batch, act, plan.fact)
            return self._decided(batch, slot, plan, seen, stated.consents)

        decision = self._tried(once)
        if decision.reason == deciding.AGAIN and decision.fact_id is not None:
            self._writes.note_restored(tenant, ref, decision.fact_id, act.at)
        return decision

    def withdraw(self, tenant: str, ref: str, stated: Stated) -> Decision:
        """As ``state``."""
        key = self._items.slot_key(tenant, ref, stated.slot)
        said = stated.said._replace(fact_id=self._writes.new_id())

        def once() -> Decision | None:
            slot, seen = self._writes.slot(tenant, key), dict[str, Known]()
            fetch, now = self._writes.fetching(tenant, ref, seen), self._storage.clock.now()
            plan = deciding.withdraw(slot.timeline, said, fetch, self._writes.new_id, now)
            return self._decided(self._writes.batch(tenant, ref), slot, plan, seen, None)

        return self._tried(once)

    def _decided(
        self,
        batch: Batch,
        slot: SlotState,
        plan: deciding.Plan,
        seen: dict[str, Known],
        consents: int | None,
    ) -> Decision | None:
        if not plan.writes:
            return plan.decision
        self._writes.with_slot(batch, slot, plan.timeline)
        self._writes.with_facts(batch, plan.changed, seen, slot.key.sk)
        self._writes.with_consents(batch, consents)
        if plan.replaced:
            self._notify(batch, plan)
        return plan.decision if self._writes.commit(batch) else None

    def _notify(self, batch: Batch, plan: deciding.Plan) -> None:
        notice = notice_of(plan.fact, plan.replaced, self._ids.new(), self._storage.clock.now())
        batch.writes.append(put(self._items.notice_item(batch.tenant, batch.ref, notice)))

    def _tried(self, once: Callable[[], T | None]) -> T:
        return tried(self._writes, once)

    # ---- reads

    def active(self, tenant: str, ref: str) -> list[Fact]:
        """One query of what lives."""
        items = self._storage.calls.query(tenant, subject_pk(tenant, ref), between=prefix(FACT))
        return self._items.facts(tenant, (item for item in items if item["state"] == FactState.ACTIVE))

    def page(
        self, tenant: str, ref: str, shelves: Sequence[Shelf], position: str | None, limit: int
    ) -> Page[tuple[str, Fact]]:
        """A query a shelf, until there are enough."""
        found: list[Item] = []
        for start in sorted(_PREFIXES[shelf] for shelf in shelves):
            low, high = prefix(start)
            if position is not None and position >= high:
                continue
            begin = low if position is None or position < low else f"{position} "
            items = self._storage.calls.query(tenant, subject_pk(tenant, ref), between=(begin, high), at_once=limit + 1)
            found += islice(items, limit + 1 - len(found))
            if len(found) > limit:
                break
        shown = found[:limit]
        facts = [(str(item["sk"]), fact) for item in shown for fact in self._items.facts(tenant, [item])]
        return Page(facts, str(shown[-1]["sk"]) if len(found) > limit else None)

    def get(self, tenant: str, ref: str, fact_id: str) -> Fact:
        """One read of both places."""
        return self._writes.one(tenant, ref, fact_id).fact

    def history(self, tenant: str, ref: str, fact_id: str) -> list[Fact]:
        """A read of the fact, of its slot, and of the facts that hang on it."""
        known = self._writes.one(tenant, ref, fact_id)
        slot = self._writes.slot(tenant, Key(known.item["pk"], known.item["slot"]))
        ids = [*fold(slot.timeline), fact_id]
        facts = [each.fact for each in self._writes.known(tenant, ref, ids).values()]
        return history(facts, fact_id)

    # ---- what is done to a fact

    def _on(
        self,
        tenant: str,
        ref: str,
        fact_id: str,
        change: Callable[[Timeline, Fact, deciding.Fetch], changing.Changed],
        *,
        also: Callable[[Batch, Known], None] = lambda _batch, _known: None,
        consents: int | None = None,
        version: int | None = None,
    ) -> Fact:
        def once() -> Fact | None:
            known = self._writes.one(tenant, ref, fact_id, version)
            slot = self._writes.slot(tenant, Key(known.item["pk"], known.item["slot"]))
            seen = {fact_id: known}
            changed = change(slot.timeline, known.fact, self._writes.fetching(tenant, ref, seen))
            if not changed.changed:
                return known.fact
            batch = self._writes.batch(tenant, ref)
            if changed.timeline != slot.timeline or slot.item is None:
                self._writes.with_slot(batch, slot, changed.timeline)
            written = self._writes.with_facts(batch, changed.changed, seen, slot.key.sk)
            self._writes.with_consents(batch, consents)
            also(batch, known)
            if not self._writes.commit(batch):
                return None
            return next((fact for fact in written if fact.fact_id == fact_id), known.fact)

        return self._tried(once)

    def forget(self, tenant: str, ref: str, fact_id: str, act: Act, *, said: bool, version: int | None = None) -> Fact:
        """One transaction over the slot, the fact and the log; then the notices, which a repeat drops too."""
        fact = self._forgotten(tenant, ref, fact_id, act, said=said, version=version)
        self._drop_notices(tenant, ref, [fact_id])
        return fact

    def forget_many(self, tenant: str, ref: str, fact_ids: Sequence[str], act: Act, *, said: bool) -> int:
        """The same for each, side by side, and one look at the notices."""
        self._storage.each(lambda fact_id: self._forgotten(tenant, ref, fact_id, act, said=said), fact_ids)
        self._drop_notices(tenant, ref, fact_ids)
        return len(fact_ids)

    def _forgotten(
        self, tenant: str, ref: str, fact_id: str, act: Act, *, said: bool, version: int | None = None
    ) -> Fact:
        def gone(timeline: Timeline, fact: Fact, fetch: deciding.Fetch) -> changing.Changed:
            if fact.state is FactState.FORGOTTEN:
                return changing.Changed(timeline, ())
            return changing.forget(timeline, fact, fetch, act.at, act.restorable_until, said=said)

        def also(batch: Batch, known: Known) -> None:
            self._writes.with_log(batch, act, known.fact)

        return self._on(tenant, ref, fact_id, gone, also=also, version=version)

    def _drop_notices(self, tenant: str, ref: str, fact_ids: Sequence[str]) -> None:
        """What names a fact that was forgotten, or edited, is told to nobody."""
        gone, names = set(fact_ids), ("pk", "sk", "about")
        if not gone:
            return
        notices = self._storage.calls.query(tenant, subject_pk(tenant, ref), between=prefix(NOTICE), names=names)
        keys = [Key(item["pk"], item["sk"]) for item in notices if not gone.isdisjoint(item["about"])]
        self._storage.calls.delete_many(tenant, keys)

    def restore(self, tenant: str, ref: str, fact_id: str, at: int, *, consents: int | None = None) -> Fact:
        """The same backward; then the log says so, which may be late."""

        def back(timeline: Timeline, fact: Fact, fetch: deciding.Fetch) -> changing.Changed:
            return changing.restore(timeline, fact, fetch, self._writes.new_id)

        fact = self._on(tenant, ref, fact_id, back, consents=consents)
        self._writes.note_restored(tenant, ref, fact_id, at)
        return fact

    def keep(self, tenant: str, ref: str, fact_id: str, act: Act) -> Fact:
        """As ``forget``."""

        def limbo(timeline: Timeline, fact: Fact, fetch: deciding.Fetch) -> changing.Changed:
            if fact.state is FactState.LIMBO and fact.keep_maybe:
                return changing.Changed(timeline, ())
            return changing.keep_maybe(timeline, fact, fetch, self._writes.new_id)

        def also(batch: Batch, known: Known) -> None:
            self._writes.with_log(batch, act, known.fact)

        return self._on(tenant, ref, fact_id, limbo, also=also)

    def confirm(self, tenant: str, ref: str, fact_id: str, at: int, at_least: float = 0.0) -> Fact:
        """As ``state``."""

        def holds(timeline: Timeline, fact: Fact, fetch: deciding.Fetch) -> changing.Changed:
            return changing.confirm(timeline, fact, fetch, self._writes.new_id, at, at_least)

        return self._on(tenant, ref, fact_id, holds)

    def edit(self, tenant: str, ref: str, edited: Fact, slot: Slot, version: int | None) -> Fact:
        """One transaction over the slot that it leaves, the one that it comes to, and the facts of both.

        Then the notices that name it go, if they are out of date by that.
        """
        before: list[Fact] = []
        target = self._items.slot_key(tenant, ref, slot)

        def once() -> Fact | None:
            known = self._writes.one(tenant, ref, edited.fact_id, version or edited.version)
            before[:] = [known.fact]
            old = self._writes.slot(tenant, Key(known.item["pk"], known.item["slot"]))
            new = None if target.sk == old.key.sk else self._writes.slot(tenant, target)
            seen = {edited.fact_id: known}
            fetch = self._writes.fetching(tenant, ref, seen)
            there = None if new is None else new.timeline
            moved = changing.edit(old.timeline, there, known.fact, edited, fetch, self._writes.new_id)
            batch = self._writes.batch(tenant, ref)
            for at, timeline in ((old, moved.old), (new, moved.new)):
                if at is not None and timeline != at.timeline:
                    self._writes.with_slot(batch, at, timeline)
            arrives = {edited.fact_id, *(each.fact_id for each in moved.new)} if new is not None else set[str]()
            stay = [fact for fact in moved.changed if fact.fact_id not in arrives]
            come = [fact for fact in moved.changed if fact.fact_id in arrives]
            written = self._writes.with_facts(batch, stay, seen, old.key.sk)
            written += self._writes.with_facts(batch, come, seen, target.sk)
            if not self._writes.commit(batch):
                return None
            return next((fact for fact in written if fact.fact_id == edited.fact_id), known.fact)

        done = self._tried(once)
        self._drop_notices(tenant, ref, [fact.fact_id for fact in before if outdated(fact, done)])
        return done

    def purge(self, tenant: str, ref: str, fact_id: str) -> None:
        """That it goes is noted, the slot forgets its words and those of what it replaced; the item goes last.

        A fact that became one with another is in the timeline no more; the slot names it beside.
        """
        known = self._writes.known(tenant, ref, [fact_id]).get(fact_id)
        now = self._storage.clock.now()
        if known is None or not is_over(known.fact, now):
            return

        place = Key(known.item["pk"], known.item["slot"])
        seen_slot = self._writes.slot(tenant, place)
        said = [each.fact_id for each in seen_slot.timeline if each.fact_id]
        slot_facts = self._writes.known(tenant, ref, [*said, *seen_slot.left])
        gone = with_history((each.fact for each in slot_facts.values()), fact_id)
        self._scrubs.facts_gone(tenant, ref, gone)

        def once() -> bool | None:
            slot = self._writes.slot(tenant, place)
            left = reduce(blanked, gone, slot.timeline)
            if slot.item is None or (left and left == slot.timeline):
                return True
            batch = self._writes.batch(tenant, ref)
            if left:
                self._writes.with_slot(batch, slot, left, gone=gone)
            else:  # nobody said anything else of it: an empty slot for each fact there ever was is no memory
                at = {**CONSTANTS, ":seen": slot.item["version"]}
                batch.writes.append(Write(place, "#version = :seen", at, delete=True))
            return True if self._writes.commit(batch) else None

        self._tried(once)
        for each in (*(slot_facts[one] for one in gone[:-1]), known):
            seen = {**CONSTANTS, ":seen": each.fact.version}
            self._versions.remove(tenant, ref, each.fact.fact_id)
            with suppress(ConditionFailed):  # restored meanwhile, or gone
                self._storage.calls.write(
                    tenant, Write(Key(each.item["pk"], each.item["sk"]), "#version = :seen", seen, delete=True)
                )
