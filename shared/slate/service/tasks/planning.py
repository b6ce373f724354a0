"""What a planner does: create a graph, extend it, look at it, cancel it, delete it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from pydantic import JsonValue

from slate.contract.tasks import Added, AddTasks, CreateGraph, GraphPage
from slate.domain.access import Principal
from slate.domain.errors import AlreadyTerminal, Conflict, NotFound, ParentMoved, Unavailable
from slate.domain.graphs import Counts, Graph, GraphHead, GraphState, check_tasks, in_order
from slate.domain.tasks import Task, TaskSpec
from slate.ports.clock import Clock
from slate.ports.graph_store import GraphStore
from slate.ports.task_store import Parent, TaskStore
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors, fitting
from slate.service.tasks.unlocking import Unlocking

SHOWN_TASKS: Final = 100
MAX_ITEMS: Final = 100
"""A transaction's."""
MAX_ITEM_BYTES: Final = 100 * 1024
"""Of content that stands on an item; larger content is an object."""
MAX_BYTES: Final = 3_000_000
"""A transaction's, with room below DynamoDB's 4 MB for keys and sealing."""
INLINE_MS: Final = 5_000
_TRIES: Final = 10


class Planning:
    """The planner's use cases."""

    def __init__(
        self,
        graphs: GraphStore,
        tasks: TaskStore,
        unlocking: Unlocking,
        idempotency: Idempotency,
        cursors: Cursors,
        clock: Clock,
    ) -> None:
        self._graphs = graphs
        self._tasks = tasks
        self._unlocking = unlocking
        self._idempotency = idempotency
        self._cursors = cursors
        self._clock = clock

    def create(self, principal: Principal, body: CreateGraph, idempotency_key: str | None) -> tuple[Graph, bool]:
        """A new graph, or the very same one again (False): then nothing changes, and what was left off goes on.

        Up to a transaction's size it appears whole; above, or where an input needs an object of its own, it is
        CREATING until its last part is there.

        Raises:
            Invalid, Cycle: the tasks do not make a graph.
            Conflict: the id is taken by other content.
        """
        subject = principal.acting_subject(body.subject)
        check_tasks(body.tasks, known=(), whole=not body.more)

        def do(seed: str) -> tuple[tuple[Graph, bool], JsonValue]:
            graph_id = body.graph_id or f"g-{seed}"
            new = self._create(principal.tenant, self._head(graph_id, body, subject), body)
            return (self._shown(principal.tenant, self._graphs.head(principal.tenant, graph_id)), new), graph_id

        def again(answer: JsonValue) -> tuple[Graph, bool]:
            return self.get(principal, str(answer), with_tasks=True), True

        request: JsonValue = ["POST /v1/graphs", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again, about=subject)

    def _head(self, graph_id: str, body: CreateGraph, subject: str | None) -> GraphHead:
        whole = not body.more and _fits(body.tasks, 2) and not any(map(_needs_object, body.tasks))
        now = self._clock.now()
        return GraphHead(
            graph_id=graph_id,
            goal=body.goal,
            queue=body.queue,
            subject=subject,
            retention_days=body.retention_days,
            state=GraphState.ACTIVE if whole else GraphState.CREATING,
            version=1,
            created_at=now,
            updated_at=now,
        )

    def _create(self, tenant: str, head: GraphHead, body: CreateGraph) -> bool:
        content: JsonValue = body.model_copy(update={"graph_id": None}).model_dump(mode="json")
        if head.state is GraphState.ACTIVE:
            return self._graphs.create(tenant, head, body.tasks, content)
        begun = self._graphs.begin(tenant, head, content)
        self._put_part(tenant, begun, body.tasks, last=not body.more)
        return begun is head

    def _put_part(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec], *, last: bool) -> None:
        """A part of a create; where the graph was given up meanwhile, what was just put is cancelled too."""
        if head.state is GraphState.CREATING:
            with suppress(ParentMoved):  # overtaken, as told below
                self._graphs.put_part(tenant, head, specs, _outside(specs))
            if last:
                head, whole = self._graphs.activate(tenant, head)
            else:
                head, whole = self._graphs.head(tenant, head.graph_id), False
            if head.state is GraphState.ACTIVE and not whole:
                # The last part has overtaken this one: its tasks are settled as those of a graph that runs.
                self._extend(tenant, head, in_order(specs))
        if head.state is GraphState.ACTIVE:
            self._graphs.release_holds(tenant, head.graph_id)
        elif head.state is not GraphState.CREATING:
            self._graphs.sweep(tenant, head.graph_id, self._deadline())
            raise Conflict(f"the graph is {head.state}; create another", graph_state=head.state)

    def add(self, principal: Principal, graph_id: str, body: AddTasks, idempotency_key: str | None) -> Added:
        """More tasks for a graph, or the next part of one being created; those already there count as added.

        In a graph that runs each task appears with its edges, in transactions of up to 100 items, parents first.

        Raises:
            Invalid, Cycle: they do not make a graph with what is there.
            Conflict: a task is there with other content, or the graph has ended by a cancel.
        """
        tenant = principal.tenant
        head = self._reached(principal, graph_id)

        def do(_: str) -> tuple[Added, JsonValue]:
            outside = _outside(body.tasks)
            check_tasks(body.tasks, self._graphs.states(tenant, graph_id, outside))
            if head.state is GraphState.CREATING:
                self._put_part(tenant, head, body.tasks, last=not body.more)
            else:
                self._extend(tenant, head, in_order(body.tasks))
            return self._added(principal, graph_id, body), graph_id

        request: JsonValue = [f"POST /v1/graphs/{graph_id}/tasks", body.model_dump(mode="json")]
        return self._idempotency.once(
            principal,
            idempotency_key,
            request,
            do,
            lambda _: self._added(principal, graph_id, body),
            about=head.subject,
        )

    def _added(self, principal: Principal, graph_id: str, body: AddTasks) -> Added:
        head = self._reached(principal, graph_id)
        graph = Graph.of(head, self._graphs.counts(principal.tenant, graph_id))
        few = len(body.tasks) <= SHOWN_TASKS
        ids = [spec.task_id for spec in body.tasks]
        tasks = tuple(self._tasks.many(principal.tenant, graph_id, ids)) if few else None
        return Added(graph=graph, tasks=tasks, added=len(body.tasks))

    def _extend(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec]) -> None:
        if head.state is not GraphState.ACTIVE:
            raise Conflict(f"the graph is {head.state}; tasks are added to an ACTIVE graph", graph_state=head.state)
        for batch in _batches(specs):
            for _ in range(_TRIES):
                there = self._graphs.existing(tenant, head, batch)
                todo = [spec for spec in batch if spec.task_id not in there]
                if not todo or self._add_batch(tenant, head, todo):
                    break
            else:
                raise Unavailable("the parents keep changing; repeat the call, what was added stays")

    def _add_batch(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec]) -> bool:
        """False where a parent changed since it was read."""
        if len(specs) == 1 and not _fits(specs, 1 + len(specs[0].depends_on)):
            self._tell(tenant, head, [self._graphs.add_in_parts(tenant, head, specs[0])])
            return True
        parents = self._graphs.states(tenant, head.graph_id, _outside(specs))
        if missing := _outside(specs) - parents.keys():
            raise NotFound(f"the task {min(missing)!r} is gone: the graph is being deleted")
        try:
            self._tell(tenant, head, self._graphs.add(tenant, head, specs, parents))
        except ParentMoved:
            return False
        return True

    def _tell(self, tenant: str, head: GraphHead, tasks: Sequence[Task]) -> None:
        for task in tasks:
            if task.unlocking:
                self._unlocking.inline(tenant, Parent(head.graph_id, task.task_id, task.state, task.epoch))

    def get(self, principal: Principal, graph_id: str, *, with_tasks: bool = False) -> Graph:
        """A graph with its counts.

        Raises:
            NotFound: there is none, it is being deleted, or it is about another subject.
        """
        head = self._reached(principal, graph_id)
        if with_tasks:
            return self._shown(principal.tenant, head)
        return Graph.of(head, self._graphs.counts(principal.tenant, graph_id))

    def list(self, principal: Principal, limit: int, cursor: str | None, subject: str | None) -> GraphPage:
        """Graphs with their counts, the newest first; a bound key sees its subject's alone."""
        tenant, about = principal.tenant, principal.acting_subject(subject)
        of = f"graphs {about or ''}"
        page = self._graphs.page(tenant, about, self._cursors.position(tenant, of, cursor), limit)
        graphs = tuple(Graph.of(head, self._graphs.counts(tenant, head.graph_id)) for head in page.items)
        return GraphPage(items=graphs, next_cursor=self._cursors.next(tenant, of, page.position))

    def cancel(self, principal: Principal, graph_id: str, if_match: int | None) -> Graph:
        """Nothing of the graph starts any more, and every open task is cancelled; a repeat changes nothing.

        Raises:
            NotFound: as in ``get``.
            VersionMismatch: it is at another version.
            AlreadyTerminal: every task has ended already.
        """
        graph = self.get(principal, graph_id)
        if graph.state in (GraphState.DONE, GraphState.FAILED):
            raise AlreadyTerminal(
                f"the graph is {graph.state} already; nothing is left to cancel", graph_state=graph.state
            )
        head = self._graphs.begin_cancel(principal.tenant, graph_id, if_match)
        if head.state is GraphState.CANCELLING:
            self._graphs.sweep(principal.tenant, graph_id, self._deadline())
        return Graph.of(head, self._graphs.counts(principal.tenant, graph_id))

    def delete(self, principal: Principal, graph_id: str, if_match: int | None) -> None:
        """From now on every read of the graph is not found; its id is free once the last of it is removed.

        Raises:
            NotFound: as in ``get``.
            VersionMismatch: it is at another version.
        """
        self._reached(principal, graph_id)
        self._graphs.begin_delete(principal.tenant, graph_id, if_match)
        self._graphs.remove(principal.tenant, graph_id, self._deadline())

    def _reached(self, principal: Principal, graph_id: str) -> GraphHead:
        head = self._graphs.head(principal.tenant, graph_id)
        if not principal.may_reach(head.subject):
            raise NotFound(f"there is no graph {graph_id!r}")
        return head

    def _shown(self, tenant: str, head: GraphHead) -> Graph:
        """With its tasks where they are few, by one query either way."""
        page = self._tasks.page(tenant, head.graph_id, None, None, None, SHOWN_TASKS)
        if page.position is not None or len(fitting(page.items)) < len(page.items):
            return Graph.of(head, self._graphs.counts(tenant, head.graph_id))
        return Graph.of(head, Counts.of(task.state for task in page.items), page.items)

    def _deadline(self) -> int:
        return self._clock.now() + INLINE_MS


