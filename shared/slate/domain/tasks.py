"""A task: one node of a graph, its states, and what a planner may say of it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    Strict,
    StringConstraints,
    field_validator,
)
from pydantic_core import PydanticCustomError

from slate.domain.instants import Instant
from slate.domain.names import Id

MAX_PARENTS: Final = 250
MAX_ATTEMPTS: Final = 100
DAY_SECONDS: Final = 86_400

StrictBool = Annotated[bool, Strict()]
Text = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=2_000)]
LeaseSeconds = Annotated[int, Strict(), Field(ge=1, le=DAY_SECONDS)]


class TaskState(StrEnum):
    """Where a task stands. The last three are terminal: only a retry leaves FAILED or CANCELLED, nothing DONE."""

    BLOCKED = "BLOCKED"
    READY = "READY"
    RUNNING = "RUNNING"
    DELAYED = "DELAYED"
    WAITING = "WAITING"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def terminal(self) -> bool:
        """Whether the task has ended."""
        return self in TERMINAL


TERMINAL: Final = frozenset({TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED})
OPEN: Final = tuple(s for s in TaskState if s not in TERMINAL)


class EdgeKind(StrEnum):
    """``success`` is met by DONE alone, and broken by FAILED or CANCELLED; ``completion`` is met by any end."""

    SUCCESS = "success"
    COMPLETION = "completion"

    def met_by(self, parent: TaskState) -> bool:
        """Whether a parent in this state frees the child's slot."""
        return parent.terminal if self is EdgeKind.COMPLETION else parent is TaskState.DONE

    def broken_by(self, parent: TaskState) -> bool:
        """Whether a parent in this state cancels the child."""
        return self is EdgeKind.SUCCESS and parent in (TaskState.FAILED, TaskState.CANCELLED)


class Dependency(BaseModel):
    """One parent of a task, and when the edge from it is met."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: Id
    kind: EdgeKind = EdgeKind.SUCCESS


def _as_dependency(value: object) -> object:
    return {"task_id": value} if isinstance(value, str) else value


AnyDependency = Annotated[Dependency, BeforeValidator(_as_dependency, json_schema_input_type=Id | Dependency)]


class TaskSpec(BaseModel):
    """What a planner says of a task."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "task_id": "refund",
                    "title": "Refund order 1042",
                    "role": "billing-specialist",
                    "input": {"order": "1042", "amount": "40.00 EUR"},
                    "depends_on": ["triage", {"task_id": "fraud-check", "kind": "completion"}],
                    "priority": 7,
                }
            ]
        },
    )

    task_id: Id
    title: Text
    role: Id
    input: JsonValue = None
    depends_on: tuple[AnyDependency, ...] = Field(default=(), description="parents; the task waits for all of them")
    priority: Annotated[int, Strict(), Field(ge=0, le=9)] = 5
    max_attempts: Annotated[int, Strict(), Field(ge=1, le=MAX_ATTEMPTS)] = 3
    backoff_seconds: Annotated[int, Strict(), Field(ge=0, le=DAY_SECONDS)] = 5
    lease_seconds: LeaseSeconds = 60
    parent_task: Id | None = Field(default=None, description="groups and shows; blocks nothing")
    needs_approval: StrictBool = False

    @field_validator("depends_on", mode="before")
    @classmethod
    def _bounded_fan_in(cls, value: object) -> object:
        if isinstance(value, list | tuple) and len(value) > MAX_PARENTS:
            raise PydanticCustomError(
                "fan_in",
                "{given} dependencies, at most {most}; let groups of them lead into a join task each",
                {"given": len(value), "most": MAX_PARENTS},
            )
        return value

    @field_validator("depends_on")
    @classmethod
    def _each_parent_once(cls, value: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        seen: set[str] = set()
        for dependency in value:
            if dependency.task_id in seen:
                raise PydanticCustomError(
                    "duplicate_parent",
                    "{task_id} is named twice; name each parent once",
                    {"task_id": dependency.task_id},
                )
            seen.add(dependency.task_id)
        return value

    def parents(self) -> Iterator[str]:
        """The ids of the parents, in the order of their slots."""
        return (dependency.task_id for dependency in self.depends_on)


class HistoryEntry(BaseModel):
    """One step in a task's life: when, what, who, and under which epoch it stood after it."""

    model_config = ConfigDict(frozen=True)

    at: Instant
    event: str
    agent: str
    epoch: int


class Task(TaskSpec):
    """A task as it stands: its spec, and all that has become of it."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra={"examples": []})

    graph_id: str
    queue: str
    state: TaskState
    agent: str | None = Field(default=None, description="who works on it, or did last")
    action: str | None = None
    result: JsonValue = None
    artifacts: tuple[JsonValue, ...] = ()
    error: JsonValue = None
    cause: str | None = Field(default=None, description="why it was cancelled or failed without a worker's word")
    attempts: int = 0
    epoch: int = Field(default=0, description="the fencing number: pass it to external systems, refuse a lower one")
    lease_until: Instant | None = None
    due_at: Instant | None = Field(default=None, description="while DELAYED: when it becomes READY")
    question: JsonValue = None
    answer: JsonValue = None
    progress: JsonValue = None
    waiting_on: tuple[str, ...] = Field(default=(), description="parents not yet met, and `approval`")
    unlocking: bool = Field(default=False, description="its children are still being told")
    history: tuple[HistoryEntry, ...] = ()
    created_at: Instant
    updated_at: Instant
    version: int

    def facts(self) -> dict[str, Any]:
        """The few fields that tell a refused caller what happened instead."""
        return {"task_id": self.task_id, "state": self.state, "epoch": self.epoch, "agent": self.agent}
