"""Tells children that their parent has ended: frees a slot, or cancels; each step conditional, none needs memory.

A parent that is DONE stays so, and its children are freed by single updates. FAILED and CANCELLED can be left by a
retry, so what is done for them goes in one transaction with the parent still so, at that epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import IS_OPEN, Change, check
from slate.adapters.dynamodb.keys import Place, graph_pk, prefix, ready_attributes, ref_of, task_key, timer_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.task_items import history_line, need_of
from slate.adapters.dynamodb.task_store import AT_HOME, IN_READY, IN_TIMER
from slate.domain.errors import Unavailable
from slate.domain.slots import HOLD_ADD
from slate.domain.tasks import TERMINAL, EdgeKind, TaskState
from slate.ports.task_store import Edge, Parent, Told

FREED_BOUND: Final = 100
"""So many freed children are kept on the parent; one call frees no more."""
_TRIES: Final = 20


class Approval(NamedTuple):
    """What goes with the freeing of an approval's slot."""

    agent: str
    answer: bytes
    """Sealed: tells this very approval from another's."""


class DynamoCascadeStore:
    """Tells children in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def edges(self, tenant: str, parent: Parent) -> list[Edge]:
        """One consistent query."""
        pk = graph_pk(tenant, parent.graph_id)
        items = self._storage.calls.query(tenant, pk, between=prefix(f"E#{parent.task_id}#"))
        return [edge_of(item) for item in items]

    def tell(self, tenant: str, parent: Parent, edge: Edge) -> Told:
        """One call where the likelier form fits, two where it does not."""
        if edge.kind.met_by(parent.state):
            return self.free(tenant, parent.graph_id, edge, parent=parent)
        return self._cancel(tenant, parent, edge)

    def free(
        self,
        tenant: str,
        graph_id: str,
        edge: Edge,
        *,
        parent: Parent | None = None,
        epoch: int | None = None,
        approval: Approval | None = None,
    ) -> Told:
        """Take a slot out: the last one makes the child READY. A hold goes only at the epoch it was set."""
        last = edge.likely_last
        for _ in range(_TRIES):
            write = self._freeing(tenant, graph_id, edge, parent, approval, last=last)
            if epoch is not None:
                write = write.also("#epoch = :seen_epoch", **{":seen_epoch": epoch})
            try:
                self._apply(tenant, write, parent)
            except ParentGone:
                return Told(moved=True)
            except ConditionFailed as failed:
                old = failed.old
                if old is None or (epoch is not None and old["epoch"] != epoch):
                    return Told()
                if edge.slot not in need_of(old):
                    # Whoever tells for this parent says so of the child: this call, a repeat, the sweeper.
                    return Told(ready=parent is not None and old.get("freed_by") == parent.task_id)
                if approval is not None and old["state"] != TaskState.BLOCKED:
                    return Told()
                last = not last
            else:
                return Told(ready=last)
        raise Unavailable("a task keeps changing; the sweeper goes on with it")

    def _freeing(
        self, tenant: str, graph_id: str, edge: Edge, parent: Parent | None, approval: Approval | None, *, last: bool
    ) -> Write:
        key, now = task_key(tenant, graph_id, edge.child), self._storage.clock.now()
        change = Change() if approval is None else Change().set(answer=approval.answer)
        if not last:
            change.take("need", edge.slot)
            if edge.slot == HOLD_ADD:
                change.remove(*IN_TIMER)
            others = "(size(#need) > :one OR #state <> :BLOCKED)"
            change.set(updated_at=now)
            if approval is None:
                # What it waits for is part of how it reads; and with its approval alone left it reads as WAITING.
                change.grow("version")
            else:
                # A slot of a task that has ended stays: a retry asks for the approval again.
                change.note(history_line(now, "approved", approval.agent))
                others = "size(#need) > :one AND #state = :BLOCKED"
            return change.on(key, f"contains(#need, :slot) AND {others}", slot=edge.slot)
        place = Place(edge.queue, edge.role, edge.priority, edge.lease_seconds, edge.subject_ref)
        ready = ready_attributes(tenant, place, edge.child, now, self._storage.ready_order)
        change.set(state=TaskState.READY, updated_at=now, **ready).remove("need")
        change.note(history_line(now, "ready") if approval is None else history_line(now, "approved", approval.agent))
        if parent is not None:
            change.set(freed_by=parent.task_id)
        if edge.slot == HOLD_ADD:
            change.remove(*IN_TIMER)
        return change.on(key, "#state = :BLOCKED AND contains(#need, :slot) AND size(#need) = :one", slot=edge.slot)

    def _cancel(self, tenant: str, parent: Parent, edge: Edge) -> Told:
        key = task_key(tenant, parent.graph_id, edge.child)
        for _ in range(_TRIES):
            old = self._storage.calls.get(tenant, key)
            if old is None or old["state"] in TERMINAL:
                return _ended_before(parent, edge, old)
            write = cancelling(self._storage, key, old, cause=f"parent:{parent.task_id}", agent="slate")
            try:
                self._apply(tenant, write, parent)
            except ParentGone:
                return Told(moved=True)
            except ConditionFailed:
                continue
            if old["dependents"] == 0:
                return Told()
            return Told(then=parent._replace(task_id=edge.child, state=TaskState.CANCELLED, epoch=old["epoch"] + 1))
        raise Unavailable("a task keeps changing; the sweeper goes on with it")

    def _apply(self, tenant: str, write: Write, parent: Parent | None) -> None:
        if parent is None or parent.state is TaskState.DONE:
            self._storage.calls.write(tenant, write)
            return
        still = still_so(task_key(tenant, parent.graph_id, parent.task_id), parent.state, parent.epoch)
        try:
            self._storage.calls.transact(tenant, [still, write])
        except TransactionRefused as refused:
            if 0 in refused.failed:
                raise ParentGone from None
            raise ConditionFailed(refused.failed[1]) from None

    def all_told(self, tenant: str, parent: Parent, freed: Sequence[str]) -> None:
        """One update; the first it freed are kept, so that a repeated completion can say them again."""
        change = Change().remove("unlocking", *IN_TIMER)
        if freed:
            change.set(freed=list(freed[:FREED_BOUND]))
        self._while_telling(tenant, parent, change)

    def go_on_soon(self, tenant: str, parent: Parent) -> None:
        """One update of the timer entry."""
        key = task_key(tenant, parent.graph_id, parent.task_id)
        self._while_telling(tenant, parent, Change().set(**timer_attributes(key, self._storage.clock.now())))

    def _while_telling(self, tenant: str, parent: Parent, change: Change) -> None:
        key = task_key(tenant, parent.graph_id, parent.task_id)
        telling = "#state = :state_seen AND #epoch = :epoch_seen AND #unlocking = :yes"
        seen = {"state_seen": parent.state.value, "epoch_seen": parent.epoch}
        try:
            self._storage.calls.write(tenant, change.on(key, telling, **seen))
        except ConditionFailed:
            return  # another call has told them all, or the task was retried or deleted: nothing is left to say


def _ended_before(parent: Parent, edge: Edge, old: Item | None) -> Told:
    """A child that had ended: where it was cancelled and its own children are untold, they are told again."""
    if old is None or old["state"] != TaskState.CANCELLED or not old.get("unlocking"):
        return Told()
    return Told(then=parent._replace(task_id=edge.child, state=TaskState.CANCELLED, epoch=old["epoch"]))


class ParentGone(Exception):  # stays within this package
    """The parent is no longer in the state and epoch that the children were to be told of."""


def edge_of(item: Item) -> Edge:
    """An edge from its item."""
    return Edge(
        child=str(item["sk"]).rpartition("#")[2],
        slot=item["slot"],
        kind=EdgeKind(item["kind"]),
        queue=item["queue"],
        role=item["role"],
        priority=item["priority"],
        lease_seconds=item["lease"],
        subject_ref=ref_of(item),
        likely_last=item["alone"],
    )


def still_so(key: Key, state: TaskState, epoch: int) -> Write:
    """A check that a task is in a state at an epoch."""
    return check(key, "#state = :state_seen AND #epoch = :epoch_seen", state_seen=state.value, epoch_seen=epoch)


def cancelling(storage: Storage, key: Key, old: Item, *, cause: str, agent: str, tells_children: bool = True) -> Write:
    """The cancel of an open task, in the form that fits whether somebody waits for it, as it was read.

    The token stays, so that its holder can be told; a graph's own cancel tells no children: its sweep reaches them.
    """
    now = storage.clock.now()
    change = (
        Change()
        .set(state=TaskState.CANCELLED, cause=cause, updated_at=now)
        .grow("epoch")
        .note(history_line(now, "cancelled", agent))
        .remove("lease_until", "due_at", *AT_HOME, *IN_READY)
    )
    if not tells_children:
        return change.remove(*IN_TIMER).on(key, IS_OPEN)
    if old["dependents"] == 0:
        return change.remove(*IN_TIMER).on(key, f"{IS_OPEN} AND #dependents = :zero")
    change.set(unlocking=True, **timer_attributes(key, now))
    return change.on(key, f"{IS_OPEN} AND #dependents > :zero")
