"""The tasks API on the wire. Where a request or an answer is a domain entity, it is that entity and stands there."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict, StringConstraints

from slate.domain.graphs import DEFAULT_QUEUE, DEFAULT_RETENTION_DAYS, Graph, RetentionDays
from slate.domain.instants import Instant
from slate.domain.leases import Claim
from slate.domain.names import Id
from slate.domain.tasks import LeaseSeconds, StrictBool, Task, TaskSpec, Text
from slate.domain.values import Changes

MAX_TASKS_A_CALL = 1_000
MAX_CLAIMS = 100

MAX_WAIT_SECONDS = 20
"""The longest wait of one request: API Gateway gives up on an answer after 30 s."""

WaitSeconds = Annotated[
    float,
    Strict(),
    Field(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False, description="wait so long for something to be there"),
]
Token = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=2_000)]
Goal = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=10_000)]


class Request(BaseModel):
    """A request body: unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CreateGraph(Request):
    """A goal and the tasks that reach it; ``more`` says that further parts follow by ``POST .../tasks``."""

    graph_id: Id | None = None
    goal: Goal
    queue: Id = DEFAULT_QUEUE
    subject: Id | None = Field(default=None, description="the person that the graph is about")
    retention_days: RetentionDays = DEFAULT_RETENTION_DAYS
    tasks: tuple[TaskSpec, ...] = Field(max_length=MAX_TASKS_A_CALL)
    more: StrictBool = False


class AddTasks(Request):
    """Tasks for a graph that is there, or the next part of one being created (its last part may be empty)."""

    tasks: tuple[TaskSpec, ...] = Field(max_length=MAX_TASKS_A_CALL)
    more: StrictBool = False


class ClaimTasks(Request):
    """A worker asks for tasks of its roles."""

    roles: tuple[Id, ...] = Field(min_length=1, max_length=20)
    queue: Id = DEFAULT_QUEUE
    agent: Id | None = Field(default=None, description="the key's own, unless the key has `admin`")
    lease_seconds: LeaseSeconds | None = Field(default=None, description="each task's own, if not given")
    max: Annotated[int, Strict(), Field(ge=1, le=MAX_CLAIMS)] = 1
    wait_seconds: WaitSeconds = 0


class Claims(BaseModel):
    """What was claimed; empty when there was nothing."""

    model_config = ConfigDict(frozen=True)

    claims: tuple[Claim, ...]


class SendHeartbeat(Request):
    """A worker is alive."""

    token: Token
    lease_seconds: LeaseSeconds | None = None
    progress: JsonValue = None


class Heartbeat(BaseModel):
    """Until when the lease holds; ``cancel_requested`` tells the worker to stop."""

    model_config = ConfigDict(frozen=True)

    lease_until: Instant | None
    cancel_requested: bool


class CompleteTask(Request):
    """A worker has done it: what it did, and what came of it."""

    token: Token
    action: Text
    result: JsonValue = None
    artifacts: tuple[JsonValue, ...] = Field(default=(), max_length=100)
    values: Changes = Field(default=(), description="changes of shared values that come with it, all or none")


class Completed(Task):
    """The task, and the ids that its completion made READY; ``unlocking`` says that more follow."""

    unlocked: tuple[str, ...] = ()


class FailTask(Request):
    """A worker could not do it; ``retryable: false`` ends it at once."""

    token: Token
    error: JsonValue
    retryable: StrictBool = True


class ReleaseTask(Request):
    """A worker gives it back."""

    token: Token


class AskQuestion(Request):
    """A worker needs an answer before it can go on."""

    token: Token
    question: JsonValue


class ResumeTask(Request):
    """The answer; with the ``epoch`` of the question, a repeat cannot answer the next one."""

    answer: JsonValue
    epoch: Annotated[int, Strict(), Field(ge=0)] | None = None


class RetryTask(Request):
    """Try a failed or cancelled task again; ``cascade`` takes along what its failure cancelled."""

    cascade: StrictBool = False


class Nothing(Request):
    """A body that says nothing: none, or ``{}``."""


class TaskPage(BaseModel):
    """Some tasks; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Task, ...]
    next_cursor: str | None


class GraphPage(BaseModel):
    """Some graphs, the newest first; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Graph, ...]
    next_cursor: str | None


class Added(BaseModel):
    """How a graph stands after tasks were added, with those tasks where they are few."""

    model_config = ConfigDict(frozen=True)

    graph: Graph
    tasks: tuple[Task, ...] | None = None
    added: int
