"""Contexts on the wire: what is asked for, and what is given."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, Strict, StringConstraints

from slate.contract.tasks import Request
from slate.domain.context import Budget, Context, Format
from slate.domain.names import Id

MAX_NAMED = 20

Query = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=10_000)]
Topic = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100)]


class AskContext(Request):
    """What one agent needs for one model call: of a session, a graph's task, a person, or several of these."""

    session: Id | None = None
    subject: Id | None = Field(default=None, description="the person; the session's or the graph's own if not given")
    graph: Id | None = None
    task: Id | None = Field(default=None, description="of the graph: the one that the agent works on")
    agent: Id | None = Field(default=None, description="the key's own, unless the key has `admin`")
    role: Id | None = Field(default=None, description="the role that the agent works in")
    query: Query | None = Field(default=None, description="what the call is about, for the sections that are searched")
    categories: tuple[Topic, ...] = Field(default=(), max_length=MAX_NAMED)
    topics: tuple[Topic, ...] = Field(default=(), max_length=MAX_NAMED)
    budget: Budget = Budget()
    window: Annotated[int, Strict(), Field(ge=1, le=100_000_000)] | None = Field(
        default=None, description="tokens of the model's window; the session's own if not given"
    )
    format: Format = Format.SECTIONS


class GivenContext(Context):
    """The context, and beside its sections the form that was asked for."""

    model_config = ConfigDict(frozen=True)

    format: Format = Format.SECTIONS
    text: str | None = None
    system: JsonValue = Field(default=None, description="of the format `anthropic`: goes beside the messages")
    messages: JsonValue = Field(default=None, description="of the formats `openai` and `anthropic`")
    converse: JsonValue = Field(default=None, description="`system` and `messages` for Bedrock's Converse")
