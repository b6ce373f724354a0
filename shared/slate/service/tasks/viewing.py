"""Views of a whole graph: what takes longest, and who worked on what."""

from __future__ import annotations

from itertools import islice
from typing import Final

from slate.contract.views import TimelinePage
from slate.domain.access import Principal
from slate.domain.critical_path import CriticalPath, PathBy, critical_path
from slate.domain.errors import NotFound, TooLarge
from slate.domain.timeline import TaskTimeline
from slate.ports.clock import Clock
from slate.ports.graph_store import GraphStore
from slate.ports.view_store import ViewStore
from slate.service.paging import Cursors, fitting

MAX_TASKS: Final = 10_000
"""Of a graph whose critical path is looked for: each request reads all of them."""


class Viewing:
    """The use cases of whoever looks at a graph as a whole."""

    def __init__(self, graphs: GraphStore, views: ViewStore, cursors: Cursors, clock: Clock) -> None:
        self._graphs = graphs
        self._views = views
        self._cursors = cursors
        self._clock = clock

    def critical_path(self, principal: Principal, graph_id: str, by: PathBy) -> CriticalPath:
        """The chain of tasks that takes longest, as of now.

        Raises:
            NotFound: there is no such graph, it is being deleted, or is about another subject.
            TooLarge: it has too many tasks.
        """
        self._reach(principal, graph_id)
        tasks = list(islice(self._views.outlines(principal.tenant, graph_id), MAX_TASKS + 1))
        if len(tasks) > MAX_TASKS:
            raise TooLarge(
                f"the graph has over {MAX_TASKS:,} tasks; work the path out of its timeline and tasks, page by page",
                limit=MAX_TASKS,
            )
        return critical_path(graph_id, tasks, by, self._clock.now())

    def timeline(self, principal: Principal, graph_id: str, limit: int, cursor: str | None) -> TimelinePage:
        """Each task's spans of work, by task; fewer where more would not fit an answer.

        Raises:
            NotFound: as above.
        """
        self._reach(principal, graph_id)
        tenant, of = principal.tenant, f"timeline {graph_id}"
        after = self._cursors.position(tenant, of, cursor)
        found = [
            TaskTimeline(graph_id=graph_id, task_id=task.task_id, role=task.role, state=task.state, spans=task.spans)
            for task in islice(self._views.outlines(tenant, graph_id, after, at_once=limit + 1), limit + 1)
        ]
        shown = fitting(found[:limit])
        position = shown[-1].task_id if len(found) > len(shown) else None
        return TimelinePage(items=tuple(shown), next_cursor=self._cursors.next(tenant, of, position))

    def _reach(self, principal: Principal, graph_id: str) -> None:
        if not principal.may_reach(self._graphs.head(principal.tenant, graph_id).subject):
            raise NotFound(f"there is no graph {graph_id!r}")
