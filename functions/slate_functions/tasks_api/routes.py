"""The routes of the task graph: planners make graphs, workers claim tasks and report, people steer.

Each is one call of a use case; what it takes stands in its signature.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from pydantic import Field

from slate.contract.tasks import (
    Added,
    AddTasks,
    AskQuestion,
    Claims,
    ClaimTasks,
    Completed,
    CompleteTask,
    CreateGraph,
    FailTask,
    GraphPage,
    Heartbeat,
    Nothing,
    ReleaseTask,
    ResumeTask,
    RetryTask,
    SendHeartbeat,
    TaskPage,
)
from slate.domain.access import Principal, Scope
from slate.domain.graphs import Graph
from slate.domain.names import Id
from slate.domain.tasks import Task, TaskState
from slate.service.tasks.planning import Planning
from slate.service.tasks.steering import Steering
from slate.service.tasks.working import Working
from slate_functions.http.answers import Answer
from slate_functions.http.dependencies import IdempotencyKey, IfMatch, Paging, PathId
from slate_functions.http.routes import delete, get, post
from slate_functions.tasks_api import examples

READ: Final = Scope.TASKS_READ
WRITE: Final = Scope.TASKS_WRITE
CONFLICT: Final = (HTTPStatus.CONFLICT,)

GRAPHS: Final = "/v1/graphs"
GRAPH: Final = "/v1/graphs/{graph_id}"
TASKS: Final = "/v1/graphs/{graph_id}/tasks"
TASK: Final = "/v1/graphs/{graph_id}/tasks/{task_id}"


class GraphQuery(Paging):
    """Which graphs to list."""

    subject: Id | None = Field(default=None, description="only those about this person")


class TaskQuery(Paging):
    """Which tasks to list."""

    state: TaskState | None = Field(default=None, description="only those in this state")
    role: Id | None = Field(default=None, description="only those of this role")


class GraphRoutes:
    """Graphs: a goal and the tasks that reach it."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning

    @post(
        GRAPHS,
        scope=WRITE,
        status=HTTPStatus.CREATED,
        also=(HTTPStatus.OK,),
        refusals=CONFLICT,
        sends=examples.CREATE_GRAPH,
        gives=examples.GRAPH,
    )
    def create_graph(self, principal: Principal, body: CreateGraph, idempotency_key: IdempotencyKey) -> Answer[Graph]:
        """Create a graph with its tasks.

        None of them starts before all are there. The same graph again changes nothing and is 200; under the same id
        with other content it is 409. Up to 1,000 tasks a call: `more: true` says that parts follow.
        """
        graph, new = self._planning.create(principal, body, idempotency_key)
        return Answer(graph, HTTPStatus.CREATED if new else HTTPStatus.OK)

    @get(GRAPHS, scope=READ, gives=examples.GRAPH_PAGE)
    def list_graphs(self, principal: Principal, query: GraphQuery) -> GraphPage:
        """List graphs, the newest first."""
        return self._planning.list(principal, query.limit, query.cursor, query.subject)

    @get(GRAPH, scope=READ, gives=examples.GRAPH)
    def get_graph(self, principal: Principal, graph_id: PathId) -> Graph:
        """Look at a graph: its state and how many tasks stand in each."""
        return self._planning.get(principal, graph_id)

    @delete(GRAPH, scope=WRITE, status=HTTPStatus.ACCEPTED)
    def delete_graph(self, principal: Principal, graph_id: PathId, if_match: IfMatch) -> None:
        """Delete a graph.

        From now on every route of it is 404; its id is free once all of it is removed.
        """
        self._planning.delete(principal, graph_id, if_match)

    @post(
        f"{GRAPH}/cancel", scope=WRITE, status=HTTPStatus.ACCEPTED, refusals=CONFLICT, gives=examples.CANCELLING_GRAPH
    )
    def cancel_graph(self, principal: Principal, graph_id: PathId, body: Nothing, if_match: IfMatch) -> Graph:
        """Cancel a graph: nothing of it starts any more, and workers are told at their next heartbeat."""
        del body  # read, so that one with content is refused
        return self._planning.cancel(principal, graph_id, if_match)

    @post(
        TASKS,
        scope=WRITE,
        status=HTTPStatus.CREATED,
        refusals=CONFLICT,
        sends=examples.ADD_TASKS,
        gives=examples.ADDED,
    )
    def add_tasks(
        self, principal: Principal, graph_id: PathId, body: AddTasks, idempotency_key: IdempotencyKey
    ) -> Added:
        """Add tasks to a graph, running or being created.

        A task that is there with the same content counts as added.
        """
        return self._planning.add(principal, graph_id, body, idempotency_key)


