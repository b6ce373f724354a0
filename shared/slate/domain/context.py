"""What one agent gets for one model call: sections of items, what they cost, and what was left out and why.

Sections stand in the order in which they are rendered: first what stays the same from call to call (who the agent is,
what is pinned, how the conversation began, its digest), last what changes with each (what was recalled, the task, the
last turns). So two calls share a prefix, and what matters most stands at one of the two ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, Strict

from slate.domain.instants import Instant
from slate.domain.names import Id
from slate.domain.sessions import Speaker, ToolCall

DEFAULT_TOTAL: Final = 4_096
MAX_TOTAL: Final = 400_000
DEFAULT_WINDOW: Final = 128_000
"""Tokens of a model's window, where neither the call nor the session says."""
WARN_FROM: Final = 0.6
"""A context that fills so much of the window is warned of."""
TOOL_LINE: Final = "tool"
"""Tool output has a line of its own in the breakdown, whichever section it stands in."""

Tokens = Annotated[int, Strict(), Field(ge=1, le=MAX_TOTAL)]
SectionTokens = Annotated[int, Strict(), Field(ge=0, le=MAX_TOTAL)]


class SectionName(StrEnum):
    """The sections, in the order in which they are rendered."""

    SYSTEM = "system"
    PINNED = "pinned"
    FIRST_MESSAGE = "first_message"
    SUMMARY = "summary"
    MARKED = "marked"
    EPISODES = "episodes"
    RECALL = "recall"
    KNOWLEDGE = "knowledge"
    FACTS = "facts"
    RECONFIRM = "reconfirm"
    NOTICES = "notices"
    TASK = "task"
    RECENT = "recent"


STABLE: Final = (SectionName.SYSTEM, SectionName.PINNED, SectionName.FIRST_MESSAGE, SectionName.SUMMARY)
"""What two calls of one session have in common, as long as nothing is pinned or digested between them."""


class Format(StrEnum):
    """How a context is rendered, beside its sections."""

    SECTIONS = "sections"
    TEXT = "text"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    CONVERSE = "converse"


class Budget(BaseModel):
    """Tokens at most: of the whole, and of a section; a section without a number shares what there is, 0 is none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    total: Tokens = DEFAULT_TOTAL
    system: SectionTokens | None = None
    pinned: SectionTokens | None = None
    first_message: SectionTokens | None = None
    summary: SectionTokens | None = None
    marked: SectionTokens | None = None
    episodes: SectionTokens | None = None
    recall: SectionTokens | None = None
    knowledge: SectionTokens | None = None
    facts: SectionTokens | None = None
    reconfirm: SectionTokens | None = None
    notices: SectionTokens | None = None
    task: SectionTokens | None = None
    recent: SectionTokens | None = None

    def of(self, section: SectionName) -> int | None:
        """The section's own number."""
        tokens: int | None = getattr(self, section.value)
        return tokens


class Item(BaseModel):
    """One thing that the agent sees, by the id under which it can be found again."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: str = Field(description="turn, pinned, summary, task, value, ...")
    text: str = Field(description="word for word, unless it says where it was shortened")
    tokens: int
    score: float | None = None
    why: Mapping[str, float] | None = Field(default=None, description="the parts of the score")
    version: int | None = None
    seq: int | None = Field(default=None, description="of a turn")
    role: Speaker | None = Field(default=None, description="of a turn")
    name: str | None = Field(default=None, description="of a turn")
    marks: tuple[str, ...] = Field(default=(), description="of a turn: why it is kept word for word")
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def of_tool(self) -> bool:
        """Whether it is a tool's output."""
        return self.role is Speaker.TOOL


class Section(BaseModel):
    """The items of one section; its tokens are theirs, and those of its heading."""

    model_config = ConfigDict(frozen=True)

    name: SectionName
    tokens: int
    items: tuple[Item, ...]


class Dropped(BaseModel):
    """What had no place, and why; it stays retrievable by its id."""

    model_config = ConfigDict(frozen=True)

    id: str
    section: SectionName
    reason: str


class Context(BaseModel):
    """A context as it was given: all that it takes to give it again byte for byte."""

    model_config = ConfigDict(frozen=True)

    context_id: str
    agent: Id
    session: str | None = None
    subject: str | None = None
    graph: str | None = None
    task: str | None = None
    query: str | None = Field(default=None, description="what the call was about")
    created_at: Instant
    sections: tuple[Section, ...]
    breakdown: Mapping[str, int] = Field(description="tokens by section, and of tool output by itself")
    total_tokens: int
    budget: int = Field(description="the total that was asked for")
    window: int
    window_share: float
    stable_prefix_tokens: int = Field(description="of the part that the next call of this session begins with too")
    counted_by: str = Field(description="the tokenizer")
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()


def breakdown(sections: tuple[Section, ...]) -> dict[str, int]:
    """A line for each section, less the tool output in it, which is a line together; they add up to the total."""
    lines: dict[str, int] = {}
    for section in sections:
        of_tools = sum(item.tokens for item in section.items if item.of_tool)
        lines[section.name.value] = section.tokens - of_tools
        if of_tools:
            lines[TOOL_LINE] = lines.get(TOOL_LINE, 0) + of_tools
    return lines


def warnings_of(total: int, window: int) -> tuple[str, ...]:
    """What to tell the caller of a context of this size."""
    share = total / window
    if share < WARN_FROM:
        return ()
    return (f"this context fills {share:.0%} of the model's window of {window:,} tokens; ask for less, or pin less",)


def turns_of(context: Context) -> dict[str, dict[int, str]]:
    """The turns that it shows, of its session and of those that were recalled: by session and number, the item's id."""
    found: dict[str, dict[int, str]] = {}
    for item in (item for section in context.sections for item in section.items if item.kind == "turn"):
        elsewhere, _, seq = item.id.removeprefix("turn:").rpartition("/")
        session = elsewhere or context.session
        if session is not None:
            found.setdefault(session, {})[int(seq)] = item.id
    return found


def without(context: Context, gone: Mapping[str, str]) -> Context:
    """The same without these items, each with the reason; that they were shown stays known, as do all figures."""
    if not gone:
        return context
    sections = tuple(
        section.model_copy(update={"items": tuple(item for item in section.items if item.id not in gone)})
        for section in context.sections
    )
    deleted = tuple(
        Dropped(id=item.id, section=section.name, reason=gone[item.id])
        for section in context.sections
        for item in section.items
        if item.id in gone
    )
    return context.model_copy(update={"sections": sections, "dropped": (*context.dropped, *deleted)})
