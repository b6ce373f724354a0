"""Writes graphs and their tasks: whole in one transaction, in parts, and into a graph that runs.

A graph in parts is CREATING until its last part; its roots stand on a hold, so that nothing starts before it is
whole; every put is conditional, so that a crash anywhere is mended by sending the same parts again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from pydantic import JsonValue

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.cascade_store import DynamoCascadeStore
from slate.adapters.dynamodb.changes import IS_OPEN, Change, check, put
from slate.adapters.dynamodb.joining import HOLD_MS, Joining
from slate.adapters.dynamodb.keys import (
    TASK,
    edge_key,
    graph_entry_key,
    graph_pk,
    head_key,
    prefix,
    ref_of,
    subject_attributes,
    task_key,
    timer_attributes,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import SUBJECT_PK
from slate.adapters.dynamodb.task_items import NewTask, TaskReader, need_of, parents_of, place_of, spec_digest
from slate.adapters.dynamodb.task_store import IN_TIMER
from slate.domain import slots
from slate.domain.errors import Conflict, ParentMoved, Unavailable
from slate.domain.graphs import GraphHead, GraphState
from slate.domain.tasks import TERMINAL, EdgeKind, Task, TaskSpec, TaskState
from slate.ports.task_store import Edge

CREATE_MS: Final = 24 * 3_600 * 1000
"""A graph in CREATING that nobody touches so long is given up."""
PAIRS_AT_ONCE: Final = 50
"""An edge and its parent's count, so many pairs to a transaction."""
_TRIES: Final = 10

Standing = tuple[TaskState, int]


