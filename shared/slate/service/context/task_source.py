"""What a graph gives to a context: a fixed number of reads, however many tasks it has."""

from __future__ import annotations

from typing import Final

from slate.domain.context import Dropped, SectionName
from slate.domain.errors import NotFound
from slate.domain.graphs import Graph
from slate.domain.task_view import TaskView, draft_of, named_in
from slate.domain.tasks import Task
from slate.domain.values import Owner, OwnerKind, Value
from slate.ports.graph_store import GraphStore
from slate.ports.keyring import Keyring
from slate.ports.task_store import TaskStore
from slate.ports.token_counter import TokenCounter
from slate.ports.value_store import ValueStore
from slate.service.context.offers import Asked, Offer

OTHERS: Final = 100
"""So many other tasks get a line at most."""
VALUES: Final = 200
"""So many shared values are looked at for those that the task names."""


class TaskSource:
    """Gives `task`."""

    def __init__(
        self, graphs: GraphStore, tasks: TaskStore, values: ValueStore, keyring: Keyring, counter: TokenCounter
    ) -> None:
        self._graphs = graphs
        self._tasks = tasks
        self._values = values
        self._keyring = keyring
        self._counter = counter

    def offer(self, asked: Asked) -> Offer | None:
        """The section of the graph that is named, and of one of its tasks.

        Raises:
            NotFound: there is no such graph within reach, or no such task in it.
        """
        graph_id, tenant = asked.body.graph, asked.principal.tenant
        if graph_id is None:
            return None
        head = self._graphs.head(tenant, graph_id)
        if not asked.principal.may_reach(head.subject):
            raise NotFound(f"there is no graph {graph_id!r}")
        graph = Graph.of(head, self._graphs.counts(tenant, graph_id))
        task = None if asked.body.task is None else self._tasks.get(tenant, graph_id, asked.body.task)
        parents = self._tasks.many(tenant, graph_id, list(task.parents())) if task is not None else []
        page = self._tasks.page(tenant, graph_id, None, None, None, OTHERS + len(parents) + 1)
        known = {each.task_id for each in (*parents, *([task] if task else []))}
        others = [each for each in page.items if each.task_id not in known]
        view = TaskView(graph, task, parents, others, self._named(tenant, graph, task))
        unread = [] if page.position is None else [_unread(graph)]
        return Offer(
            drafts=[draft_of(view, asked.body.budget.total, self._counter.count)],
            dropped=unread,
            subject=head.subject,
            role=None if task is None else task.role,
            keep_days=head.retention_days,
        )

    def _named(self, tenant: str, graph: Graph, task: Task | None) -> list[Value]:
        ref = None if graph.subject is None else self._keyring.ref(tenant, graph.subject)
        owner = Owner(OwnerKind.GRAPH, graph.graph_id, ref)
        values = {value.key: value for value in self._values.page(tenant, owner, "", None, VALUES).items}
        return [values[key] for key in named_in(task, graph, values)]


def _unread(graph: Graph) -> Dropped:
    reason = f"only {OTHERS} other tasks get a line; the graph has {graph.counts.total}"
    return Dropped(id=f"graph:{graph.graph_id}", section=SectionName.TASK, reason=reason)
