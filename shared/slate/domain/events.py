"""What the change feed says: one entry for each change of state, and nothing for bookkeeping.

The type follows from the new state alone::

    task.blocked    BLOCKED     task.delayed   DELAYED    task.failed     FAILED      graph.creating    CREATING
    task.ready      READY       task.waiting   WAITING    task.cancelled  CANCELLED   graph.created     ACTIVE
    task.claimed    RUNNING     task.completed DONE                                   graph.cancelling  CANCELLING
                                                                                      graph.cancelled   CANCELLED

Three more are derived, or stand for what nobody could read: ``graph.completed`` (DONE or FAILED: every task has
ended), ``graph.reopened`` (ACTIVE: a task came, or is tried again, after that), and ``gap``, in the place of a change
that was given up.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant


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


class FeedEntry(BaseModel):
    """One change of a graph, under the number that every follower sees it at."""

    model_config = ConfigDict(frozen=True)

    seq: int = Field(description="counts the graph's changes from 1, without a gap")
    at: Instant = Field(description="when the change was made; a `gap`: when it was given up")
    type: EventType
    graph_id: str
    task_id: str | None = Field(default=None, description="null where the change is the graph's own")
    state: str | None = Field(default=None, description="the new state; null for a `gap`")
    agent: str | None = Field(default=None, description="who made the change; null where the service did by itself")
    epoch: int | None = Field(default=None, description="the task's fencing number after the change")
    role: str | None = Field(default=None, description="the capability that the task needs")
    queue: str | None = None
    version: int = Field(description="the task's version after the change, or the graph's")
