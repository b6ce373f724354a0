"""The critical path: the chain of tasks, each waiting for the one before, that takes longest.

A task takes what was worked on it, over all of its attempts; waiting in a queue does not count. What is still to be
worked is estimated: the median of what the finished tasks of the same role took in this graph, of all finished tasks
where that role has none, or a minute where nothing has finished. A running task needs at least what it has had.

``total`` weighs every task, ended or not: the chain that decided, or will decide, how long the graph takes.
``remaining`` weighs only what is still to be done, among tasks that have not ended: the chain that stands between now
and the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from graphlib import TopologicalSorter
from statistics import median_low
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant
from slate.domain.tasks import TaskState
from slate.domain.timeline import Span

UNKNOWN_MS: Final = 60_000
"""What a task is taken to need where nothing has finished yet."""


class PathBy(StrEnum):
    """What a chain is measured by."""

    TOTAL = "total"
    REMAINING = "remaining"


class Basis(StrEnum):
    """Where a task's duration comes from."""

    MEASURED = "measured"
    RUNNING = "running"
    ESTIMATED = "estimated"


class PathStep(BaseModel):
    """A task on the path."""

    model_config = ConfigDict(frozen=True)

    task_id: str
    role: str
    state: TaskState
    worked_ms: int = Field(description="worked so far, over all attempts")
    remaining_ms: int = Field(description="still to be worked, as estimated; 0 once it has ended")
    basis: Basis = Field(description="`measured`: it has ended; `running`: it is worked on; `estimated`: it is not")


class CriticalPath(BaseModel):
    """The longest chain, from its first task to its last; empty where there is no task to weigh."""

    model_config = ConfigDict(frozen=True)

    graph_id: str
    by: PathBy
    at: Instant = Field(description="as of when")
    worked_ms: int
    remaining_ms: int
    tasks: tuple[PathStep, ...]


class Outline(NamedTuple):
    """A task without its content: what the views are made of."""

    task_id: str
    role: str
    state: TaskState
    parents: tuple[str, ...]
    spans: tuple[Span, ...]
    completed_at: int | None = None


def critical_path(graph_id: str, tasks: Sequence[Outline], by: PathBy, now: int) -> CriticalPath:
    """The path through these tasks as of an instant."""
    whole = by is PathBy.TOTAL
    # For what remains: who has ended is waited for by nobody any more, and neither counts nor links.
    weighed = [task for task in tasks if whole or not task.state.terminal]
    steps = {step.task_id: step for step in _steps(weighed, _Estimates(tasks, now), now)}
    weights = {t: step.remaining_ms + (step.worked_ms if whole else 0) for t, step in steps.items()}
    chain = [steps[t] for t in longest_chain(weights, {task.task_id: task.parents for task in weighed})]
    return CriticalPath(
        graph_id=graph_id,
        by=by,
        at=now,
        worked_ms=sum(step.worked_ms for step in chain),
        remaining_ms=sum(step.remaining_ms for step in chain),
        tasks=tuple(chain),
    )


def longest_chain(weights: Mapping[str, int], parents: Mapping[str, Iterable[str]]) -> list[str]:
    """The heaviest chain of a graph without cycles, parents first; of equals, the one that is first by ids.

    Weights are zero or more; parents without a weight do not count.
    """
    known = {task_id: sorted(p for p in parents.get(task_id, ()) if p in weights) for task_id in weights}
    heaviest: dict[str, int] = {}
    before: dict[str, str | None] = {}
    for task_id in TopologicalSorter(known).static_order():
        parent = min(known[task_id], key=lambda p: (-heaviest[p], p), default=None)
        before[task_id] = parent
        heaviest[task_id] = weights[task_id] + (0 if parent is None else heaviest[parent])
    last = min(heaviest, key=lambda t: (-heaviest[t], t), default=None)
    chain: list[str] = []
    while last is not None:
        chain.append(last)
        last = before[last]
    return chain[::-1]


class _Estimates:
    """How long a task that has not finished may take in all, by what others have taken."""

    def __init__(self, tasks: Iterable[Outline], now: int) -> None:
        by_role: dict[str, list[int]] = defaultdict(list)
        for task in tasks:
            if task.state is TaskState.DONE:
                by_role[task.role].append(_worked(task, now))
        everything = [duration for durations in by_role.values() for duration in durations]
        self._by_role = {role: median_low(durations) for role, durations in by_role.items()}
        self._otherwise = median_low(everything) if everything else UNKNOWN_MS

    def of(self, role: str) -> int:
        return self._by_role.get(role, self._otherwise)


def _steps(tasks: Iterable[Outline], estimates: _Estimates, now: int) -> Iterable[PathStep]:
    for task in tasks:
        running = task.state is TaskState.RUNNING and task.spans
        had = task.spans[-1].lasted(now) if running else 0
        remaining = 0 if task.state.terminal else max(estimates.of(task.role) - had, 0)
        yield PathStep(
            task_id=task.task_id,
            role=task.role,
            state=task.state,
            worked_ms=_worked(task, now),
            remaining_ms=remaining,
            basis=Basis.MEASURED if task.state.terminal else Basis.RUNNING if running else Basis.ESTIMATED,
        )


def _worked(task: Outline, now: int) -> int:
    return sum(span.lasted(now) for span in task.spans)