class TaskRoutes:
    """Tasks as people see and steer them."""

    def __init__(self, steering: Steering) -> None:
        self._steering = steering

    @get(TASKS, scope=READ, gives=examples.TASK_PAGE)
    def list_tasks(self, principal: Principal, graph_id: PathId, query: TaskQuery) -> TaskPage:
        """List a graph's tasks."""
        return self._steering.list(principal, graph_id, query.state, query.role, query.limit, query.cursor)

    @get(TASK, scope=READ, gives=examples.TASK)
    def get_task(self, principal: Principal, graph_id: PathId, task_id: PathId) -> Task:
        """Look at a task: its spec and all that has become of it."""
        return self._steering.get(principal, graph_id, task_id)

    @post(f"{TASK}/resume", scope=WRITE, refusals=CONFLICT, sends=examples.RESUME, gives=examples.ANSWERED_TASK)
    def resume_task(
        self, principal: Principal, graph_id: PathId, task_id: PathId, body: ResumeTask, if_match: IfMatch
    ) -> Task:
        """Answer the question that a task waits on, or approve it."""
        return self._steering.resume(principal, graph_id, task_id, body, if_match)

    @post(f"{TASK}/cancel", scope=WRITE, refusals=CONFLICT, gives=examples.CANCELLED_TASK)
    def cancel_task(
        self, principal: Principal, graph_id: PathId, task_id: PathId, body: Nothing, if_match: IfMatch
    ) -> Task:
        """Cancel a task that has not ended, and what depends on its success."""
        del body  # read, so that one with content is refused
        return self._steering.cancel(principal, graph_id, task_id, if_match)

    @post(f"{TASK}/retry", scope=WRITE, refusals=CONFLICT, sends=examples.RETRY, gives=examples.RETRIED_TASK)
    def retry_task(
        self, principal: Principal, graph_id: PathId, task_id: PathId, body: RetryTask, if_match: IfMatch
    ) -> Task:
        """Try a failed or cancelled task again; with `cascade`, what its failure cancelled too."""
        return self._steering.retry(principal, graph_id, task_id, body, if_match)


class WorkRoutes:
    """Work: a worker claims tasks of its roles, and reports under the token of its claim."""

    def __init__(self, working: Working) -> None:
        self._working = working

    @post("/v1/claims", scope=WRITE, waits=True, refusals=CONFLICT, sends=examples.CLAIM, gives=examples.CLAIMS)
    def claim_tasks(self, principal: Principal, body: ClaimTasks, idempotency_key: IdempotencyKey) -> Claims:
        """Claim tasks that are READY, the most urgent first, or wait for one; an empty list when there are none."""
        return self._working.claim(principal, body, idempotency_key)

    @post(f"{TASK}/heartbeat", scope=WRITE, refusals=CONFLICT, sends=examples.BEAT, gives=examples.HEARTBEAT)
    def send_heartbeat(self, principal: Principal, graph_id: PathId, task_id: PathId, body: SendHeartbeat) -> Heartbeat:
        """Say that the work goes on: the lease is extended."""
        return self._working.heartbeat(principal, graph_id, task_id, body)

    @post(
        f"{TASK}/complete",
        scope=WRITE,
        refusals=(*CONFLICT, HTTPStatus.PRECONDITION_FAILED),
        sends=examples.COMPLETE,
        gives=examples.COMPLETED,
    )
    def complete_task(self, principal: Principal, graph_id: PathId, task_id: PathId, body: CompleteTask) -> Completed:
        """Hand in the result; the same token again is answered the same.

        With `values`, changes of the graph's values are made with it: all of them and the completion, or nothing.
        """
        return self._working.complete(principal, graph_id, task_id, body)

    @post(f"{TASK}/fail", scope=WRITE, refusals=CONFLICT, sends=examples.FAIL, gives=examples.DELAYED_TASK)
    def fail_task(self, principal: Principal, graph_id: PathId, task_id: PathId, body: FailTask) -> Task:
        """Report a failure: the task rests and is tried again, or has FAILED."""
        return self._working.fail(principal, graph_id, task_id, body)

    @post(f"{TASK}/release", scope=WRITE, refusals=CONFLICT, sends=examples.RELEASE, gives=examples.RETRIED_TASK)
    def release_task(self, principal: Principal, graph_id: PathId, task_id: PathId, body: ReleaseTask) -> Task:
        """Give the task back for another to take at once."""
        return self._working.release(principal, graph_id, task_id, body)

    @post(f"{TASK}/wait", scope=WRITE, refusals=CONFLICT, sends=examples.ASK, gives=examples.WAITING_TASK)
    def ask_question(self, principal: Principal, graph_id: PathId, task_id: PathId, body: AskQuestion) -> Task:
        """Ask a person or another agent, and give the task back until there is an answer."""
        return self._working.wait(principal, graph_id, task_id, body)
