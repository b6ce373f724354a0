"""Views of a graph on the wire."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from slate.domain.timeline import TaskTimeline


class TimelinePage(BaseModel):
    """Some tasks with their spans of work, by id; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[TaskTimeline, ...]
    next_cursor: str | None
