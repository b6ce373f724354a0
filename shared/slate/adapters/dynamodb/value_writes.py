"""The writes of changes to values: planned from what is there, each on the condition that it still is.

A transaction holds all of them, or those and a completion. Nothing is written where nothing may be: a value that is
there is its own proof, a first one needs the `VALUES` item, and that one needs the head in a state that takes values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import CONSTANTS, check, put
from slate.adapters.dynamodb.codec import OVERHEAD_BYTES
from slate.adapters.dynamodb.keys import (
    owner_head_key,
    owner_pk,
    subject_attributes,
    timer_attributes,
    value_key,
    values_key,
    version_key,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.value_items import ValueItems, folder, is_live, live_version, next_version
from slate.domain import values as rules
from slate.domain.errors import Conflict, NotFound, Unavailable
from slate.domain.graphs import GraphState
from slate.domain.values import WRITABLE, Author, Change, Changed, Op, Owner, OwnerKind

VALUE_TRIES: Final = 40
_LONGEST_PAUSE: Final = 4
"""The pause between tries stops growing here: a counter that many write is free again within milliseconds."""
_ROOM: Final = 3_000_000
"""Of a transaction's 4 MB, for values and what they replace."""
_DAY_MS: Final = 86_400_000
_READS: Final = (Op.INCREMENT, Op.APPEND, Op.MERGE)


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes of some changes, and what they come to."""

    writes: list[Write] = field(default_factory=list)
    results: list[Changed] = field(default_factory=list)
    firsts: list[Item] = field(default_factory=list)
    """The items of the values, as they will be."""
    obsolete: list[str] = field(default_factory=list)
    """Where objects lie that nothing names once this is written."""
    own_objects: list[str] = field(default_factory=list)
    """Objects that nothing names unless this is written."""

    @property
    def token(self) -> str:
        """The same for the same writes, and for no others: by it DynamoDB knows a resend."""
        digest = blake2b(digest_size=16)
        for item in self.firsts:
            digest.update(f"{item['sk']} {item['version']} {item['by']}".encode())
            digest.update(bytes(item.get(contents.CONTENT, b"")) or str(item.get(contents.BLOB)).encode())
        return digest.hexdigest()


class ValueWrites:
    """Plans changes, and tells after a refusal whether they were made all the same."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._items = ValueItems(storage)

    def plan(self, tenant: str, owner: Owner, changes: Sequence[Change], author: Author) -> Plan:
        """One read of what is there, then the writes; raises as ``ValueStore.change``."""
        if not changes:
            return Plan()
        pk = owner_pk(tenant, owner)
        keys = [value_key(pk, change.key) for change in changes]
        found = self._storage.calls.get_many(tenant, [values_key(pk), *keys])
        made = [self._made(tenant, change, found.get(key)) for key, change in zip(keys, changes, strict=True)]
        admitted: list[Write] = []
        if any(key not in found for key in keys):
            admitted = self._admission(tenant, owner, found.get(values_key(pk)))
        plan = Plan()  # only now: what follows writes objects
        inline = self._inline(made, [found.get(key) for key in keys])
        for key, change, value, small in zip(keys, changes, made, inline, strict=True):
            self._add(plan, tenant, owner, key, change, found.get(key), value, author, inline=small)
        plan.writes.extend(admitted)
        return plan

    def _made(self, tenant: str, change: Change, item: Item | None) -> Any:
        """What the value becomes; nothing where it goes."""
        current = None
        fits = rules.admit(change, live_version(item))
        if item is not None and is_live(item) and (not fits or change.op in _READS):
            current = self._items.value(tenant, item)
        if not fits:
            raise rules.mismatch(change, current)
        if change.op is Op.DELETE:
            return None
        value = rules.applied(change, current)
        rules.check_size(change.key, contents.size_of(value))
        return value

    def _inline(self, made: Sequence[Any], before: Sequence[Item | None]) -> list[bool]:
        """Which of them stand on their items: the small ones first, as many as a transaction holds."""
        sizes = [contents.size_of(value) for value in made]
        room = _ROOM - sum(len((item or {}).get(contents.CONTENT, b"")) for item in before)
        small = [False] * len(made)
        for i in sorted(range(len(made)), key=sizes.__getitem__):
            room -= sizes[i] + OVERHEAD_BYTES
            small[i] = sizes[i] <= contents.ITEM_BYTES and room >= 0
        return small

    def _add(
        self,
        plan: Plan,
        tenant: str,
        owner: Owner,
        key: Key,
        change: Change,
        before: Item | None,
        value: Any,
        author: Author,
        *,
        inline: bool,
    ) -> None:
        """The value's new item, and in the history what it was."""
        ref = owner.subject_ref
        version = next_version(before)
        if change.op is Op.DELETE and before is not None:
            item = self._items.gone(tenant, ref, key, before, author)
            plan.obsolete.extend(folder(tenant, ref, key, v) + "/" for v in before.get("objects", ()))
        else:
            sealed = self._items.sealed(tenant, ref, key, version, value)
            item = self._items.live(tenant, ref, key, before, author, sealed, inline=inline)
            plan.own_objects.extend([item[contents.BLOB]] if contents.BLOB in item else [])
            lost = set((before or {}).get("objects", ())) - set(item.get("objects", ()))
            plan.obsolete.extend(folder(tenant, ref, key, v) + "/" for v in sorted(lost))
        plan.firsts.append(item)
        plan.results.append(Changed(key=change.key, version=version, deleted=change.op is Op.DELETE, value=value))
        if before is None:
            plan.writes.append(put(item))
            return
        seen = {":seen": before["version"]}
        plan.writes.append(Write(key, "#version = :seen", {**CONSTANTS, **seen}, item=item))
        earlier = self._items.earlier(before, with_content=change.op is not Op.DELETE)
        older = "attribute_not_exists(#pk) OR #version < :seen"
        plan.writes.append(Write(Key(key.pk, earlier["sk"]), older, {**CONSTANTS, **seen}, item=earlier))

    def _admission(self, tenant: str, owner: Owner, root: Item | None) -> list[Write]:
        """What must hold for a value that is new: the others are there, or the owner takes a first one."""
        pk = owner_pk(tenant, owner)
        key = values_key(pk)
        if root is not None:
            if "going" in root:
                raise Unavailable(f"the values of this {owner.kind} are just going, as it has ended; repeat the call")
            return [check(key, "attribute_exists(#pk) AND attribute_not_exists(#going)")]
        owners = owner_head_key(pk, owner)
        head = self._storage.calls.get(tenant, owners)
        if head is None or head["state"] == GraphState.DELETING:
            raise NotFound(f"there is no {owner.kind} {owner.id!r}")
        if head["state"] not in WRITABLE:
            raise closed(owner, head["state"])
        now = self._storage.clock.now()
        # A session's values go when it is closed; a graph's have a moment of their own.
        ends_later = owner.kind is OwnerKind.GRAPH
        due = now + int(head["retention_days"]) * _DAY_MS
        first: Item = {
            **key.attributes,
            **subject_attributes(tenant, owner.subject_ref),
            "created_at": now,
            **(timer_attributes(key, due) if ends_later else {}),
        }
        return [check(owners, "#state IN (:CREATING, :ACTIVE)"), put(first)]

    def own(self, tenant: str, plan: Plan, refused: TransactionRefused) -> bool:
        """Whether the refusal is that of a resend: the first value shows, or its history does, that this was made."""
        mine = plan.firsts[0]
        old = refused.failed.get(0)
        if old is None or old["version"] < mine["version"]:
            return False
        if old["version"] > mine["version"]:
            name = str(mine["sk"]).split("#")[1]
            old = self._storage.calls.get(tenant, version_key(mine["pk"], name, mine["version"]))
        return old is not None and old["version"] == mine["version"] and old["by"] == mine["by"]

    def undo(self, plan: Plan) -> None:
        """What was written for nothing goes."""
        for name in plan.own_objects:
            self._storage.blobs.delete_all(name)

    def retreat(self, plan: Plan, attempt: int) -> None:
        """Nothing of it was written: rest before the next try."""
        if plan.writes:
            self.undo(plan)
            self.rest(attempt)

    def settle(self, plan: Plan) -> None:
        """What has left the history goes. A crash before leaves objects that nothing names, until all values go."""
        for place in plan.obsolete:
            self._storage.blobs.delete_all(place)

    def rest(self, attempt: int) -> None:
        """Between two tries of one change."""
        self._storage.calls.pause(min(attempt, _LONGEST_PAUSE))


def closed(owner: Owner, state: str) -> Conflict:
    """The owner takes no values any more."""
    return Conflict(f"the {owner.kind} is {state}; its values can be read and no longer be changed", graph_state=state)


def busy() -> Unavailable:
    """Others were faster, each time."""
    return Unavailable("the values keep changing, and nothing was changed by this call; repeat it")
