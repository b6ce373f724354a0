"""Who worked on what, and when: read from the histories of tasks, and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant
from slate.domain.tasks import HistoryEntry, TaskState


class Span(BaseModel):
    """An agent's time with a task: from its claim to whatever ended it."""

    model_config = ConfigDict(frozen=True)

    agent: str
    epoch: int = Field(description="the claim's fencing number")
    start: Instant
    end: Instant | None = Field(description="null while it goes on")
    ended_by: str | None = Field(description="`completed`, `failed`, `delayed`, `waiting`, `released`, `lapsed`, ...")

    def lasted(self, now: int) -> int:
        """Milliseconds, until now where it goes on."""
        return max((now if self.end is None else self.end) - self.start, 0)


class TaskTimeline(BaseModel):
    """A task's spans, in order; of a task that was given back dozens of times, the latest."""

    model_config = ConfigDict(frozen=True)

    graph_id: str
    task_id: str
    role: str
    state: TaskState
    spans: tuple[Span, ...]


def spans_of(history: Sequence[HistoryEntry]) -> tuple[Span, ...]:
    """The spans that a history tells of: whatever follows a claim has ended it."""
    return tuple(
        Span(
            agent=entry.agent,
            epoch=entry.epoch,
            start=entry.at,
            end=None if after is None else after.at,
            ended_by=None if after is None else after.event,
        )
        for entry, after in zip(history, [*history[1:], None], strict=True)
        if entry.event == "claimed"
    )
