"""What people do to a task: answer it, approve it, cancel it, try it again; each pinned to what they saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import JsonValue

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.cascade_store import Approval, DynamoCascadeStore, cancelling, still_so
from slate.adapters.dynamodb.changes import IS_OPEN, Change, check
from slate.adapters.dynamodb.joining import Joining
from slate.adapters.dynamodb.keys import head_key, ready_attributes, ref_of, task_key
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.task_items import HISTORY_BOUND, TaskReader, history_line, need_of, parents_of, place_of
from slate.adapters.dynamodb.task_store import AT_HOME
from slate.domain import slots
from slate.domain.errors import AlreadyTerminal, Conflict, NotFound, ParentMoved
from slate.domain.tasks import OPEN, TERMINAL, Dependency, EdgeKind, Task, TaskState
from slate.ports.task_store import Edge

MAX_PARENTS_AT_ONCE: Final = 98
"""A transaction holds the task, its graph's head, and so many parents."""


class DynamoSteeringStore:
    """Keeps what people decide in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._reader = TaskReader(storage)
        self._cascade = DynamoCascadeStore(storage)
        self._joining = Joining(storage, self._cascade)

    def resume(self, tenant: str, task: Task, answer: JsonValue, agent: str) -> Task:
        """One update for an answer; for an approval, the update that takes its slot out keeps it."""
        key = task_key(tenant, task.graph_id, task.task_id)
        item = self._item(tenant, key)
        if item["state"] == TaskState.WAITING:
            return self._answer(tenant, key, item, task, answer, agent)
        if item["state"] == TaskState.BLOCKED and slots.APPROVAL in need_of(item):
            return self._approve(tenant, key, item, task, answer, agent)
        raise Conflict(f"the task is {task.state} and asks nothing", **task.facts())

    def _answer(self, tenant: str, key: Key, item: Item, task: Task, answer: JsonValue, agent: str) -> Task:
        now, sealed = self._storage.clock.now(), self._sealed(tenant, key, item, answer)
        change = (
            Change()
            .set(state=TaskState.READY, updated_at=now, answer=sealed)
            .let(ready_pk="#home_pk", ready_sk="#home_sk")
            .remove(*AT_HOME)
        )
        self._note(change, item, "resumed", agent)
        try:
            # Pinned to the epoch of the question that was read: a repeat cannot answer the next one.
            write = change.on(key, "#state = :WAITING AND #epoch = :epoch", epoch=task.epoch)
            return self._reader.task(tenant, self._storage.calls.write(tenant, write))
        except ConditionFailed as failed:
            if failed.old is not None and failed.old.get("answer") == sealed:
                return self._reader.task(tenant, failed.old)  # no two answers are sealed alike: it is this one
            raise Conflict("the question was answered, or another is asked by now", **_facts(failed.old)) from None

    def _approve(self, tenant: str, key: Key, item: Item, task: Task, answer: JsonValue, agent: str) -> Task:
        sealed = self._sealed(tenant, key, item, answer)
        alone = need_of(item) == {slots.APPROVAL}
        edge = _own_slot(item, task.task_id, slots.APPROVAL, likely_last=alone)
        self._cascade.free(tenant, task.graph_id, edge, epoch=task.epoch, approval=Approval(agent, sealed))
        now = self._item(tenant, key)
        if now.get("answer") != sealed:
            raise Conflict("the approval was given by another, or the task ended", **_facts(now))
        return self._reader.task(tenant, now)

    def cancel(self, tenant: str, task: Task, agent: str) -> Task:
        """One transaction with the graph's head: a graph that is being created is cancelled whole or not at all."""
        key = task_key(tenant, task.graph_id, task.task_id)
        item = self._item(tenant, key)
        if item["state"] in TERMINAL:
            raise AlreadyTerminal(f"the task is {item['state']} already", **task.facts())
        created = check(head_key(tenant, task.graph_id), "attribute_exists(#pk) AND #state <> :CREATING")
        write = cancelling(self._storage, key, item, cause=f"agent:{agent}", agent=agent)
        write = write.also("#version = :version", **{":version": task.version})
        try:
            self._storage.calls.transact(tenant, [created, write])
        except TransactionRefused as refused:
            if 0 in refused.failed:
                raise Conflict("the graph is still being created; cancel the graph, or wait for it") from None
            return self._judge_cancel(tenant, task, refused.failed[1], agent)
        return self._reader.task(tenant, self._item(tenant, key))

    def _judge_cancel(self, tenant: str, task: Task, old: Item | None, agent: str) -> Task:
        if old is not None and old["state"] == TaskState.CANCELLED and old["epoch"] == task.epoch + 1:
            if old["cause"] == f"agent:{agent}":
                return self._reader.task(tenant, old)
            raise AlreadyTerminal("the task is CANCELLED already", **_facts(old))
        raise ParentMoved("the task changed since it was read; repeat the call", **_facts(old))

    def retry(self, tenant: str, task: Task, agent: str) -> Task:
        """One transaction with the graph's head and every parent as read; in parts above 98 parents."""
        key = task_key(tenant, task.graph_id, task.task_id)
        item = self._item(tenant, key)
        if item["state"] not in (TaskState.FAILED, TaskState.CANCELLED):
            return self._retried_before(tenant, key, item, task, agent)
        parents = parents_of(item)
        keys = [task_key(tenant, task.graph_id, p.task_id) for p in parents]
        found = self._storage.calls.get_many(tenant, keys)
        _refuse_broken(parents, keys, found)
        if slots.HOLD_ADD in need_of(item) or len(parents) > MAX_PARENTS_AT_ONCE:
            self._retry_in_parts(tenant, key, item, task, agent)
            return self._reader.task(tenant, self._item(tenant, key))
        need: set[int] = need_of(item) & {slots.APPROVAL}
        checks: list[Write] = []
        for i, (parent, parent_key) in enumerate(zip(parents, keys, strict=True)):
            state, epoch = _standing(found.get(parent_key), parent.task_id)
            if not parent.kind.met_by(state):
                need.add(slots.slot_of(i))
                checks.append(check(parent_key, IS_OPEN))
            elif state is not TaskState.DONE:
                checks.append(still_so(parent_key, state, epoch))
        write = self._retrying(tenant, key, item, task, need, agent)
        active = check(head_key(tenant, task.graph_id), "#state = :ACTIVE")
        try:
            self._storage.calls.transact(tenant, [active, write, *checks])
        except TransactionRefused as refused:
            self._judge_retry(refused, task)
        return self._reader.task(tenant, self._item(tenant, key))

    def _retried_before(self, tenant: str, key: Key, item: Item, task: Task, agent: str) -> Task:
        """A repeat: what a retry in parts left over is done; nothing else may have happened since."""
        if slots.HOLD_ADD in need_of(item):
            self._joining.settle(tenant, task.graph_id, task.task_id, item["epoch"])
            return self._reader.task(tenant, self._item(tenant, key))
        _, event, by = item["history"][-1].split(" ", 2)
        if (event, by) != ("retried", agent):
            raise Conflict(f"the task is {task.state}; only FAILED or CANCELLED is tried again", **task.facts())
        return self._reader.task(tenant, item)

    def _retrying(self, tenant: str, key: Key, item: Item, task: Task, need: set[int], agent: str) -> Write:
        now = self._storage.clock.now()
        change = Change().set(attempts=0, updated_at=now).grow("epoch")
        self._note(change, item, "retried", agent)
        change.remove("error", "progress", "cause", "due_at", "token", "agent", "freed", "freed_by")
        if "question" in item:
            change.remove("question", "answer")  # an approval's answer stays: it was given for the task, not for a try
        if need:
            change.set(state=TaskState.BLOCKED, need=need)
        else:
            ready = ready_attributes(tenant, place_of(item), task.task_id, now, self._storage.ready_order)
            change.set(state=TaskState.READY, **ready).remove("need", "timer_pk", "timer_sk")
        ended = "#state IN (:FAILED, :CANCELLED) AND attribute_not_exists(#unlocking) AND #epoch = :epoch"
        return change.on(key, ended, epoch=task.epoch)

    def _judge_retry(self, refused: TransactionRefused, task: Task) -> None:
        if 1 in refused.failed:
            old = refused.failed[1]
            # Our own earlier try, whose reply was lost: one epoch on, attempts back at zero.
            if old is not None and old["epoch"] == task.epoch + 1 and old["attempts"] == 0 and old["state"] in OPEN:
                return
            raise ParentMoved("the task changed since it was read; look at it and repeat", **_facts(old))
        if 0 in refused.failed:
            state = (refused.failed[0] or {}).get("state", "gone")
            raise Conflict(f"the graph is {state}; only in an ACTIVE graph is a task tried again", graph_state=state)
        raise ParentMoved("a parent changed since it was read; repeat the call")

    def _retry_in_parts(self, tenant: str, key: Key, item: Item, task: Task, agent: str) -> None:
        parents = parents_of(item)
        need = {slots.slot_of(i) for i in range(len(parents))} | (need_of(item) & {slots.APPROVAL}) | {slots.HOLD_ADD}
        write = self._retrying(tenant, key, item, task, need, agent)
        active = check(head_key(tenant, task.graph_id), "#state = :ACTIVE")
        try:
            self._storage.calls.transact(tenant, [active, self._joining.held(write, key)])
        except TransactionRefused as refused:
            self._judge_retry(refused, task)
        self._joining.settle(tenant, task.graph_id, task.task_id, task.epoch + 1)

    def _note(self, change: Change, item: Item, event: str, agent: str) -> None:
        line = history_line(self._storage.clock.now(), event, agent)
        if len(item["history"]) <= HISTORY_BOUND:
            change.note(line)
        else:
            change.set(history=[*item["history"][-HISTORY_BOUND // 2 :], line]).grow("version")

    def _sealed(self, tenant: str, key: Key, item: Item, answer: JsonValue) -> bytes:
        return self._storage.codec.seal(tenant, ref_of(item), key, "answer", answer)

    def _item(self, tenant: str, key: Key) -> Item:
        item = self._storage.calls.get(tenant, key)
        if item is None:
            raise NotFound("there is no such task any more")
        return item


def _own_slot(item: Item, task_id: str, slot: int, *, likely_last: bool) -> Edge:
    """A slot that no parent stands behind, freed by the task's own places."""
    return Edge(task_id, slot, EdgeKind.COMPLETION, *place_of(item), likely_last)


def _standing(parent: Item | None, task_id: str) -> tuple[TaskState, int]:
    if parent is None:
        raise ParentMoved(f"the parent {task_id!r} is gone: the graph is being deleted")
    return TaskState(parent["state"]), int(parent["epoch"])


def _refuse_broken(parents: Sequence[Dependency], keys: Sequence[Key], found: Mapping[Key, Item]) -> None:
    """Raise Conflict where an edge is broken: its parent is to be tried again first."""
    pairs = [(p, found[key]) for p, key in zip(parents, keys, strict=True) if key in found]
    if broken := [p.task_id for p, parent in pairs if p.kind.broken_by(TaskState(parent["state"]))]:
        names = ", ".join(broken)
        raise Conflict(f"a parent has failed or was cancelled: {names}; retry it first", parents=broken)


def _facts(old: Item | None) -> dict[str, Any]:
    return {} if old is None else {"state": old["state"], "epoch": old["epoch"]}
