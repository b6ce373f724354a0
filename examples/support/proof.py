"""Proves from the histories alone that every task was completed exactly once, and finds who took over from whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from slate.domain.tasks import Task, TaskState
from slate.domain.timeline import Span, TaskTimeline


@dataclass(frozen=True, slots=True)
class Stint:
    """A worker's time with a task: from its claim to whatever ended it."""

    graph_id: str
    task_id: str
    agent: str
    epoch: int
    start: int
    end: int
    ended_by: str
    """The event after the claim: ``completed``, ``lapsed``, ..."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """A task that one worker let lapse and another completed."""

    lost: Stint
    won: Stint


def fault_of(task: Task) -> str | None:
    """Why a task does not count as completed exactly once, if so.

    It must be DONE, with one ``completed`` entry, by the agent and under the epoch of the last claim: so no earlier
    holder's result got in, and none was thrown away.
    """
    completed = [entry for entry in task.history if entry.event == "completed"]
    claims = [entry for entry in task.history if entry.event == "claimed"]
    name = f"{task.graph_id}/{task.task_id}"
    if task.state is not TaskState.DONE:
        return f"{name} is {task.state}"
    if len(completed) != 1:
        return f"{name} was completed {len(completed)} times"
    if not claims:
        return f"{name} was completed without a claim"
    if (completed[0].epoch, completed[0].agent) != (claims[-1].epoch, claims[-1].agent):
        return f"{name} was completed by {completed[0].agent} under epoch {completed[0].epoch}, not its last claim's"
    if [entry.epoch for entry in claims] != sorted({entry.epoch for entry in claims}):
        return f"{name} has claims whose epochs do not grow"
    return None


def stints(timelines: Iterable[TaskTimeline], now: int) -> list[Stint]:
    """Every worker's time with every task; one that has not ended lasts until ``now``."""
    return [_stint(row, span, now) for row in timelines for span in row.spans]


def takeovers(found: Iterable[Stint]) -> list[Takeover]:
    """The stints that ended with their lease, each with the next one on the same task."""
    by_task: dict[tuple[str, str], list[Stint]] = {}
    for stint in found:
        by_task.setdefault((stint.graph_id, stint.task_id), []).append(stint)
    return [
        Takeover(lost, won)
        for row in by_task.values()
        for lost, won in pairwise(row)
        if lost.ended_by in ("lapsed", "claimed")
    ]


def _stint(row: TaskTimeline, span: Span, now: int) -> Stint:
    return Stint(
        graph_id=row.graph_id,
        task_id=row.task_id,
        agent=span.agent,
        epoch=span.epoch,
        start=span.start,
        end=now if span.end is None else span.end,
        ended_by=span.ended_by or "",
    )
