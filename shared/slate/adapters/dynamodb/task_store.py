"""A worker's steps on a task, each one conditional update that either applies, or tells what happened instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic import JsonValue

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.keys import (
    META,
    TASK,
    graph_pk,
    prefix,
    read_ready,
    ready_pk,
    result_key,
    task_key,
    timer_attributes,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import READY, READY_PK, READY_SK, TIMER_PK, TIMER_SK
from slate.adapters.dynamodb.task_items import HISTORY_BOUND, TaskReader, history_line, lease_of, shown_state
from slate.adapters.dynamodb.value_writes import VALUE_TRIES, ValueWrites
from slate.domain.errors import AlreadyTerminal, LeaseLost, NotFound, SlateError, Unavailable
from slate.domain.graphs import GraphState
from slate.domain.leases import Lease
from slate.domain.tasks import TERMINAL, Task, TaskState
from slate.domain.values import Author, Owner, OwnerKind
from slate.ports.graph_store import Page
from slate.ports.task_store import Beat, Candidate, Outcome

# The fence: the claim this token was given for is still the task's last one.
MINE: Final = "#epoch = :epoch AND #token = :token"
HELD: Final = f"#state = :RUNNING AND {MINE}"
IN_TIMER: Final = (TIMER_PK, TIMER_SK)
IN_READY: Final = (READY_PK, READY_SK)
AT_HOME: Final = ("home_pk", "home_sk")
LOOKED_AT: Final = 200
"""Tasks read at once where only some of them are asked for."""
PASSED_OVER: Final = 50_000
"""Tasks of others that a key bound to a subject looks past: a dozen calls."""
_ALL: Final = (READY_SK, ">", " ")
_FORM_TRIES: Final = 5


class DynamoTaskStore:
    """Keeps tasks in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._reader = TaskReader(storage)
        self._values = ValueWrites(storage)

    def candidates(self, tenant: str, queue: str, role: str, limit: int, subject: str | None) -> list[Candidate]:
        """The heads of the role's partitions of the ready index, merged; the rest of them only for a subject."""
        ref = None if subject is None else self._storage.codec.keyring.ref(tenant, subject)
        found: list[Candidate] = []
        for shard in range(self._storage.ready_order.shards):
            pk = ready_pk(tenant, queue, role, shard)
            found += self._head(pk, limit) if ref is None else self._of_subject(pk, limit, ref)
        return sorted(found, key=lambda c: c.rank)[:limit]

    def _head(self, pk: str, limit: int) -> list[Candidate]:
        return [_candidate(item) for item in self._storage.calls.query_index(READY, (READY_PK, pk), _ALL, limit)]

    def _of_subject(self, pk: str, limit: int, ref: str) -> list[Candidate]:
        """What is others' is passed over by its sort key: read, a megabyte to a call, and never tried."""
        found: list[Candidate] = []
        items = self._storage.calls.walk_index(READY, (READY_PK, pk), _ALL)
        for seen, item in enumerate(items):
            if seen == PASSED_OVER:
                raise Unavailable("too many tasks of others are ready before this key's; give its graphs a `queue`")
            if read_ready(item[READY_SK]).subject_ref == ref:
                found.append(_candidate(item))
                if len(found) == limit:
                    break
        return found

    def claim(
        self, tenant: str, candidate: Candidate, agent: str, nonce: str, lease_seconds: int, subject: str | None
    ) -> tuple[Task, Lease] | None:
        """One update: the condition decides between all who try."""
        now = self._storage.clock.now()
        key = task_key(tenant, candidate.graph_id, candidate.task_id)
        until = now + lease_seconds * 1000
        change = (
            Change()
            .set(state=TaskState.RUNNING, token=nonce, agent=agent, lease_until=until, updated_at=now)
            .set(**timer_attributes(key, until))
            .let(home_pk="#ready_pk", home_sk="#ready_sk")
            .grow("epoch", "attempts")
            .note(history_line(now, "claimed", agent))
            .remove(*IN_READY, "progress")
        )
        claimable = "#state = :READY AND attribute_not_exists(#need) AND #attempts < #max_attempts"
        write = change.on(key, claimable)
        if subject is not None:
            ref = self._storage.codec.keyring.ref(tenant, subject)
            write = write.also("#subject_pk = :subject_pk", **{":subject_pk": f"{tenant}#{ref}"})
        try:
            item = self._storage.calls.write(tenant, write)
        except ConditionFailed as failed:
            old = failed.old
            if old is None or old["state"] != TaskState.RUNNING or old.get("token") != nonce:
                return None
            item = old  # an earlier try of this very call applied, and its reply was lost
        return self._reader.task(tenant, item), lease_of(item, candidate.graph_id, lease_seconds)

    def heartbeat(self, tenant: str, lease: Lease, lease_seconds: int, progress: JsonValue) -> Beat:
        """One update of the lease's end, which an index does not know: the sweeper moves the timer entry."""
        until = self._storage.clock.now() + lease_seconds * 1000
        key = _key(tenant, lease)
        said: Item = {}
        if progress is not None:
            said["progress"] = self._storage.codec.seal(tenant, lease.subject_ref, key, "progress", progress)
        write = _held(Change().set(lease_until=until, **said), key, lease).also("#lease_until <= :lease_until")
        for _ in range(_FORM_TRIES):
            try:
                self._storage.calls.write(tenant, write)
            except ConditionFailed as failed:
                old = failed.old
                if old is None:
                    raise _gone(lease) from None
                if old["state"] == TaskState.CANCELLED and old.get("token") == lease.nonce:
                    return Beat(None, cancel_requested=True)
                if not _is_held(old, lease):
                    raise _refused(old, lease) from None
                until = old["lease_until"]
                if not said:
                    break
                write = _held(Change().set(**said), key, lease)  # the lease ends later already: only what was said
            else:
                break
        return Beat(until, cancel_requested=False)

    def complete(self, tenant: str, lease: Lease, outcome: Outcome) -> tuple[Task, tuple[str, ...]]:
        """One update in the form that fits whether somebody waits for the task; a wrong guess costs one more."""
        key = _key(tenant, lease)
        said = {"action": outcome.action, "result": outcome.result, "artifacts": list(outcome.artifacts)}
        size = contents.size_of(said)
        seen: Item = {"state": TaskState.RUNNING, "dependents": int(lease.has_dependents)}
        if size > contents.ITEM_BYTES or outcome.values:
            # Its object is written before the task names it: while the task is there, so that it goes with the graph.
            # And values are computed for a completion that may still be, not for one that was.
            found = self._storage.calls.get(tenant, key)
            if (before := self._completed_before(tenant, lease, found)) is not None:
                return before
            seen = found or seen
        large = size > contents.INLINE_RESULT_BYTES
        result = [self._large_result(tenant, lease, said)] if large else []
        inline: Any = {"action": outcome.action} if large else said
        sealed = self._storage.codec.seal(tenant, lease.subject_ref, key, "outcome", inline)
        for attempt in range(VALUE_TRIES if outcome.values else _FORM_TRIES):
            change = self._ended(lease, TaskState.DONE, "completed", seen, key).set(outcome=sealed)
            if large:
                change.set(large_result=True)
            write = change.on(key, f"{MINE} AND {_form(seen)}", epoch=lease.epoch, token=lease.nonce)
            plan = self._values.plan(tenant, _owner(lease), outcome.values, Author(lease.agent, lease.nonce))
            try:
                item = self._apply(tenant, write, [*result, *plan.writes])
            except ConditionFailed as failed:
                if (before := self._completed_before(tenant, lease, failed.old)) is not None:
                    return before
                seen = failed.old or seen
                self._values.retreat(plan, attempt)
            else:
                self._values.settle(plan)
                return self._reader.task(tenant, item), ()
        raise _busy()

    def _completed_before(self, tenant: str, lease: Lease, item: Item | None) -> tuple[Task, tuple[str, ...]] | None:
        """The answer of an earlier try that applied; None where the task may still be completed."""
        if item is None:
            raise _gone(lease)
        if item["state"] == TaskState.DONE and _is_mine(item, lease):
            return self._reader.task(tenant, item), tuple(item.get("freed", ()))
        if not _is_mine(item, lease) or item["state"] not in (TaskState.RUNNING, TaskState.READY):
            raise _refused(item, lease)
        return None

    def _large_result(self, tenant: str, lease: Lease, said: Any) -> Write:
        key = result_key(tenant, lease.graph_id, lease.task_id)
        return contents.put_for(self._storage, tenant, lease.subject_ref, key, said)

    def _apply(self, tenant: str, write: Write, beside: Sequence[Write]) -> Item:
        """The update alone, or together with the item of a large result and the changes of values."""
        calls = self._storage.calls
        if not beside:
            return calls.write(tenant, write)
        try:
            calls.transact(tenant, [write, *beside])
        except TransactionRefused as refused:
            # Where only another put failed, an earlier try wrote all, or a value has moved: the task itself tells.
            raise ConditionFailed(refused.failed.get(0) or calls.get(tenant, write.key)) from None
        item = calls.get(tenant, write.key)
        if item is None:
            raise ConditionFailed(None)  # completed, and deleted with its graph before it could be read
        return item

    def fail(self, tenant: str, lease: Lease, error: JsonValue, rest_ms: int | None) -> Task:
        """One update; into FAILED in the form that fits whether somebody waits for the task."""
        key, now = _key(tenant, lease), self._storage.clock.now()
        sealed = self._storage.codec.seal(tenant, lease.subject_ref, key, "error", error)
        wanted = (TaskState.DELAYED, TaskState.FAILED)
        if rest_ms is not None:
            due = now + rest_ms
            change = (
                Change()
                .set(state=TaskState.DELAYED, error=sealed, due_at=due, updated_at=now, **timer_attributes(key, due))
                .grow("epoch")
                .remove("lease_until")
            )
            return self._give_up(tenant, lease, change, "delayed", wanted)
        seen: Item = {"state": TaskState.RUNNING, "dependents": int(lease.has_dependents)}
        for _ in range(_FORM_TRIES):
            change = self._ended(lease, TaskState.FAILED, "failed", seen, key).set(error=sealed).grow("epoch")
            write = change.on(key, f"{MINE} AND {_form(seen)}", epoch=lease.epoch, token=lease.nonce)
            try:
                return self._reader.task(tenant, self._storage.calls.write(tenant, write))
            except ConditionFailed as failed:
                if failed.old is None or not _is_held(failed.old, lease):
                    return self._judge(tenant, lease, failed.old, wanted)
                seen = failed.old
        raise _busy()

    def wait(self, tenant: str, lease: Lease, question: JsonValue) -> Task:
        """One update; the place in the queue is kept for the answer."""
        key = _key(tenant, lease)
        sealed = self._storage.codec.seal(tenant, lease.subject_ref, key, "question", question)
        change = (
            Change()
            .set(state=TaskState.WAITING, question=sealed, updated_at=self._storage.clock.now())
            .let(attempts="#attempts - :one")
            .grow("epoch")
            .remove("answer", "lease_until", *IN_TIMER)
        )
        return self._give_up(tenant, lease, change, "waiting", (TaskState.WAITING,))

    def release(self, tenant: str, lease: Lease) -> Task:
        """One update; the task goes back to the place it had."""
        change = (
            Change()
            .set(state=TaskState.READY, updated_at=self._storage.clock.now())
            .let(attempts="#attempts - :one", ready_pk="#home_pk", ready_sk="#home_sk")
            .grow("epoch")
            .remove("lease_until", *AT_HOME, *IN_TIMER)
        )
        return self._give_up(tenant, lease, change, "released", (TaskState.READY,))

    def _give_up(self, tenant: str, lease: Lease, change: Change, event: str, wanted: Sequence[TaskState]) -> Task:
        key = _key(tenant, lease)
        self._note(tenant, lease, change, event)
        try:
            return self._reader.task(tenant, self._storage.calls.write(tenant, _held(change, key, lease)))
        except ConditionFailed as failed:
            return self._judge(tenant, lease, failed.old, wanted)

    def _judge(self, tenant: str, lease: Lease, old: Item | None, wanted: Sequence[TaskState]) -> Task:
        """Our token, the next epoch and the state we wanted: an earlier try of this call applied."""
        if old is None:
            raise _gone(lease)
        if old["state"] in wanted and old.get("token") == lease.nonce and old["epoch"] == lease.epoch + 1:
            return self._reader.task(tenant, old)
        raise _refused(old, lease)

    def _ended(self, lease: Lease, state: TaskState, event: str, seen: Item, key: Key) -> Change:
        """The end of a task by its worker: it stays in the timer as long as its children are to be told."""
        now = self._storage.clock.now()
        change = Change().set(state=state, updated_at=now).remove("lease_until", *AT_HOME)
        if seen["state"] == TaskState.READY:
            change.remove(*IN_READY)
        if seen["dependents"] == 0:
            change.remove(*IN_TIMER)
        else:
            change.set(unlocking=True)
            if seen["state"] == TaskState.READY:
                change.set(**timer_attributes(key, now))
        self._note(key.pk.partition("#")[0], lease, change, event)
        return change

    def _note(self, tenant: str, lease: Lease, change: Change, event: str) -> None:
        line = history_line(self._storage.clock.now(), event, lease.agent)
        if lease.history_length <= HISTORY_BOUND:
            change.note(line)
            return
        # A rare read: a task that was given back dozens of times keeps the newest half of its history.
        item = self._storage.calls.get(tenant, _key(tenant, lease)) or {"history": []}
        change.set(history=[*item["history"][-HISTORY_BOUND // 2 :], line]).grow("version")

    def get(self, tenant: str, graph_id: str, task_id: str) -> Task:
        """One call for the graph's head, the task, and what is too large for it."""
        tasks = self.many(tenant, graph_id, [task_id])
        if not tasks:
            raise NotFound(f"there is no task {task_id!r} in the graph {graph_id!r}")
        return tasks[0]

    def many(self, tenant: str, graph_id: str, task_ids: Sequence[str]) -> list[Task]:
        """Those of these tasks that exist; none of a graph that is being deleted."""
        head = Key(graph_pk(tenant, graph_id), META)
        keys = [task_key(tenant, graph_id, t) for t in task_ids]
        found = self._storage.calls.get_many(tenant, [head, *keys])
        if head not in found or found[head]["state"] == GraphState.DELETING:
            return []
        return self._reader.tasks(tenant, [found[key] for key in keys if key in found])

    def page(
        self, tenant: str, graph_id: str, state: TaskState | None, role: str | None, position: str | None, limit: int
    ) -> Page[Task]:
        """A query from the position on; filtered here, so that a page is full as long as there is more."""

        def fits(item: Item) -> bool:
            return (state is None or shown_state(item) is state) and (role is None or item["role"] == role)

        low, high = prefix(TASK)
        start = low if position is None else TASK + position + " "  # sorts right after the position, before any id
        at_once = limit + 1 if state is None and role is None else max(limit + 1, LOOKED_AT)
        query = self._storage.calls.query(tenant, graph_pk(tenant, graph_id), between=(start, high), at_once=at_once)
        items = take(query, fits, limit + 1)
        more = len(items) > limit
        tasks = self._reader.tasks(tenant, items[:limit])
        return Page(tasks, tasks[-1].task_id if more else None)


def take(items: Any, fits: Callable[[Item], bool], most: int) -> list[Item]:
    """The first so many that fit; reads no further."""
    found: list[Item] = []
    for item in items:
        if fits(item):
            found.append(item)
            if len(found) == most:
                break
    return found


def _candidate(item: Item) -> Candidate:
    ready = read_ready(item[READY_SK])
    graph_id = str(item["pk"]).rpartition("#")[2]
    task_id = str(item["sk"]).removeprefix(TASK)
    return Candidate(graph_id, task_id, ready.rank, ready.priority, ready.lease_seconds, ready.subject_ref)


def _key(tenant: str, lease: Lease) -> Key:
    return task_key(tenant, lease.graph_id, lease.task_id)


def _owner(lease: Lease) -> Owner:
    return Owner(OwnerKind.GRAPH, lease.graph_id, lease.subject_ref)


def _held(change: Change, key: Key, lease: Lease) -> Write:
    return change.on(key, HELD, epoch=lease.epoch, token=lease.nonce)


def _form(seen: Item) -> str:
    """The condition of the form that was chosen for a task as it was seen."""
    dependents = "#dependents = :zero" if seen["dependents"] == 0 else "#dependents > :zero"
    return f"#state = :{seen['state']} AND {dependents}"


def _is_mine(item: Item, lease: Lease) -> bool:
    return bool(item.get("token") == lease.nonce and item["epoch"] == lease.epoch)


def _is_held(item: Item, lease: Lease) -> bool:
    return item["state"] == TaskState.RUNNING and _is_mine(item, lease)


def _refused(item: Item, lease: Lease) -> SlateError:
    now = {"state": item["state"], "epoch": item["epoch"], "agent": item.get("agent"), "task_id": lease.task_id}
    if item["state"] in TERMINAL and item.get("token") == lease.nonce:
        return AlreadyTerminal(f"the task is {item['state']} already; drop this work", **now)
    return LeaseLost("this token no longer holds the task; drop this work and claim anew", **now)


def _gone(lease: Lease) -> SlateError:
    return NotFound(f"there is no task {lease.task_id!r} in the graph {lease.graph_id!r} any more")


def _busy() -> SlateError:
    return Unavailable("the task keeps changing; repeat the call")
