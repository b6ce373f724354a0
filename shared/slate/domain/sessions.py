"""A conversation as it is kept: its turns in order, what is pinned, and the digests of its segments.

An *exchange* is a user turn up to the next user turn; windows and half-lives count exchanges. A *segment* is a run of
turns that is digested together, made from the turns themselves and never from an earlier digest.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict, StringConstraints

from slate.domain.instants import Instant
from slate.domain.names import Id

VERBATIM_ABOVE: Final = 7
"""A turn of greater importance is kept word for word, and promoted at once."""
DIGESTED_FROM: Final = 4
"""A turn of less importance is left out of its segment's digest, and logged as left out."""
DEFAULT_IMPORTANCE: Final = 5
DEFAULT_RETENTION_DAYS: Final = 30

Text = Annotated[str, Strict()]
Importance = Annotated[int, Field(strict=True, ge=1, le=10)]


class Speaker(StrEnum):
    """Who says a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Mark(StrEnum):
    """Why a turn matters: a marked turn is served word for word, however long ago it was said."""

    CONSTRAINT = "constraint"
    DECISION = "decision"
    INSTRUCTION = "instruction"
    FACT = "fact"
    TOOL = "tool"


class SessionState(StrEnum):
    """A turn appended to a closed session opens it again, with a new segment and no values."""

    OPEN = "open"
    CLOSED = "closed"


class ToolCall(BaseModel):
    """One call of a tool that an assistant asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)]
    name: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)]
    arguments: JsonValue = None


class Found(BaseModel):
    """A mark or an importance that a rule found; it names its rule, and can be taken back."""

    model_config = ConfigDict(frozen=True)

    rule: str
    mark: Mark | None = None
    importance: int | None = None


class Turn(BaseModel):
    """One message of a conversation; ``seq`` numbers a session's turns without gaps, from 1."""

    model_config = ConfigDict(frozen=True)

    seq: int
    role: Speaker
    content: str
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    client_id: str | None = None
    tokens: int = Field(description="of the whole turn as a model counts it, with the overhead of a message")
    importance: int = DEFAULT_IMPORTANCE
    marks: tuple[Mark, ...] = ()
    found: tuple[Found, ...] = Field(default=(), description="what rules found, in force unless taken back")
    segment: int = Field(default=1, description="the segment that was open when it was said")
    agent: str | None = Field(default=None, description="whose key wrote it")
    at: Instant
    version: int = 1

    @property
    def verbatim(self) -> bool:
        """Whether it is served word for word however old it is."""
        return bool(self.marks) or self.importance > VERBATIM_ABOVE


class Step(BaseModel):
    """One step of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    step: Text
    done: Annotated[bool, Strict()] = False


class Pinned(BaseModel):
    """What never ages out: rendered whole on every call, never trimmed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: Text = ""
    constraints: tuple[Text, ...] = ()
    entities: dict[str, JsonValue] = Field(default_factory=dict)
    decisions: tuple[Text, ...] = ()
    plan: tuple[Step, ...] = ()


class Summary(BaseModel):
    """The structured digest of one segment, and the turns that it was made from."""

    model_config = ConfigDict(frozen=True)

    segment: int
    first_seq: int
    last_seq: int
    fields: dict[str, JsonValue] = Field(description="by the tenant's schema: intent, entities, confirmed, ...")
    kept: tuple[str, ...] = Field(default=(), description="sentences kept word for word: the fields would lose them")
    left_out: tuple[int, ...] = Field(default=(), description="turns below importance 4")
    tokens: int
    made_by: str = Field(description="the model, or the rules, and the version of the schema")
    folded: bool = Field(default=False, description="shown as one line in the merged digest")
    version: int = 1


class Folded(BaseModel):
    """A segment that the merged digest shows as one line; its own digest stays retrievable."""

    model_config = ConfigDict(frozen=True)

    segment: int
    line: str


class Merged(BaseModel):
    """The digests of all closed segments as one, the newest winning; the oldest are lines once it outgrows its budget.

    It depends on the digests alone, so it can be made again from them at any time.
    """

    model_config = ConfigDict(frozen=True)

    fields: dict[str, JsonValue] = Field(default_factory=dict)
    kept: tuple[str, ...] = ()
    folded: tuple[Folded, ...] = ()
    segments: tuple[int, ...] = Field(default=(), description="the segments that are in it")
    last_seq: int = Field(default=0, description="every turn up to here is in a segment that is in it")
    tokens: int = 0
    version: int = 0


class Segment(BaseModel):
    """A closed run of turns. Its edition grows when one of them is changed or deleted: then it is digested anew."""

    model_config = ConfigDict(frozen=True)

    number: int
    first_seq: int
    last_seq: int
    edition: int = 1
    summary: Summary | None = None
    digested: int = Field(default=0, description="the edition that the summary was made of")

    @property
    def due(self) -> bool:
        """Whether its summary is still to be made, or made anew."""
        return self.summary is None or self.digested < self.edition


class Session(BaseModel):
    """A conversation's head."""

    model_config = ConfigDict(frozen=True)

    session_id: str
    subject: str | None = None
    agent: str | None = None
    system: str | None = Field(default=None, description="not in lists")
    window: int | None = Field(default=None, description="tokens of the model's window, for warnings")
    readers: tuple[Id, ...] = Field(default=(), description="agents and roles that may read it; empty: all")
    retention_days: int
    state: SessionState = SessionState.OPEN
    turns: int = Field(default=0, description="the number of the last turn")
    exchanges: int = Field(default=0, description="user turns so far")
    segment: int = Field(default=1, description="the number of the open segment")
    segment_first: int = Field(default=1, description="the first turn of the open segment")
    segment_exchanges: int = Field(default=0, description="user turns in the open segment")
    segment_tokens: int = Field(default=0, description="tokens in the open segment")
    edits: int = Field(default=0, description="turns that were deleted so far")
    first_seq: int | None = Field(default=None, description="the turn of the user's first message")
    extraction_id: str | None = Field(default=None, description="of its last close")
    created_at: Instant
    updated_at: Instant
    last_turn_at: Instant | None = None
    version: int = 1

    @property
    def active_at(self) -> int:
        """When something was last said, or it was made: idleness and retention count from here."""
        return self.created_at if self.last_turn_at is None else self.last_turn_at


class Snapshot(BaseModel):
    """All that a context needs of a session, bounded whatever its length.

    ``recent`` are the last turns without a hole, the oldest first. ``marked`` are the turns to serve word for word, the
    most important first, the newest first among equals; some stand in ``recent`` too. A turn in ``shortened`` has only
    the beginning and the end of its content here, with a marker between, and its true ``tokens``.
    """

    model_config = ConfigDict(frozen=True)

    session: Session
    pinned: Pinned
    pinned_version: int
    first: Turn | None = Field(description="the user's first message")
    merged: Merged | None
    recent: tuple[Turn, ...]
    marked: tuple[Turn, ...]
    more_marked: bool = Field(description="there are more marked turns than these")
    shortened: frozenset[int] = frozenset()


class ExtractionState(StrEnum):
    """How far what was said has been worked into the memory of its subject."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Extraction(BaseModel):
    """What a closed session leaves behind, decision by decision."""

    model_config = ConfigDict(frozen=True)

    extraction_id: str
    session_id: str | None = None
    subject: str | None = None
    state: ExtractionState
    decisions: tuple[dict[str, JsonValue], ...] = Field(default=(), description="each: op, fact_id, reason")
    created_at: Instant
    updated_at: Instant
    version: int = 1
