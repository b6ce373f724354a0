"""Statements are decided under concurrency: a slot is read, the domain decides, and all of it is written, or none.

The slot's version pins the decision: of two writers of one slot one wins, and the other decides again over what it
left. Every fact that changes is pinned to the version that was read. So any number of writers, in any order, end in
the same state. Each transaction holds ``MOST`` writes at most, which leaves room for what guards the subject.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, NamedTuple, TypeVar

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import CONSTANTS, check, put
from slate.adapters.dynamodb.fact_items import FORGOT, FactItems, both_places, consent_key, unknown_fact
from slate.adapters.dynamodb.fact_versions import DynamoFactVersions
from slate.adapters.dynamodb.keys import prefix, subject_pk
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import Conflict, Unavailable, VersionMismatch
from slate.domain.facts.deciding import Fetch
from slate.domain.facts.model import Fact
from slate.domain.facts.timeline import Timeline
from slate.domain.forgetting.acts import Act, came_back
from slate.domain.forgetting.policy import DEFAULT_POLICY, DecayPolicy
from slate.domain.forgetting.versions import following
from slate.ports.fact_store import ConsentMoved
from slate.ports.ids import Ids

T = TypeVar("T")
Policies = Callable[[str], DecayPolicy]
"""How a tenant's memories fade."""
TRIES: Final = 40
MOST: Final = 90
"""Writes of a transaction of facts."""
LEFT: Final = 100
"""Facts that are in a slot's timeline no more, so many of which it names."""


def default_policy(_: str) -> DecayPolicy:
    """For a tenant that has set nothing."""
    return DEFAULT_POLICY


class SlotState(NamedTuple):
    """A slot as it was read."""

    key: Key
    item: Item | None
    timeline: Timeline

    @property
    def left(self) -> list[str]:
        """Facts that were in its timeline once."""
        return [] if self.item is None else [str(each) for each in self.item.get("left", ())]


class Known(NamedTuple):
    """A fact as it was read, and its item."""

    fact: Fact
    item: Item


@dataclass(slots=True)
class Batch:
    """What one decision writes, put together piece by piece."""

    tenant: str
    ref: str
    by: str
    writes: list[Write] = field(default_factory=list)
    consents_at: int | None = None
    """The place of the check of the consents."""