class GraphWrites:
    """Creating and extending."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._reader = TaskReader(storage)
        self._cascade = DynamoCascadeStore(storage)
        self._joining = Joining(storage, self._cascade)

    # ---- whole

    def create(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec], content: JsonValue) -> bool:
        """One transaction of puts, each of something new."""
        children = Counter(parent for spec in specs for parent in spec.parents())
        digest = self._digest(tenant, head, content)
        items = [self._head_item(tenant, head, digest), self._entry_item(tenant, head)]
        for spec in specs:
            new = NewTask(self._storage, tenant, head, spec, children[spec.task_id])
            items += [new.item(), *_some(new.input_item()), *self._edge_items(tenant, head, new)]
        try:
            self._storage.calls.transact(tenant, [put(item) for item in items])
        except TransactionRefused as refused:
            return _is_own(self._same_or_taken(tenant, head, refused, digest), items[0])
        return True

    def _same_or_taken(self, tenant: str, head: GraphHead, refused: TransactionRefused, digest: bytes) -> Item:
        """The head that is there, if it was made of the same content."""
        there = refused.failed.get(0) or self._storage.calls.get(tenant, head_key(tenant, head.graph_id))
        if there is None:
            raise Conflict("a graph of this id is still being deleted; use another id, or wait")
        # A key that is bound to one person learns of another's graph no more than that its id is taken.
        mine = ref_of(there) == self._ref(tenant, head)
        facts = {"state": there["state"], "version": there["version"]} if mine else {}
        if there["state"] == GraphState.DELETING:
            raise Conflict("a graph of this id is still being deleted; use another id, or wait", **facts)
        if there["digest"] != digest:
            raise Conflict("a graph of this id is there with other content; use another id", **facts)
        return there

    def _head_item(self, tenant: str, head: GraphHead, digest: bytes) -> Item:
        key = head_key(tenant, head.graph_id)
        ref = self._ref(tenant, head)
        said = {"goal": head.goal, "subject": head.subject}
        return {
            **key.attributes,
            **subject_attributes(tenant, ref),
            "state": head.state,
            "version": head.version,
            "queue": head.queue,
            "retention_days": head.retention_days,
            "created_at": head.created_at,
            "updated_at": head.updated_at,
            "digest": digest,
            "said": self._storage.codec.seal(tenant, ref, key, "said", said),
        }

    def _entry_item(self, tenant: str, head: GraphHead) -> Item:
        key = graph_entry_key(tenant, head.created_at, head.graph_id)
        return {**key.attributes, **subject_attributes(tenant, self._ref(tenant, head))}

    def _edge_items(self, tenant: str, head: GraphHead, new: NewTask) -> list[Item]:
        return [self._edge_item(tenant, head, new, i) for i in range(len(new.spec.depends_on))]

    def _edge_item(self, tenant: str, head: GraphHead, new: NewTask, index: int) -> Item:
        dependency = new.spec.depends_on[index]
        key = edge_key(tenant, head.graph_id, dependency.task_id, new.spec.task_id)
        return new.edge_item(key, slots.slot_of(index), dependency.kind)

    def _digest(self, tenant: str, head: GraphHead, content: JsonValue) -> bytes:
        return self._storage.codec.digest(tenant, self._ref(tenant, head), content)

    def _ref(self, tenant: str, head: GraphHead) -> str | None:
        return None if head.subject is None else self._storage.codec.keyring.ref(tenant, head.subject)

    def opened(self, tenant: str, item: Item) -> GraphHead:
        """A head from its item."""
        key = Key(item["pk"], item["sk"])
        said = self._storage.codec.open(tenant, ref_of(item), key, "said", item["said"])
        names = ("state", "version", "queue", "retention_days", "created_at", "updated_at")
        return GraphHead(graph_id=key.pk.rpartition("#")[2], **said, **{name: item[name] for name in names})

    # ---- in parts

    def begin(self, tenant: str, head: GraphHead, content: JsonValue) -> GraphHead:
        """The head and its list entry in one transaction, in the timer for the day it is given up."""
        digest = self._digest(tenant, head, content)
        item = self._head_item(tenant, head, digest)
        item |= timer_attributes(Key(item["pk"], item["sk"]), self._storage.clock.now() + CREATE_MS)
        try:
            self._storage.calls.transact(tenant, [put(item), put(self._entry_item(tenant, head))])
        except TransactionRefused as refused:
            there = self._same_or_taken(tenant, head, refused, digest)
            if not _is_own(there, item):
                self._touch(tenant, head.graph_id)
                return self.opened(tenant, there)
        return head

    def _touch(self, tenant: str, graph_id: str) -> None:
        key = head_key(tenant, graph_id)
        change = Change().set(**timer_attributes(key, self._storage.clock.now() + CREATE_MS))
        try:
            self._storage.calls.write(tenant, change.on(key, "#state = :CREATING"))
        except ConditionFailed:
            return  # no longer CREATING: its state decides what follows

    def put_part(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec], earlier: Collection[str]) -> None:
        """Puts side by side: tasks first, then edges, so that no edge leads to a task that may be refused."""
        children = Counter(parent for spec in specs for parent in spec.parents())
        news = [NewTask(self._storage, tenant, head, spec, children[spec.task_id]) for spec in specs]
        for new in news:
            if not new.spec.depends_on:
                new.need.add(slots.HOLD_CREATE)
        self._storage.each(lambda new: self._put_task(tenant, new), news)
        within: list[Item] = []
        across: list[tuple[Item, Key]] = []
        for new in news:
            for i, parent in enumerate(new.spec.parents()):
                edge = self._edge_item(tenant, head, new, i)
                if parent in earlier:
                    across.append((edge, task_key(tenant, head.graph_id, parent)))
                else:
                    within.append(edge)
        self._storage.each(lambda edge: self._put_once(tenant, edge), within)
        chunks = [across[i : i + PAIRS_AT_ONCE] for i in range(0, len(across), PAIRS_AT_ONCE)]
        for chunk in chunks:  # one after another: two chunks may count on one parent
            self._put_across(tenant, chunk)
        self._touch(tenant, head.graph_id)

    def _put_task(self, tenant: str, new: NewTask) -> None:
        item = new.item()
        there = self._put_once(tenant, item, *_some(new.input_item()))
        if there is not None and there["digest"] != item["digest"]:
            raise _another(new.spec.task_id)

    def _put_once(self, tenant: str, item: Item, *beside: Item) -> Item | None:
        """Put something new, with what goes with it; what is there already stays, and is answered."""
        try:
            self._storage.calls.together(tenant, [put(item), *map(put, beside)])
        except TransactionRefused as refused:
            return refused.failed[0]
        return None

    def _put_across(self, tenant: str, pairs: Sequence[tuple[Item, Key]]) -> None:
        """Edges from tasks of earlier parts, each together with its parent's count, so that a repeat counts once."""
        left = list(pairs)
        while left:
            counts = Counter(parent for _, parent in left)
            writes = [put(edge) for edge, _ in left]
            writes += [_counted(parent, n) for parent, n in counts.items()]
            try:
                self._storage.calls.transact(tenant, writes)
            except TransactionRefused as refused:
                there = {i for i in refused.failed if i < len(left)}
                if not there:
                    # The last part overtook this one: from now on these are tasks of a graph that runs.
                    raise ParentMoved("a parent has ended before this part was whole; repeat the call") from None
                left = [pair for i, pair in enumerate(left) if i not in there]
            else:
                return

    def activate(self, tenant: str, head: GraphHead) -> tuple[GraphHead, bool]:
        """One update; the timer entry is due at once, so that the sweeper lets go of the roots if we stop here."""
        key, now = head_key(tenant, head.graph_id), self._storage.clock.now()
        change = Change().set(state=GraphState.ACTIVE, updated_at=now, **timer_attributes(key, now)).grow("version")
        try:
            item = self._storage.calls.write(tenant, change.on(key, "#state = :CREATING"))
        except ConditionFailed as failed:
            if failed.old is None:
                raise Conflict("the graph was deleted while it was being created") from None
            return self.opened(tenant, failed.old), False
        return self.opened(tenant, item), True

    def release_holds(self, tenant: str, graph_id: str) -> None:
        """By a consistent query: every task on the create's hold, then the head leaves the timer."""
        names = ("sk", "need", "queue", "role", "priority", "lease", SUBJECT_PK)
        items = self._storage.calls.query(tenant, graph_pk(tenant, graph_id), between=prefix(TASK), names=names)
        held = [item for item in items if slots.HOLD_CREATE in need_of(item)]
        self._storage.each(lambda item: self._let_go(tenant, graph_id, item), held)
        key = head_key(tenant, graph_id)
        try:
            self._storage.calls.write(tenant, Change().remove(*IN_TIMER).on(key, "#state = :ACTIVE"))
        except ConditionFailed:
            return  # it is being cancelled or deleted, and its timer entry is that one's

    def _let_go(self, tenant: str, graph_id: str, item: Item) -> None:
        child, alone = str(item["sk"]).removeprefix(TASK), len(item["need"]) == 1
        hold = Edge(child, slots.HOLD_CREATE, EdgeKind.COMPLETION, *place_of(item), likely_last=alone)
        self._cascade.free(tenant, graph_id, hold)

    # ---- into a graph that runs

    def existing(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec]) -> set[str]:
        """A batch read of the tasks' digests; one on its hold is finished by adding it again.

        What a part that stopped halfway left unfinished, and the last part overtook, is finished here.
        """
        ref = self._ref(tenant, head)
        keys = {task_key(tenant, head.graph_id, spec.task_id): spec for spec in specs}
        there: set[str] = set()
        for key, item in self._storage.calls.get_many(tenant, list(keys)).items():
            spec = keys[key]
            if item["digest"] != spec_digest(self._storage, tenant, ref, spec):
                raise _another(spec.task_id)
            if slots.HOLD_CREATE in need_of(item):
                # Put by a part that came after the last one: nobody else lets it go.
                self._let_go(tenant, head.graph_id, item)
            if spec.depends_on and slots.HOLD_ADD not in need_of(item):
                self._finish(tenant, head, key, item)
            if slots.HOLD_ADD not in need_of(item) or item["state"] in TERMINAL:
                there.add(spec.task_id)
        return there

    def _finish(self, tenant: str, head: GraphHead, key: Key, item: Item) -> None:
        """Settle the edges of a task that a part put while the last part went by: nobody else would tell it."""
        now: Item | None = item
        for _ in range(_TRIES):
            if now is None or now["state"] != TaskState.BLOCKED or not self._is_left_out(tenant, head, now):
                return
            self._joining.begin(tenant, key, now)
            self._joining.settle(tenant, head.graph_id, key.sk.removeprefix(TASK), now["epoch"])
            now = self._storage.calls.get(tenant, key)
        raise Unavailable("the parents keep changing; repeat the call, what was added stays")

    def _is_left_out(self, tenant: str, head: GraphHead, item: Item) -> bool:
        """Whether an edge is missing, or its parent has ended and may have told its children before it was there."""
        task_id, need = str(item["sk"]).removeprefix(TASK), need_of(item)
        waits = [p.task_id for i, p in enumerate(parents_of(item)) if slots.slot_of(i) in need]
        parents = [task_key(tenant, head.graph_id, parent) for parent in waits]
        edges = [edge_key(tenant, head.graph_id, parent, task_id) for parent in waits]
        found = self._storage.calls.get_many(tenant, [*parents, *edges])
        ended = any(found[parent]["state"] in TERMINAL for parent in parents if parent in found)
        return ended or any(edge not in found for edge in edges)

    def add(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec], parents: dict[str, Standing]) -> list[Task]:
        """One transaction: the head ACTIVE, each parent as read, and all that is new."""
        writes: list[Write] = [check(head_key(tenant, head.graph_id), "#state = :ACTIVE")]
        writes += self._parent_writes(tenant, head, specs, parents)
        first = len(writes)
        children = Counter(parent for spec in specs for parent in spec.parents())
        standing = dict(parents)
        items: list[Item] = []
        for spec in specs:
            new = NewTask(self._storage, tenant, head, spec, children[spec.task_id])
            cut = _stand(new, standing)
            item = new.item(cancelled_by=cut)
            standing[spec.task_id] = (new.state, 0)
            items.append(item)
            new_items = [item, *_some(new.input_item()), *self._edge_items(tenant, head, new)]
            writes += [put(new_item) for new_item in new_items]
        try:
            self._storage.calls.transact(tenant, writes)
        except TransactionRefused as refused:
            there = refused.failed.get(first)
            if there is None or there["body"] != items[0]["body"]:
                raise _add_refused(refused, head) from None
            # No two tasks are sealed alike: this very transaction was applied, and its reply was lost.
        return self._reader.tasks(tenant, items)

    def _parent_writes(
        self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec], parents: dict[str, Standing]
    ) -> list[Write]:
        counts = Counter(parent for spec in specs for parent in spec.parents() if parent in parents)
        writes: list[Write] = []
        for parent, n in counts.items():
            state, epoch = parents[parent]
            key = task_key(tenant, head.graph_id, parent)
            if state not in TERMINAL:
                writes.append(_counted(key, n))
            elif state is not TaskState.DONE:
                # It acts as its edge says, at once: so it must still be as it was read when the child appears.
                writes.append(_counted(key, n, "#state = :seen AND #epoch = :epoch", seen=state.value, epoch=epoch))
        return writes

    def add_in_parts(self, tenant: str, head: GraphHead, spec: TaskSpec) -> Task:
        """The task on its hold with the head ACTIVE, then edge by edge, then the hold; goes on when repeated."""
        new = NewTask(self._storage, tenant, head, spec, 0)
        new.need.add(slots.HOLD_ADD)
        item = new.item(held_until=self._storage.clock.now() + HOLD_MS)
        active = check(head_key(tenant, head.graph_id), "#state = :ACTIVE")
        try:
            self._storage.calls.transact(tenant, [active, *(put(i) for i in (item, *_some(new.input_item())))])
        except TransactionRefused as refused:
            there = refused.failed.get(1)
            if there is None:
                raise _add_refused(refused, head) from None
            if there["digest"] != item["digest"]:
                raise _another(spec.task_id) from None
            item = there
        self._joining.settle(tenant, head.graph_id, spec.task_id, item["epoch"])
        return self._reader.task(tenant, self._storage.calls.get(tenant, new.key) or item)