def _outside(specs: Sequence[TaskSpec]) -> set[str]:
    """The parents that are not among these tasks."""
    here = {spec.task_id for spec in specs}
    return {parent for spec in specs for parent in spec.parents()} - here


def _size(spec: TaskSpec) -> tuple[int, int]:
    """Items (the task, its input, its edges) and bytes at most."""
    return 2 + len(spec.depends_on), len(spec.model_dump_json().encode()) + 400 * (1 + len(spec.depends_on))


def _needs_object(spec: TaskSpec) -> bool:
    """Whether its input may be too large for an item: the graph's head is then there before its objects are."""
    return _size(spec)[1] > MAX_ITEM_BYTES


def _fits(specs: Sequence[TaskSpec], others: int) -> bool:
    sizes = [_size(spec) for spec in specs]
    return others + sum(s[0] for s in sizes) <= MAX_ITEMS and sum(s[1] for s in sizes) <= MAX_BYTES


def _batches(specs: Sequence[TaskSpec]) -> Iterator[list[TaskSpec]]:
    """Runs of tasks that each fit a transaction: the head, each task's items, and each parent outside the run."""
    batch: list[TaskSpec] = []
    for spec in specs:
        grown = [*batch, spec]
        if batch and not _fits(grown, 1 + len(_outside(grown))):
            yield batch
            grown = [spec]
        batch = grown
    if batch:
        yield batch