class FactWrites:
    """Reads what a decision needs, and writes what it says."""

    def __init__(self, storage: Storage, items: FactItems, ids: Ids, policies: Policies = default_policy) -> None:
        self._storage = storage
        self._items = items
        self._ids = ids
        self._policies = policies
        self._versions = DynamoFactVersions(storage)
        self._made = count()

    def new_id(self) -> str:
        """An id that sorts by the instant of its making."""
        # The count orders those that this process makes within one millisecond.
        return f"f{self._storage.clock.now():012x}{next(self._made) % 0x10000:04x}{self._ids.new()[-16:]}"

    # ---- reading

    def slot(self, tenant: str, key: Key) -> SlotState:
        """A slot: one read."""
        item = self._storage.calls.get(tenant, key)
        return SlotState(key, item, self._items.timeline(tenant, item))

    def known(self, tenant: str, ref: str, fact_ids: Collection[str]) -> dict[str, Known]:
        """Those of these facts that are there: one read of both places of each.

        A fact may move between the two places while they are read: what shows in neither is looked for once more.
        """
        wanted = list(dict.fromkeys(fact_ids))
        found: dict[str, Known] = {}
        for _ in range(2):
            keys = [key for each in wanted if each not in found for key in both_places(tenant, ref, each)]
            if not keys:
                break
            for item in self._storage.calls.get_many(tenant, keys).values():
                fact = self._items.fact(tenant, item)
                before = found.get(fact.fact_id)
                if before is None or before.fact.version < fact.version:
                    found[fact.fact_id] = Known(fact, item)
        return found

    def one(self, tenant: str, ref: str, fact_id: str, version: int | None = None) -> Known:
        """A fact.

        Raises:
            NotFound: there is none.
            VersionMismatch: it is not at ``version``.
        """
        found = self.known(tenant, ref, [fact_id]).get(fact_id)
        if found is None:
            raise unknown_fact(fact_id)
        if version is not None and found.fact.version != version:
            raise VersionMismatch(found.fact.model_dump(mode="json"))
        return found

    def fetching(self, tenant: str, ref: str, seen: dict[str, Known]) -> Fetch:
        """How the domain asks for facts; what it is given stays in ``seen``."""

        def fetch(fact_ids: Collection[str]) -> Mapping[str, Fact]:
            seen.update(self.known(tenant, ref, [each for each in fact_ids if each not in seen]))
            return {each: seen[each].fact for each in fact_ids if each in seen}

        return fetch

    # ---- writing

    def batch(self, tenant: str, ref: str) -> Batch:
        """An empty one."""
        return Batch(tenant, ref, self._ids.new())

    def with_slot(self, batch: Batch, slot: SlotState, timeline: Timeline, *, gone: Collection[str] = ()) -> None:
        """The slot's next version, over the one that was read, without what is ``gone`` for good.

        It names the facts that were in its timeline once and are no more: they go with what they became one with.
        """
        version = 1 if slot.item is None else slot.item["version"] + 1
        out = dict.fromkeys([*slot.left, *sorted(_named(slot.timeline) - _named(timeline))])
        left = [fact_id for fact_id in out if fact_id not in gone][-LEFT:]
        item = self._items.slot_item(batch.tenant, batch.ref, slot.key, timeline, version, batch.by, left)
        batch.writes.append(_over(item, slot.item))

    def with_facts(self, batch: Batch, changed: Sequence[Fact], seen: Mapping[str, Known], slot: str) -> list[Fact]:
        """Facts as they are to be, over what was read; those that live or are past by now change their place."""
        now, written = self._storage.clock.now(), []
        policy = self._policies(batch.tenant)
        for fact in changed:
            before = seen.get(fact.fact_id)
            next_one = following(None if before is None else before.fact, fact, policy, now)
            item = self._items.fact_item(batch.tenant, batch.ref, next_one.fact, slot, next_one.due)
            batch.writes += _moved({**item, "by": batch.by}, None if before is None else before.item)
            if before is not None:
                batch.writes += self._versions.kept(batch.tenant, batch.ref, before.fact, fact)
            if next_one.act is not None:
                self.with_log(batch, next_one.act, fact)
            written.append(next_one.fact)
        return written

    def with_log(self, batch: Batch, act: Act, fact: Fact) -> None:
        """An entry of the forgetting log."""
        entry = act.entry(fact, self._ids.new())
        batch.writes.append(put(self._items.log_item(batch.tenant, batch.ref, entry)))

    def note_restored(self, tenant: str, ref: str, fact_id: str, at: int) -> None:
        """The entries of the log about this fact that are still open say when it came back."""
        items = self._storage.calls.query(tenant, subject_pk(tenant, ref), between=prefix(FORGOT))
        for item in [each for each in items if each.get("fact") == fact_id]:
            entry = self._items.log_entry(tenant, item)
            noted = came_back(entry, at)
            if noted is None:
                continue
            seen = {**CONSTANTS, ":seen": entry.version}
            key, again = Key(item["pk"], item["sk"]), self._items.log_item(tenant, ref, noted)
            with suppress(ConditionFailed):  # another restore notes it
                self._storage.calls.write(tenant, Write(key, "#version = :seen", seen, item=again))

    def with_consents(self, batch: Batch, version: int | None) -> None:
        """Only while the consents are as they were looked at."""
        if version is None:
            return
        batch.consents_at = len(batch.writes)
        key = consent_key(batch.tenant, batch.ref)
        batch.writes.append(check(key, "#version = :seen", seen=version))

    def commit(self, batch: Batch) -> bool:
        """All of it, or nothing and False where something moved meanwhile.

        Raises:
            ConsentMoved: it was the consents.
            Conflict: it is more than one transaction holds.
        """
        if len(batch.writes) > MOST:
            raise Conflict("too many facts hang on this one slot; delete some of them first")
        try:
            self._storage.calls.transact(batch.tenant, batch.writes, batch.by)
        except TransactionRefused as refused:
            if any(there is not None and there.get("by") == batch.by for there in refused.failed.values()):
                return True  # this very transaction was applied, and only its reply was lost
            if batch.consents_at in refused.failed:
                raise ConsentMoved from None
            return False
        return True

    def again(self, attempt: int) -> None:
        """Rest before deciding again."""
        self._storage.calls.pause(min(attempt, 5))

    @staticmethod
    def busy() -> Unavailable:
        """Others keep changing the same."""
        return Unavailable("other calls keep changing this fact; repeat the call")


def tried(writes: FactWrites, once: Callable[[], T | None]) -> T:
    """Decide and write, again where something moved meanwhile.

    Raises:
        Unavailable: it moved every time.
    """
    for attempt in range(TRIES):
        done = once()
        if done is not None:
            return done
        writes.again(attempt)
    raise writes.busy()


def _named(timeline: Timeline) -> set[str]:
    return {each.fact_id for each in timeline if each.fact_id}


def pinned_to(before: Item, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The condition that an item is as it was read: its version, and of a fact that nobody used it since."""
    seen = {**CONSTANTS, **values, ":seen": before["version"]}
    if "woken_at" in before:
        return "#version = :seen AND #woken_at = :woken_seen", {**seen, ":woken_seen": before["woken_at"]}
    return "#version = :seen AND attribute_not_exists(#woken_at)", seen


def _over(item: Item, before: Item | None) -> Write:
    if before is None:
        return put(item)
    condition, values = pinned_to(before, {})
    return Write(Key(item["pk"], item["sk"]), condition, values, item=item)


def _moved(item: Item, before: Item | None) -> list[Write]:
    if before is None or before["sk"] == item["sk"]:
        return [_over(item, before)]
    condition, values = pinned_to(before, {})
    gone = Write(Key(before["pk"], before["sk"]), condition, values, delete=True)
    return [gone, put(item)]
