"""What the change feed says: one entry for each change of state, and nothing for bookkeeping.

The type follows from the new state alone::

    task.blocked   BLOCKED     task.delayed     DELAYED     task.failed     FAILED       graph.creating    CREATING
    task.ready     READY       task.waiting     WAITING     task.cancelled  CANCELLED    graph.created     ACTIVE
    task.claimed   RUNNING     task.completed   DONE                                     graph.cancelling  CANCELLING
                                                                                         graph.cancelled   CANCELLED

Three more are derived, or stand for what nobody could read: ``graph.completed`` (DONE or FAILED: every task has
ended), ``graph.reopened`` (ACTIVE: a task came, or is tried again, after that), and ``gap``, in the place of a change
that was given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.graphs import GraphState
from slate.domain.instants import Instant
from slate.domain.tasks import TaskState


class EventType(StrEnum):
    """What happened."""

    TASK_BLOCKED = "task.blocked"
    TASK_READY = "task.ready"
    TASK_CLAIMED = "task.claimed"
    TASK_DELAYED = "task.delayed"
    TASK_WAITING = "task.waiting"
    TASK_COMPLETED = "task.completed"
    TASK_FAILED = "task.failed"
    TASK_CANCELLED = "task.cancelled"
    GRAPH_CREATING = "graph.creating"
    GRAPH_CREATED = "graph.created"
    GRAPH_CANCELLING = "graph.cancelling"
    GRAPH_CANCELLED = "graph.cancelled"
    GRAPH_COMPLETED = "graph.completed"
    GRAPH_REOPENED = "graph.reopened"
    GAP = "gap"


_OF_TASK: Final = {
    TaskState.BLOCKED: EventType.TASK_BLOCKED,
    TaskState.READY: EventType.TASK_READY,
    TaskState.RUNNING: EventType.TASK_CLAIMED,
    TaskState.DELAYED: EventType.TASK_DELAYED,
    TaskState.WAITING: EventType.TASK_WAITING,
    TaskState.DONE: EventType.TASK_COMPLETED,
    TaskState.FAILED: EventType.TASK_FAILED,
    TaskState.CANCELLED: EventType.TASK_CANCELLED,
}
_OF_GRAPH: Final = {
    GraphState.CREATING: EventType.GRAPH_CREATING,
    GraphState.ACTIVE: EventType.GRAPH_CREATED,
    GraphState.CANCELLING: EventType.GRAPH_CANCELLING,
    GraphState.CANCELLED: EventType.GRAPH_CANCELLED,
}


class FeedEntry(BaseModel):
    """One change of a graph, under the number that every follower sees it at."""

    model_config = ConfigDict(frozen=True)

    seq: int = Field(description="counts the graph's changes from 1, without a gap")
    at: Instant = Field(description="when the change was made; of a `gap`: when it was given up")
    type: EventType
    graph_id: str
    task_id: str | None = Field(default=None, description="null where the change is the graph's own")
    state: str | None = Field(default=None, description="the new state; null for a `gap`")
    agent: str | None = Field(default=None, description="who made the change; null where the service did by itself")
    epoch: int | None = Field(default=None, description="the task's fencing number after the change")
    role: str | None = Field(default=None, description="the capability that the task needs")
    queue: str | None = None
    version: int = Field(description="the task's version after the change, or the graph's")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One version of a task, or of the graph's own head: what a record of the table's stream tells.

    Each change that matters grows the version by one, so that a task's steps are counted, and a missing one is seen.
    """

    task_id: str | None
    """None: the graph's head."""
    version: int
    state: str | None
    """As callers see it; None for a step that nobody could read."""
    at: int
    born: int
    """When the task, or the graph, was created: tells it from an earlier one of the same id."""
    agent: str | None = None
    epoch: int | None = None
    role: str | None = None
    queue: str | None = None

    def entry(self, graph_id: str, seq: int) -> FeedEntry:
        """The step as an entry of its graph's feed."""
        return FeedEntry(
            seq=seq,
            at=self.at,
            type=self._type(),
            graph_id=graph_id,
            task_id=self.task_id,
            state=self.state,
            agent=self.agent,
            epoch=self.epoch,
            role=self.role,
            queue=self.queue,
            version=self.version,
        )

    def _type(self) -> EventType:
        if self.state is None:
            return EventType.GAP
        return _OF_GRAPH[GraphState(self.state)] if self.task_id is None else _OF_TASK[TaskState(self.state)]
