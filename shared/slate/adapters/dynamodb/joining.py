"""A task with more parents than a transaction holds: it stands on a hold until each of its edges is settled.

The hold (HOLD_ADD, not the create's own) and a timer entry of 24 h make it safe to stop anywhere: whoever repeats
the call goes on, and if nobody does the sweeper gives the task up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.cascade_store import DynamoCascadeStore, cancelling, still_so
from slate.adapters.dynamodb.changes import IS_OPEN, Change, check, put
from slate.adapters.dynamodb.keys import edge_key, ref_of, subject_attributes, task_key, timer_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.task_items import need_of, parents_of, place_of
from slate.domain import slots
from slate.domain.errors import Conflict, NotFound, Unavailable
from slate.domain.tasks import TERMINAL, Dependency, EdgeKind, TaskState
from slate.ports.task_store import Edge

HOLD_MS: Final = 24 * 3_600 * 1000
_TRIES: Final = 20
_HELD: Final = "#state = :BLOCKED AND #epoch = :epoch AND contains(#need, :hold)"


class Joining:
    """Settles a task's edges one by one."""

    def __init__(self, storage: Storage, cascade: DynamoCascadeStore) -> None:
        self._storage = storage
        self._cascade = cascade

    def held(self, write: Write, key: Key) -> Write:
        """The same update, with the timer entry that ends the hold if nobody else does."""
        timer = timer_attributes(key, self._storage.clock.now() + HOLD_MS)
        sets = ", ".join(f"#{name} = :{name}" for name in timer)
        values = {**write.values, **{f":{name}": value for name, value in timer.items()}}
        return replace(write, expression=write.expression.replace("SET ", f"SET {sets}, ", 1), values=values)

    def begin(self, tenant: str, key: Key, item: Item) -> None:
        """Set the hold on a task as it was seen; where it has moved on, it is nobody's to settle."""
        need = need_of(item)
        change = Change().set(need=need | {slots.HOLD_ADD}).grow("version")
        write = change.on(
            key, "#state = :BLOCKED AND #epoch = :epoch AND #need = :seen", epoch=item["epoch"], seen=need
        )
        try:
            self._storage.calls.write(tenant, self.held(write, key))
        except ConditionFailed:
            return

    def settle(self, tenant: str, graph_id: str, task_id: str, epoch: int) -> None:
        """Write each missing edge under its parent's condition, settle those that have ended, then let go."""
        key = task_key(tenant, graph_id, task_id)
        item = self._storage.calls.get(tenant, key)
        if item is None:
            raise NotFound("there is no such task any more")
        for i, parent in enumerate(parents_of(item)):
            if not self._settle_one(tenant, graph_id, item, slots.slot_of(i), parent, epoch):
                return
        hold = Edge(task_id, slots.HOLD_ADD, EdgeKind.COMPLETION, *place_of(item), likely_last=False)
        self._cascade.free(tenant, graph_id, hold, epoch=epoch)

    def _settle_one(self, tenant: str, graph_id: str, item: Item, slot: int, parent: Dependency, epoch: int) -> bool:
        """One parent; False where the task has moved on and is nobody's to settle."""
        child_key = Key(item["pk"], item["sk"])
        child = str(item["sk"]).partition("#")[2]
        parent_key = task_key(tenant, graph_id, parent.task_id)
        edge = edge_key(tenant, graph_id, parent.task_id, child)
        for _ in range(_TRIES):
            found = self._storage.calls.get_many(tenant, [parent_key, edge, child_key])
            now = found.get(child_key)
            if now is None or now["epoch"] != epoch or slots.HOLD_ADD not in need_of(now):
                return False
            if parent_key not in found:
                raise Conflict(f"there is no task {parent.task_id!r}; add it before")
            writes = self._writes(tenant, found[parent_key], now, edge, slot, parent, there=edge in found)
            if not writes:
                return True
            try:
                self._storage.calls.transact(tenant, writes)
            except TransactionRefused:
                continue
            return True
        raise Unavailable("a parent keeps changing; repeat the call")

    def _writes(
        self, tenant: str, parent: Item, child: Item, edge: Key, slot: int, dependency: Dependency, *, there: bool
    ) -> list[Write]:
        """What settles this edge, given the parent as just read; nothing where the parent will tell by itself."""
        parent_key, child_key = Key(parent["pk"], parent["sk"]), Key(child["pk"], child["sk"])
        state, epoch = TaskState(parent["state"]), parent["epoch"]
        counted = Change().grow("dependents")
        writes: list[Write] = []
        if not there:
            writes.append(put(self._edge_item(tenant, child, edge, slot, dependency)))
        if state not in TERMINAL:
            return [] if there else [*writes, counted.on(parent_key, IS_OPEN)]
        if state is not TaskState.DONE:
            same = "#state = :seen AND #epoch = :epoch"
            writes.append(
                still_so(parent_key, state, epoch)
                if there
                else counted.on(parent_key, same, seen=state.value, epoch=epoch)
            )
        if dependency.kind.broken_by(state):
            cause = f"parent:{dependency.task_id}"
            write = cancelling(self._storage, child_key, child, cause=cause, agent="slate")
            return [*writes, write.also("#epoch = :child_epoch", **{":child_epoch": child["epoch"]})]
        # On its hold still: without it the last slot could go here, and nobody would make the task READY.
        held = {"epoch": child["epoch"], "hold": slots.HOLD_ADD}
        if slot in need_of(child):
            change = Change().take("need", slot).grow("version")
            writes.append(change.on(child_key, f"{_HELD} AND contains(#need, :slot)", slot=slot, **held))
        elif writes:
            writes.append(check(child_key, _HELD, **held))
        return writes

    @staticmethod
    def _edge_item(tenant: str, child: Item, edge: Key, slot: int, dependency: Dependency) -> Item:
        return {
            **edge.attributes,
            **subject_attributes(tenant, ref_of(child)),
            "slot": slot,
            "kind": dependency.kind,
            "queue": child["queue"],
            "role": child["role"],
            "priority": child["priority"],
            "lease": child["lease"],
            "alone": False,
        }