def _stand(new: NewTask, standing: dict[str, Standing]) -> str | None:
    """Take out the slots that are met already; answer the parent that cancels the task at once, if one does."""
    cut: str | None = None
    for i, dependency in enumerate(new.spec.depends_on):
        state, _ = standing[dependency.task_id]
        if dependency.kind.broken_by(state):
            cut = cut or dependency.task_id
        elif dependency.kind.met_by(state):
            new.need.discard(slots.slot_of(i))
    return cut


def _counted(parent: Key, children: int, condition: str = IS_OPEN, **values: Any) -> Write:
    return Change(more=children).let(dependents="#dependents + :more").on(parent, condition, **values)


def _is_own(there: Item, mine: Item) -> bool:
    """Whether the head that is there was put by this very call: no two are sealed alike."""
    return bool(there["said"] == mine["said"])


def _some(item: Item | None) -> list[Item]:
    return [] if item is None else [item]


def _another(task_id: str) -> Conflict:
    return Conflict(f"the task {task_id!r} is there with other content; use another id", task_id=task_id)


def _add_refused(refused: TransactionRefused, head: GraphHead) -> Conflict:
    if 0 in refused.failed:
        state: Any = (refused.failed[0] or {}).get("state", "gone")
        return Conflict(f"the graph is {state}; tasks are added to an ACTIVE graph", graph_state=state)
    return ParentMoved(f"the graph {head.graph_id!r} changed since it was read; repeat the call")
