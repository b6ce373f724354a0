"""A graph: a goal, its tasks, and the rules that hold across them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, Strict

from slate.domain.errors import Cycle, FieldError, Invalid
from slate.domain.instants import Instant
from slate.domain.tasks import Task, TaskSpec, TaskState

DEFAULT_QUEUE: Final = "default"
DEFAULT_RETENTION_DAYS: Final = 7

RetentionDays = Annotated[int, Strict(), Field(ge=1, le=3_650)]


class GraphState(StrEnum):
    """Where a graph stands. DONE and FAILED are derived: every task has ended, and none or some FAILED."""

    CREATING = "CREATING"
    ACTIVE = "ACTIVE"
    CANCELLING = "CANCELLING"
    CANCELLED = "CANCELLED"
    DELETING = "DELETING"
    DONE = "DONE"
    FAILED = "FAILED"


class Counts(BaseModel):
    """How many tasks stand in each state."""

    model_config = ConfigDict(frozen=True)

    blocked: int = 0
    ready: int = 0
    running: int = 0
    delayed: int = 0
    waiting: int = 0
    done: int = 0
    failed: int = 0
    cancelled: int = 0

    @classmethod
    def of(cls, states: Iterable[TaskState]) -> Self:
        """Count the states."""
        counts = dict.fromkeys(cls.model_fields, 0)
        for state in states:
            counts[state.value.lower()] += 1
        return cls(**counts)

    @property
    def total(self) -> int:
        """All tasks."""
        return self.done + self.failed + self.cancelled + self.still_open

    @property
    def still_open(self) -> int:
        """Tasks that have not ended."""
        return self.blocked + self.ready + self.running + self.delayed + self.waiting


class GraphHead(BaseModel):
    """What is stored of a graph beside its tasks."""

    model_config = ConfigDict(frozen=True)

    graph_id: str
    goal: str
    queue: str = DEFAULT_QUEUE
    subject: str | None = None
    retention_days: int = DEFAULT_RETENTION_DAYS
    state: GraphState
    version: int
    created_at: Instant
    updated_at: Instant


class Graph(GraphHead):
    """A graph as it stands: its head, its counts, and its tasks where they were asked for and are few."""

    counts: Counts
    tasks: tuple[Task, ...] | None = None

    @classmethod
    def of(cls, head: GraphHead, counts: Counts, tasks: Sequence[Task] | None = None) -> Self:
        """Derive the state that callers see from what is stored and what the tasks say."""
        state = derived_state(head.state, counts)
        fields: dict[str, Any] = head.model_dump()
        return cls(**{**fields, "state": state}, counts=counts, tasks=None if tasks is None else tuple(tasks))


def derived_state(stored: GraphState, counts: Counts) -> GraphState:
    """DONE or FAILED once an ACTIVE graph's tasks have all ended; an empty graph is still ACTIVE."""
    if stored is not GraphState.ACTIVE or counts.still_open or not counts.total:
        return stored
    return GraphState.FAILED if counts.failed else GraphState.DONE


def check_tasks(specs: Sequence[TaskSpec], known: Collection[str], *, whole: bool = False) -> None:
    """Refuse tasks that do not make a graph together with those already known, naming every fault at once.

    A task may depend on those that it groups, so a group may come in a later part; in a ``whole`` graph it is here.

    Raises:
        Invalid: an id given twice, a parent that is neither here nor known, or a group that holds itself.
        Cycle: the dependencies, or a task's own, run in a circle.
    """
    errors: list[FieldError] = []
    seen: set[str] = set()
    here = {spec.task_id for spec in specs}
    for i, spec in enumerate(specs):
        if spec.task_id in seen:
            errors.append({"field": f"tasks[{i}].task_id", "message": f"the task {spec.task_id!r} is given twice"})
        seen.add(spec.task_id)
        errors += [
            {"field": f"tasks[{i}].depends_on[{j}]", "message": f"there is no task {parent!r}; add it here or before"}
            for j, parent in enumerate(spec.parents())
            if parent not in here and parent not in known
        ]
    errors += _group_errors(specs, whole=whole)
    if errors:
        raise Invalid(errors)
    in_order(specs)


def _group_errors(specs: Sequence[TaskSpec], *, whole: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    group_of = {spec.task_id: spec.parent_task for spec in specs}
    for i, spec in enumerate(specs):
        above, group = {spec.task_id}, spec.parent_task
        while group is not None and group not in above:
            above.add(group)
            group = group_of.get(group)
        message = "a task cannot stand within itself; take another `parent_task`" if group == spec.task_id else None
        if whole and spec.parent_task is not None and spec.parent_task not in group_of:
            message = f"there is no task {spec.parent_task!r}; add it, or leave `parent_task` out"
        if message is not None:
            errors.append({"field": f"tasks[{i}].parent_task", "message": message})
    return errors


def in_order(specs: Sequence[TaskSpec]) -> list[TaskSpec]:
    """The tasks, parents before children, otherwise as given.

    Raises:
        Cycle: there is no such order.
    """
    by_id: Mapping[str, TaskSpec] = {spec.task_id: spec for spec in specs}
    sorter = TopologicalSorter({t: [p for p in spec.parents() if p in by_id] for t, spec in by_id.items()})
    try:
        return [by_id[t] for t in sorter.static_order()]
    except CycleError as error:
        ring: list[str] = error.args[1]  # first and last are the same, each node before its successor
        raise Cycle(ring[:-1]) from None
