"""Finds what has fallen due in the timer index, and does it: each step a condition on the item itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.cascade_store import cancelling
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.graph_store import DynamoGraphStore
from slate.adapters.dynamodb.keys import (
    FEED,
    TASK,
    VALUES,
    feed_key,
    graph_pk,
    head_key,
    partition_of,
    task_key,
    timer_attributes,
    timer_due,
    values_key,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.task_items import history_line, need_of
from slate.adapters.dynamodb.task_store import AT_HOME, IN_TIMER
from slate.adapters.dynamodb.timer_entries import TimerEntries
from slate.adapters.dynamodb.value_expiry import ValueExpiry
from slate.domain.errors import Unavailable
from slate.domain.graphs import GraphState
from slate.domain.slots import HOLD_ADD
from slate.domain.tasks import TERMINAL, TaskState
from slate.ports.holds import Held, never_held
from slate.ports.task_store import Due, Parent

_TRIES: Final = 5
_LAPSED: Final = "#state = :RUNNING AND #lease_until <= :now"


class DynamoTimerStore:
    """Works off the timer index."""

    def __init__(self, storage: Storage, graphs: DynamoGraphStore, held: Held = never_held) -> None:
        self._storage = storage
        self._entries = TimerEntries(storage, "task")
        self._graphs = graphs
        self._expiry = ValueExpiry(storage, held)

    def due(self, shard: int, at_once: int) -> Iterator[Due]:
        """A query of one shard for each ``at_once`` of them."""
        return map(_due, self._entries.due(shard, at_once))

    def tick_task(self, due: Due) -> Parent | None:
        """A lapsed lease is by far the likeliest: tried first, without a read; a refusal shows what else is due."""
        assert due.task_id is not None  # noqa: S101  # the caller tells heads from tasks
        key = task_key(due.tenant, due.graph_id, due.task_id)
        now = self._storage.clock.now()
        reap = (
            Change(now=now)
            .set(state=TaskState.READY, updated_at=now)
            .let(ready_pk="#home_pk", ready_sk="#home_sk")
            .note(history_line(now, "lapsed"))
            .remove("lease_until", *AT_HOME, *IN_TIMER)
        )
        # Epoch and token stay: a late result counts as long as nobody else has claimed the task.
        write = reap.on(key, f"{_LAPSED} AND #attempts < #max_attempts")
        for _ in range(_TRIES):
            try:
                item = self._storage.calls.write(due.tenant, write)
            except ConditionFailed as failed:
                if failed.old is None or "timer_pk" not in failed.old:
                    return None
                item = failed.old
                if item.get("unlocking"):
                    return _parent(due, item)
                next_write = self._next(key, item, now)
                if next_write is None:
                    return None
                write = next_write
            else:
                return _parent(due, item) if item.get("unlocking") else None
        raise Unavailable("a task keeps changing; it is looked at again")

    def _next(self, key: Key, item: Item, now: int) -> Write | None:
        """The one step that is due on an item as it was seen, pinned to its epoch."""
        seen = {"epoch_seen": item["epoch"]}
        state = TaskState(item["state"])
        if state is TaskState.RUNNING and item["lease_until"] > now:
            move = Change().set(**timer_attributes(key, item["lease_until"]))
            return move.on(key, "#state = :RUNNING AND #epoch = :epoch_seen", **seen)
        if state is TaskState.RUNNING:
            return self._exhausted(key, item, now)
        if state is TaskState.DELAYED and item["due_at"] <= now:
            ready = (
                Change(now=now)
                .set(state=TaskState.READY, updated_at=now)
                .let(ready_pk="#home_pk", ready_sk="#home_sk")
                .note(history_line(now, "ready"))
                .remove("due_at", *AT_HOME, *IN_TIMER)
            )
            return ready.on(key, "#state = :DELAYED AND #due_at <= :now")
        if HOLD_ADD in need_of(item) and state is TaskState.BLOCKED:
            if timer_due(item) > now:
                return None
            write = cancelling(self._storage, key, item, cause="unfinished", agent="slate")
            return write.also("#epoch = :epoch_seen", **{":epoch_seen": item["epoch"]})
        if state in TERMINAL or state is TaskState.BLOCKED:
            # Nothing is due any more: the entry is garbage.
            return (
                Change().remove(*IN_TIMER).on(key, "#state = :seen AND #epoch = :epoch_seen", seen=state.value, **seen)
            )
        return None

    def _exhausted(self, key: Key, item: Item, now: int) -> Write:
        change = (
            Change(now=now)
            .set(state=TaskState.FAILED, cause="lease_lapsed", updated_at=now)
            .grow("epoch")
            .note(history_line(now, "failed"))
            .remove("lease_until", *AT_HOME)
        )
        spent = f"{_LAPSED} AND #attempts >= #max_attempts"
        if item["dependents"] == 0:
            return change.remove(*IN_TIMER).on(key, f"{spent} AND #dependents = :zero")
        return change.set(unlocking=True).on(key, f"{spent} AND #dependents > :zero")

    def tick_graph(self, due: Due, deadline: int) -> None:
        """By the head's state; each ends with a conditional step, or leaves the entry for the next look."""
        key = head_key(due.tenant, due.graph_id)
        item = self._storage.calls.get(due.tenant, key)
        if item is None or "timer_pk" not in item or timer_due(item) > self._storage.clock.now():
            return
        state = GraphState(item["state"])
        if state is GraphState.CREATING:
            self._graphs.give_up(due.tenant, due.graph_id, item["version"])
        elif state is GraphState.ACTIVE:
            self._graphs.release_holds(due.tenant, due.graph_id)
        elif state is GraphState.CANCELLING or state is GraphState.DELETING:
            self._end(due, item, deadline, state)

    def _end(self, due: Due, item: Item, deadline: int, state: GraphState) -> None:
        """Sweep or remove; the pass that begins after the last write can have arrived is the last."""
        last = self._storage.clock.now() >= item["ends_at"]
        cancelling_it = state is GraphState.CANCELLING
        work = self._graphs.sweep if cancelling_it else self._graphs.remove
        if not work(due.tenant, due.graph_id, deadline):
            return
        if not last:
            self._graphs.look_again(due.tenant, due.graph_id, state, item["ends_at"])
        elif cancelling_it:
            self._graphs.end_cancel(due.tenant, due.graph_id)
        else:
            self._graphs.end_delete(due.tenant, due.graph_id)

    def tick_values(self, due: Due, deadline: int) -> None:
        """Whether the graph has ended, and when, is looked up at that moment."""
        self._expiry.tick(due.tenant, due.graph_id, deadline)

    def postpone(self, due: Due, ms: int) -> None:
        """One update."""
        self._entries.postpone(due.tenant, _key(due), ms)


def _key(due: Due) -> Key:
    if due.feed:
        return feed_key(due.tenant, due.graph_id)
    if due.values:
        return values_key(graph_pk(due.tenant, due.graph_id))
    if due.task_id is None:
        return head_key(due.tenant, due.graph_id)
    return task_key(due.tenant, due.graph_id, due.task_id)


def _due(key: Key) -> Due:
    tenant, _, graph_id = partition_of(key.pk)
    sk = key.sk
    task_id = sk.removeprefix(TASK) if sk.startswith(TASK) else None
    return Due(tenant, graph_id, task_id, feed=sk == FEED, values=sk == VALUES)


def _parent(due: Due, item: Item) -> Parent:
    task_id = str(item["sk"]).removeprefix(TASK)
    return Parent(due.graph_id, task_id, TaskState(item["state"]), item["epoch"])
