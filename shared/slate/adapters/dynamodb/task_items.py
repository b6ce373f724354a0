"""A task as an item, and an item as a task.

In clear: keys, states, counters, instants, roles, queues, and who works on it. Sealed: whatever a caller said::

    body      title, input      outcome   action, result, artifacts
    error     question          answer    progress

``need`` is the set of unmet slots; ``token`` the nonce of the last claim; ``dependents`` how many tasks wait for it;
``unlocking`` stands while its children are being told; ``home_*`` keeps its place in the queue while it is not READY.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.keys import (
    TASK,
    Place,
    input_key,
    ready_attributes,
    ref_of,
    result_key,
    subject_attributes,
    task_key,
    timer_attributes,
)
from slate.adapters.dynamodb.storage import Storage
from slate.domain import slots
from slate.domain.graphs import GraphHead
from slate.domain.leases import Lease
from slate.domain.tasks import Dependency, EdgeKind, HistoryEntry, Task, TaskSpec, TaskState

HISTORY_BOUND: Final = 40
"""Above it, the next step of a worker or a person keeps the newest half."""
_SAID: Final = ("error", "question", "answer", "progress")
_GROWS_EPOCH: Final = frozenset({"claimed", "failed", "delayed", "waiting", "released", "cancelled", "retried"})


def history_line(at: int, event: str, agent: str = "slate") -> str:
    """One step as a line; its epoch follows from those after it and the task's own."""
    return f"{at} {event} {agent}"


def place_of(item: Item) -> Place:
    """Where a task stands in its queue."""
    return Place(item["queue"], item["role"], item["priority"], item["lease"], ref_of(item))


def spec_digest(storage: Storage, tenant: str, ref: str | None, spec: TaskSpec) -> bytes:
    """Tells a task given again from another one of the same id."""
    return storage.codec.digest(tenant, ref, spec.model_dump(mode="json"))


class NewTask:
    """A task about to be written: its item grows while its edges are looked at."""

    def __init__(self, storage: Storage, tenant: str, head: GraphHead, spec: TaskSpec, dependents: int) -> None:
        self.spec = spec
        self.need = set(slots.first_need(spec))
        self.state = TaskState.BLOCKED
        self._storage = storage
        self._tenant = tenant
        self._head = head
        self._ref = None if head.subject is None else storage.codec.keyring.ref(tenant, head.subject)
        self._dependents = dependents
        self.key = task_key(tenant, head.graph_id, spec.task_id)
        self.large_input = contents.size_of(spec.input) > contents.INLINE_INPUT_BYTES

    def input_item(self) -> Item | None:
        """The item of its own that a large input needs."""
        if not self.large_input:
            return None
        key = input_key(self._tenant, self._head.graph_id, self.spec.task_id)
        return contents.item_for(self._storage, self._tenant, self._ref, key, self.spec.input)

    def item(self, *, cancelled_by: str | None = None, held_until: int | None = None) -> Item:
        """The item: READY without a need, BLOCKED with one, CANCELLED under a parent that is broken already."""
        storage, spec, now = self._storage, self.spec, self._storage.clock.now()
        body = {"title": spec.title} | ({} if self.large_input else {"input": spec.input})
        item: Item = {
            **self.key.attributes,
            **subject_attributes(self._tenant, self._ref),
            "version": 1,
            "epoch": 0,
            "attempts": 0,
            "max_attempts": spec.max_attempts,
            "backoff": spec.backoff_seconds,
            "lease": spec.lease_seconds,
            "queue": self._head.queue,
            "role": spec.role,
            "priority": spec.priority,
            "dependents": self._dependents,
            "created_at": now,
            "updated_at": now,
            "history": [history_line(now, "created")],
            "digest": spec_digest(storage, self._tenant, self._ref, spec),
            "body": storage.codec.seal(self._tenant, self._ref, self.key, "body", body),
        }
        if spec.depends_on:
            item["parents"] = [_parent_text(d) for d in spec.depends_on]
        if spec.parent_task is not None:
            item["parent_task"] = spec.parent_task
        if spec.needs_approval:
            item["needs_approval"] = True
        if self.large_input:
            item["large_input"] = True
        return item | self._standing(now, cancelled_by, held_until)

    def _standing(self, now: int, cancelled_by: str | None, held_until: int | None) -> Item:
        need = {"need": set(self.need)} if self.need else {}
        if cancelled_by is not None:
            self.state = TaskState.CANCELLED
            telling = {"unlocking": True, **timer_attributes(self.key, now)} if self._dependents else {}
            return {"state": self.state, "cause": f"parent:{cancelled_by}", **need, **telling}
        if self.need:
            self.state = TaskState.BLOCKED
            timer = {} if held_until is None else timer_attributes(self.key, held_until)
            return {"state": self.state, **need, **timer}
        self.state = TaskState.READY
        spec = self.spec
        place = Place(self._head.queue, spec.role, spec.priority, spec.lease_seconds, self._ref)
        ready = ready_attributes(self._tenant, place, spec.task_id, now, self._storage.ready_order)
        return {"state": self.state, **ready}

    def edge_item(self, key: Key, slot: int, kind: EdgeKind) -> Item:
        """The edge from one of its parents: all that the parent needs to tell this task."""
        return {
            **key.attributes,
            **subject_attributes(self._tenant, self._ref),
            "slot": slot,
            "kind": kind,
            "queue": self._head.queue,
            "role": self.spec.role,
            "priority": self.spec.priority,
            "lease": self.spec.lease_seconds,
            "alone": len(slots.first_need(self.spec)) == 1,
        }


