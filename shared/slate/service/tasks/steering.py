"""What people do with single tasks: look, answer, approve, cancel, try again."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Final

from slate.contract.tasks import ResumeTask, RetryTask, TaskPage
from slate.domain.access import Principal
from slate.domain.errors import Conflict, NotFound, ParentMoved, VersionMismatch
from slate.domain.tasks import Task, TaskState
from slate.ports.graph_store import GraphStore
from slate.ports.task_store import CascadeStore, Parent, SteeringStore, TaskStore
from slate.service.paging import Cursors, fitting
from slate.service.tasks.bounds import bounded, same_json
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
        """Tasks of a graph by id, of one state and one role where given; fewer where more would not fit an answer."""
        self._reach(principal, graph_id)
        tenant, of = principal.tenant, f"tasks {graph_id} {state or ''} {role or ''}"
        page = self._tasks.page(tenant, graph_id, state, role, self._cursors.position(tenant, of, cursor), limit)
        shown = fitting(page.items)
        position = page.position if len(shown) == len(page.items) else shown[-1].task_id
        return TaskPage.model_construct(items=tuple(shown), next_cursor=self._cursors.next(tenant, of, position))

    def resume(self, principal: Principal, graph_id: str, task_id: str, body: ResumeTask, if_match: int | None) -> Task:
        """The answer to the task's question, or its approval: READY, unless it still waits for parents.

        With the question's ``epoch`` a repeat after a lost reply is answered as the first call, and never answers
        the next question.

        Raises:
            Conflict: nothing is asked, or another question by now.
        """
        task = self._seen(principal, graph_id, task_id, if_match)
        answer = bounded("answer", body.answer)
        if body.epoch is not None:
            if body.epoch != task.epoch:
                raise Conflict("that question is no longer asked", **task.facts())
            if _answered(task) and same_json(task.answer, answer):
                return task
        return self._steering.resume(principal.tenant, task, answer, principal.agent)

    def cancel(self, principal: Principal, graph_id: str, task_id: str, if_match: int | None) -> Task:
        """The task is CANCELLED, and what waited for its success too; one's own repeat is answered the same.

        Raises:
            AlreadyTerminal: it has ended.
            Conflict: its graph is still being created.
        """
        for attempt in range(_TRIES):
            task = self._seen(principal, graph_id, task_id, if_match)
            if task.state is TaskState.CANCELLED and task.cause == f"agent:{principal.agent}":
                return self._told(principal.tenant, task)  # its children may still be untold
            try:
                return self._told(principal.tenant, self._steering.cancel(principal.tenant, task, principal.agent))
            except ParentMoved:
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("the loop returns or raises")

    def retry(self, principal: Principal, graph_id: str, task_id: str, body: RetryTask, if_match: int | None) -> Task:
        """A failed or cancelled task is tried again from its first attempt.

        A repeat before anything else happened to the task is answered the same. ``cascade`` takes along what its
        end had cancelled, parents first; repeated, it goes on where it stopped, also when the task itself is DONE.

        Raises:
            Conflict: it has not failed, its graph is not ACTIVE, or a parent stands in the way (``parents``).
        """
        task = self._seen(principal, graph_id, task_id, if_match)
        if not (body.cascade and _retried_before(task)):
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
        """Breadth first over the edges: those that were cancelled because of a task reached here.

        A child that another parent still bars is met again below that parent, once it is retried itself.
        """
        todo, left = deque([first]), CASCADE_TASKS
        reached = {first.task_id}
        while todo:
            task = todo.popleft()
            parent = Parent(task.graph_id, task.task_id, task.state, task.epoch)
            edges = self._cascade.edges(principal.tenant, parent)
            ids = [edge.child for edge in edges if edge.child not in reached]
            for child in self._tasks.many(principal.tenant, task.graph_id, ids):
                retried = child if _retried_before(child) else None
                if _cancelled_for(child, reached):
                    if left == 0:
                        return
                    retried = self._retry_if_free(principal, child)
                    left -= retried is not None
                if retried is not None:
                    reached.add(child.task_id)
                    todo.append(retried)

    def _retry_if_free(self, principal: Principal, child: Task) -> Task | None:
        try:
            return self._retry(principal, child)
        except ParentMoved:
            raise  # it may well be free: the caller repeats
        except Conflict:
            return None  # another parent stands in the way

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


def _answered(task: Task) -> bool:
    """Whether the question of the task's epoch, or its approval, has been answered."""
    return any(entry.event in ("resumed", "approved") and entry.epoch == task.epoch for entry in task.history)


def _retried_before(task: Task) -> bool:
    """Whether a task was retried, and has not ended badly since."""
    bad = task.state in (TaskState.FAILED, TaskState.CANCELLED)
    return not bad and any(entry.event == "retried" for entry in task.history)


def _cancelled_for(task: Task, parents: Collection[str]) -> bool:
    """Whether a task was cancelled because one of these ended without success."""
    kind, _, parent = (task.cause or "").partition(":")
    return task.state is TaskState.CANCELLED and kind == "parent" and parent in parents
