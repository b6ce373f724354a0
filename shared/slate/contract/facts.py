"""What is known about a person, on the wire. Where an answer is a domain entity, it is that entity."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.contract.tasks import Request
from slate.domain.facts.model import (
    DEFAULT_CONFIDENCE,
    DEFAULT_IMPORTANCE,
    Attribute,
    Category,
    Confidence,
    Consent,
    Decision,
    Fact,
    FactValue,
    Forgetting,
    Importance,
    Notice,
    Quarantined,
    Source,
    Statement,
    Topic,
)
from slate.domain.instants import Instant
from slate.domain.names import Id
from slate.domain.sessions import Speaker
from slate.domain.tasks import StrictBool

MAX_FACTS: Final = 100
MAX_MESSAGES: Final = 1_000
NamedSource = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=500)]


class GivenFact(Request):
    """A statement about the person, as a caller gives it."""

    statement: Statement
    category: Category
    attribute: Attribute | None = Field(default=None, description="its slot: a slot holds one truth at a time")
    value: FactValue | None = Field(default=None, description="what it says of the slot; without it, the statement")
    importance: Importance = Field(default=DEFAULT_IMPORTANCE, description="below 4: logged, not kept")
    confidence: Confidence = DEFAULT_CONFIDENCE
    topics: tuple[Topic, ...] = Field(default=(), max_length=20)
    observed_at: Instant | None = Field(default=None, description="when it was said; without it, now")
    source: Source | NamedSource | None = None
    readers: tuple[Id, ...] = Field(default=(), max_length=100, description="agents and roles that may read it")
    expires_at: Instant | None = Field(default=None, description="when it is over by itself")
    keep_maybe: StrictBool = Field(default=False, description="into limbo: not served, restorable")
    pinned: StrictBool = Field(default=False, description="never forgotten by itself")


class PostFacts(Request):
    """Statements, decided one after the other."""

    facts: tuple[GivenFact, ...] = Field(min_length=1, max_length=MAX_FACTS)


class Results(BaseModel):
    """What became of each statement, in their order."""

    model_config = ConfigDict(frozen=True)

    results: tuple[Decision, ...]


class PatchFact(Request):
    """What changes of a fact; what is not named stays, null takes it away."""

    statement: Statement | None = None
    category: Category | None = None
    attribute: Attribute | None = None
    value: FactValue | None = None
    importance: Importance | None = None
    confidence: Confidence | None = None
    topics: tuple[Topic, ...] | None = Field(default=None, max_length=20)
    readers: tuple[Id, ...] | None = Field(default=None, max_length=100)
    expires_at: Instant | None = None
    pinned: StrictBool | None = None


class FactPage(BaseModel):
    """Some facts, by the instant of their making; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Fact, ...]
    next_cursor: str | None


class DeletedFacts(BaseModel):
    """How many facts were forgotten."""

    model_config = ConfigDict(frozen=True)

    deleted: int


class NoticePage(BaseModel):
    """Some notices, the newest first; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Notice, ...]
    next_cursor: str | None


class QuarantinePage(BaseModel):
    """Some of what is held back; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Quarantined, ...]
    next_cursor: str | None


class ForgettingPage(BaseModel):
    """Some entries of the forgetting log, the newest first; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Forgetting, ...]
    next_cursor: str | None


class PutConsents(Request):
    """The person's word on sensitive categories; one that is not named stays as it is."""

    health: Consent | None = None
    finance: Consent | None = None
    relationships: Consent | None = None


class GivenMessage(Request):
    """One message of a conversation."""

    role: Speaker
    content: Annotated[str, StringConstraints(strict=True, max_length=500_000)]


class ExtractFacts(Request):
    """A conversation to learn from: only what the user says of herself counts."""

    messages: tuple[GivenMessage, ...] = Field(min_length=1, max_length=MAX_MESSAGES)
    session_id: Id | None = None
    at: Instant | None = Field(default=None, description="when it was said; without it, now")