def _parent_text(dependency: Dependency) -> str:
    # "#" never stands in an id; the common kind costs no byte.
    return dependency.task_id if dependency.kind is EdgeKind.SUCCESS else f"{dependency.task_id}#c"


def parents_of(item: Item) -> tuple[Dependency, ...]:
    """The parents that an item names, in the order of their slots."""
    pairs = (text.partition("#") for text in item.get("parents", ()))
    return tuple(
        Dependency(task_id=parent, kind=EdgeKind.COMPLETION if marked else EdgeKind.SUCCESS)
        for parent, _, marked in pairs
    )


def need_of(item: Item) -> set[int]:
    """The unmet slots."""
    return {int(slot) for slot in item.get("need", ())}


def shown_state(item: Item) -> TaskState:
    """BLOCKED by nothing but its approval reads as WAITING."""
    state = TaskState(item["state"])
    return TaskState.WAITING if state is TaskState.BLOCKED and need_of(item) == {slots.APPROVAL} else state


def history_of(item: Item) -> tuple[HistoryEntry, ...]:
    """The history with each entry's epoch, counted back from the task's own."""
    epoch = int(item["epoch"])
    entries: list[HistoryEntry] = []
    for line in reversed(item["history"]):
        at, event, agent = line.split(" ", 2)
        entries.append(HistoryEntry(at=int(at), event=event, agent=agent, epoch=epoch))
        epoch -= event in _GROWS_EPOCH
    return tuple(reversed(entries))


def lease_of(item: Item, graph_id: str, lease_seconds: int) -> Lease:
    """What the token of a claim says, from the item right after it."""
    return Lease(
        graph_id=graph_id,
        task_id=str(item["sk"]).removeprefix(TASK),
        nonce=item["token"],
        epoch=item["epoch"],
        agent=item["agent"],
        lease_seconds=lease_seconds,
        attempts=item["attempts"],
        max_attempts=item["max_attempts"],
        backoff_seconds=item["backoff"],
        subject_ref=ref_of(item),
        has_dependents=item["dependents"] > 0,
        history_length=len(item["history"]),
    )


class TaskReader:
    """Opens items as tasks, fetching what is too large for them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def task(self, tenant: str, item: Item) -> Task:
        """One item as a task; a call more where its input or result is large."""
        return self.tasks(tenant, [item])[0]

    def tasks(self, tenant: str, items: Sequence[Item]) -> list[Task]:
        """Items as tasks, in order."""
        keys = [key for item in items for key in _large(tenant, item)]
        large = contents.read_all(self._storage, tenant, keys) if keys else {}
        return [self._opened(tenant, item, large) for item in items]

    def _opened(self, tenant: str, item: Item, large: Mapping[Key, Any]) -> Task:
        graph_id, task_id = _names(item)
        said = self._said(tenant, item)
        body, outcome = said.get("body") or {}, said.get("outcome") or {}
        if item.get("large_input"):
            body["input"] = large.get(input_key(tenant, graph_id, task_id))
        if item.get("large_result"):
            outcome |= large.get(result_key(tenant, graph_id, task_id)) or {}
        depends_on = parents_of(item)
        spec: dict[str, Any] = {
            **body,
            **outcome,
            **{name: said.get(name) for name in _SAID},
            "task_id": task_id,
            "depends_on": depends_on,
            "artifacts": tuple(outcome.get("artifacts", ())),
            "lease_seconds": item["lease"],
            "backoff_seconds": item["backoff"],
            "graph_id": graph_id,
            "state": shown_state(item),
            "history": history_of(item),
            "waiting_on": slots.waiting_on([d.task_id for d in depends_on], need_of(item)),
        }
        plain: dict[str, Any] = {name: item[name] for name in _PLAIN if name in item}
        # Trusted: it was validated when it came in, and opened under its key.
        fields: dict[str, Any] = {**_DEFAULTS, **plain, **spec}
        return Task.model_construct(**fields)

    def _said(self, tenant: str, item: Item) -> dict[str, Any]:
        key, ref = Key(item["pk"], item["sk"]), ref_of(item)
        return {
            name: self._storage.codec.open(tenant, ref, key, name, item[name])
            for name in ("body", "outcome", *_SAID)
            if name in item
        }


_PLAIN: Final = (
    "role",
    "queue",
    "priority",
    "max_attempts",
    "parent_task",
    "needs_approval",
    "agent",
    "cause",
    "attempts",
    "epoch",
    "lease_until",
    "due_at",
    "unlocking",
    "created_at",
    "updated_at",
    "version",
)
_DEFAULTS: Final[dict[str, Any]] = {
    name: field.get_default() for name, field in Task.model_fields.items() if not field.is_required()
}


def _names(item: Item) -> tuple[str, str]:
    return str(item["pk"]).rpartition("#")[2], str(item["sk"]).removeprefix(TASK)


def _large(tenant: str, item: Item) -> Iterable[Key]:
    graph_id, task_id = _names(item)
    if item.get("large_input"):
        yield input_key(tenant, graph_id, task_id)
    if item.get("large_result"):
        yield result_key(tenant, graph_id, task_id)
