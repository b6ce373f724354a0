"""What people do with single tasks: look, answer, approve, cancel, try again."""

from __future__ import annotations

from collections import deque
from typing import Final

from slate.contract.tasks import ResumeTask, RetryTask, TaskPage
from slate.domain.access import Principal
from slate.domain.errors import Conflict, NotFound, ParentMoved, VersionMismatch
from slate.domain.tasks import Task, TaskState
from slate.ports.graph_store import GraphStore
from slate.ports.task_store import CascadeStore, Parent, SteeringStore, TaskStore
from slate.service.paging import Cursors
from slate.service.tasks.unlocking import Unlocking

_TRIES: Final = 5
CASCADE_TASKS: Final = 500
"""Retried in one call; a larger cascade goes on when the call is repeated."""


class Steering:
    """The use cases of people, and of whoever acts for them."""

    def __init__(
        self,
        graphs: GraphStore,
        tasks: TaskStore,
        steering: SteeringStore,
        cascade: CascadeStore,
        unlocking: Unlocking,
        cursors: Cursors,
    ) -> None:
        self._graphs = graphs
        self._tasks = tasks
        self._steering = steering
        self._cascade = cascade
        self._unlocking = unlocking
        self._cursors = cursors

    def get(self, principal: Principal, graph_id: str, task_id: str) -> Task:
        """A task with all that has become of it.

        Raises:
            NotFound: there is none, its graph is being deleted, or is about another subject.
        """
        if principal.subject is not None:
            self._reach(principal, graph_id)
        return self._tasks.get(principal.tenant, graph_id, task_id)

    def list(
        self,
        principal: Principal,
        graph_id: str,
        state: TaskState | None,
        role: str | None,
        limit: int,
        cursor: str | None,
    ) -> TaskPage:
        """Tasks of a graph by id, of one state and one role where given."""
        self._reach(principal, graph_id)
        tenant, of = principal.tenant, f"tasks {graph_id} {state or ''} {role or ''}"
        page = self._tasks.page(tenant, graph_id, state, role, self._cursors.position(tenant, of, cursor), limit)
        return TaskPage.model_construct(
            items=tuple(page.items), next_cursor=self._cursors.next(tenant, of, page.position)
        )

    def resume(self, principal: Principal, graph_id: str, task_id: str, body: ResumeTask, if_match: int | None) -> Task:
        """The answer to the task's question, or its approval: READY, unless it still waits for parents.

        With the question's ``epoch`` a repeat after a lost reply is answered as the first call, and never answers
        the next question.

        Raises:
            Conflict: nothing is asked, or another question by now.
        """
        task = self._seen(principal, graph_id, task_id, if_match)
        if body.epoch is not None and body.epoch != task.epoch:
            raise Conflict("that question is no longer asked", **task.facts())
        answered = task.state is TaskState.READY and task.answer == body.answer and body.epoch is not None
        if answered:
            return task
        return self._steering.resume(principal.tenant, task, body.answer, principal.agent)

    def cancel(self, principal: Principal, graph_id: str, task_id: str, if_match: int | None) -> Task:
        """The task is CANCELLED, and what waited for its success too.

        Raises:
            AlreadyTerminal: it has ended.
            Conflict: its graph is still being created.
        """
        for attempt in range(_TRIES):
            task = self._seen(principal, graph_id, task_id, if_match)
            try:
                return self._told(principal.tenant, self._steering.cancel(principal.tenant, task, principal.agent))
            except ParentMoved:
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("the loop returns or raises")

    def retry(self, principal: Principal, graph_id: str, task_id: str, body: RetryTask, if_match: int | None) -> Task:
        """A failed or cancelled task is tried again from its first attempt.

        ``cascade`` takes along what its end had cancelled, parents first; repeated, it goes on where it stopped.

        Raises:
            Conflict: it has not failed, its graph is not ACTIVE, or a parent stands in the way (``parents``).
        """
        task = self._seen(principal, graph_id, task_id, if_match)
        retried_before = any(entry.event == "retried" for entry in task.history)
        goes_on = body.cascade and not task.state.terminal and retried_before
        if not goes_on:
            task = self._retry(principal, task)
        if body.cascade:
            self._retry_children(principal, task)
        return task

    def _retry(self, principal: Principal, task: Task) -> Task:
        if task.unlocking:
            # Its children are told first: a child that learns of the failure after the retry would be lost.
            self._told(principal.tenant, task)
        for attempt in range(_TRIES):
            try:
                return self._steering.retry(principal.tenant, task, principal.agent)
            except ParentMoved:
                if attempt == _TRIES - 1:
                    raise
                seen = self._tasks.get(principal.tenant, task.graph_id, task.task_id)
                if seen.epoch != task.epoch:
                    raise
        raise AssertionError("the loop returns or raises")

    def _retry_children(self, principal: Principal, first: Task) -> None:
        """Breadth first over the edges: those that were cancelled because of the task just retried."""
        todo, left = deque([first]), CASCADE_TASKS
        seen = {first.task_id}
        while todo:
            task = todo.popleft()
            parent = Parent(task.graph_id, task.task_id, task.state, task.epoch)
            ids = [edge.child for edge in self._cascade.edges(principal.tenant, parent) if edge.child not in seen]
            seen.update(ids)
            for child in self._tasks.many(principal.tenant, task.graph_id, ids):
                if child.cause == f"parent:{task.task_id}" and child.state is TaskState.CANCELLED:
                    if left == 0:
                        return
                    left -= 1
                    try:
                        todo.append(self._retry(principal, child))
                    except Conflict:
                        continue  # another parent of it stands in the way: it stays cancelled
                elif child.state is TaskState.BLOCKED:
                    todo.append(child)  # retried by an earlier call: go on below it

    def _told(self, tenant: str, task: Task) -> Task:
        if not task.unlocking:
            return task
        parent = Parent(task.graph_id, task.task_id, task.state, task.epoch)
        return task.model_copy(update={"unlocking": self._unlocking.inline(tenant, parent).more})

    def _seen(self, principal: Principal, graph_id: str, task_id: str, if_match: int | None) -> Task:
        task = self.get(principal, graph_id, task_id)
        if if_match is not None and if_match != task.version:
            raise VersionMismatch(task.model_dump(mode="json"))
        return task

    def _reach(self, principal: Principal, graph_id: str) -> None:
        head = self._graphs.head(principal.tenant, graph_id)
        if not principal.may_reach(head.subject):
            raise NotFound(f"there is no graph {graph_id!r}")
