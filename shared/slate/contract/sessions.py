"""Sessions on the wire. Where a request or an answer is a domain entity, it is that entity and stands there."""

from __future__ import annotations

from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    Strict,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from slate.contract.tasks import Request
from slate.domain.graphs import RetentionDays
from slate.domain.instants import Instant
from slate.domain.names import Id
from slate.domain.pinned import PinnedState
from slate.domain.sessions import Importance, Mark, Merged, Pinned, Session, Speaker, Summary, ToolCall, Turn
from slate.domain.usage import ModelUsage

MAX_TURNS_A_CALL: Final = 100
MAX_SYSTEM_BYTES: Final = 100_000


def _within(text: str) -> str:
    if len(text.encode()) > MAX_SYSTEM_BYTES:
        raise PydanticCustomError(
            "system_bytes", "must have at most 100,000 bytes; put documents into the knowledge base"
        )
    return text


def _each_once(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    return tuple(dict.fromkeys(marks))


GivenInstant = Annotated[Instant, Field(ge=0)]
System = Annotated[str, StringConstraints(strict=True, min_length=1), AfterValidator(_within)]
Window = Annotated[int, Strict(), Field(ge=1, le=100_000_000)]
Name = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)]
Marks = Annotated[tuple[Mark, ...], Field(max_length=20), AfterValidator(_each_once)]


class CreateSession(Request):
    """A conversation to be; everything has a default."""

    session_id: Id | None = None
    subject: Id | None = Field(default=None, description="the person that it is with")
    agent: Id | None = Field(default=None, description="the key's own, unless the key has `admin`")
    system: System | None = Field(default=None, description="the system message, rendered first on every call")
    pinned: Pinned | None = None
    window: Window | None = Field(default=None, description="tokens of the model's window, for warnings")
    readers: tuple[Id, ...] = Field(default=(), max_length=100, description="agents and roles that may read it")
    retention_days: RetentionDays | None = Field(default=None, description="after the last turn; 30 if not given")


class GivenTurn(BaseModel):
    """One message. What is not given is found by rules: marks, and an importance."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Speaker
    tool_calls: tuple[ToolCall, ...] = Field(default=(), max_length=128, description="of an assistant")
    tool_call_id: Name | None = Field(default=None, description="of a tool: the call that it answers")
    content: Annotated[str, Strict()] = Field(
        default="", validate_default=True, description="may be empty only beside tool_calls"
    )
    client_id: Name | None = Field(default=None, description="the same again in this session is the same turn")
    name: Name | None = None
    marks: Marks = ()
    importance: Importance | None = Field(default=None, description="1 to 10; found by rules, or 5")
    at: GivenInstant | None = Field(default=None, description="when it was said; now if not given")

    @field_validator("tool_calls")
    @classmethod
    def _an_assistant_calls(cls, calls: tuple[ToolCall, ...], info: ValidationInfo) -> tuple[ToolCall, ...]:
        if calls and info.data.get("role", Speaker.ASSISTANT) is not Speaker.ASSISTANT:
            raise PydanticCustomError("tool_calls_role", "only a turn of the role `assistant` calls tools")
        return calls

    @field_validator("tool_call_id")
    @classmethod
    def _a_tool_answers(cls, call: str | None, info: ValidationInfo) -> str | None:
        if call is not None and info.data.get("role", Speaker.TOOL) is not Speaker.TOOL:
            raise PydanticCustomError("tool_call_role", "only a turn of the role `tool` answers a call")
        return call

    @field_validator("content")
    @classmethod
    def _says_something(cls, content: str, info: ValidationInfo) -> str:
        # Where the calls themselves are wrong, that alone is said.
        if not content.strip() and info.data.get("tool_calls") == ():
            raise PydanticCustomError("empty_content", "must say something; it may be empty only beside tool_calls")
        return content


def _each_client_id_once(turns: tuple[GivenTurn, ...]) -> tuple[GivenTurn, ...]:
    seen: set[str] = set()
    for i, turn in enumerate(turns):
        if turn.client_id is not None and turn.client_id in seen:
            raise PydanticCustomError(
                "client_id_twice", "turns[{place}].client_id is given twice; each turn needs its own", {"place": i}
            )
        seen.add(turn.client_id or "")
    return turns


class AppendTurns(Request):
    """What was said, in its order."""

    turns: Annotated[
        tuple[GivenTurn, ...], Field(min_length=1, max_length=MAX_TURNS_A_CALL), AfterValidator(_each_client_id_once)
    ]


class Turns(BaseModel):
    """The turns as they are kept, in the order given."""

    model_config = ConfigDict(frozen=True)

    turns: tuple[Turn, ...]


class PatchTurn(Request):
    """Marks and importance, in place of those that stand: what a rule found and is not here is taken back."""

    marks: Marks | None = None
    importance: Importance | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.marks is None and self.importance is None:
            raise PydanticCustomError("nothing_to_patch", "give `marks`, `importance`, or both")
        return self


class PutPinned(Request, Pinned):
    """All of the pinned state; a part that is left out is empty."""


class PatchPinned(Request):
    """A JSON merge patch (RFC 7396) of the pinned state."""

    goal: JsonValue = None
    constraints: JsonValue = None
    entities: JsonValue = None
    decisions: JsonValue = None
    plan: JsonValue = None

    def patch(self) -> dict[str, Any]:
        """What was given of it."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class ShownSession(Session):
    """A session with what is rendered on every call."""

    pinned: PinnedState
    summary: Merged | None = Field(default=None, description="the digests of all closed segments, merged")
    model_usage: ModelUsage = Field(default=ModelUsage(), description="what models were asked for its sake")


class SessionPage(BaseModel):
    """Some sessions, the newest first; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Session, ...]
    next_cursor: str | None


class TurnPage(BaseModel):
    """Some turns, by number; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Turn, ...]
    next_cursor: str | None


class SummaryPage(BaseModel):
    """Summaries of segments, the oldest first; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Summary, ...]
    next_cursor: str | None


class Closed(BaseModel):
    """What a close has begun."""

    model_config = ConfigDict(frozen=True)

    extraction_id: str = Field(description="what is remembered of the session: GET /v1/extractions/{extraction_id}")
