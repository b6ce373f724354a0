"""An episode: what was asked, the steps that were taken, and how it ended, kept for whoever has such a task again."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from slate.domain.instants import Instant
from slate.domain.names import Id

MAX_STEPS: Final = 100
MAX_CHARACTERS: Final = 10_000
Words = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=MAX_CHARACTERS)]


class EpisodeStep(BaseModel):
    """One step: what was done, and what came of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Words
    result: JsonValue = None


class Episode(BaseModel):
    """A finished run."""

    model_config = ConfigDict(frozen=True)

    episode_id: str
    task: str = Field(description="what was asked")
    steps: tuple[EpisodeStep, ...] = ()
    outcome: str
    subject: str | None = None
    agent: str | None = Field(default=None, description="who did it")
    readers: tuple[Id, ...] = Field(default=(), description="agents and roles that may read it; empty: all")
    source: str | None = Field(default=None, description="the session or the graph that it was, where it was one")
    created_at: Instant
    version: int = 1


def text_of(episode: Episode) -> str:
    """An episode as it is found and shown: the task, the steps in a line each, the outcome."""
    steps = [f"- {step.action}" + ("" if step.result is None else f" -> {step.result}") for step in episode.steps]
    return "\n".join([f"Task: {episode.task}", *steps, f"Outcome: {episode.outcome}"])
