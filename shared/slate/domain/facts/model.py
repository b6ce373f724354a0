"""A fact, what may become one, and what is decided about it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.domain.errors import Conflict
from slate.domain.instants import Instant, format_instant
from slate.domain.names import Id

DEFAULT_IMPORTANCE: Final = 5
DEFAULT_CONFIDENCE: Final = 0.8
KEPT_FROM: Final = 4
"""What is less important is not kept, but logged, and can be restored."""

Statement = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=10_000)]
Attribute = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=200)]
FactValue = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=2_000)]
Topic = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=100)]
Importance = Annotated[int, Field(strict=True, ge=1, le=10)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Category(StrEnum):
    """What kind of thing a fact says; a volatile one is true for a while only."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    VOLATILE = "volatile"
    DECISION = "decision"
    TASK = "task"
    OTHER = "other"


class Sensitive(StrEnum):
    """What is kept about a person with her consent only."""

    HEALTH = "health"
    FINANCE = "finance"
    RELATIONSHIPS = "relationships"


class FactState(StrEnum):
    """Active facts are served; those in limbo and forgotten ones can be restored; superseded ones are history."""

    ACTIVE = "active"
    LIMBO = "limbo"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


class Source(BaseModel):
    """Where a statement comes from: the turn, who wrote it down, a document or a form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    session_id: Id | None = None
    seq: int | None = Field(default=None, strict=True, ge=1)
    agent: Id | None = None
    name: Annotated[str, StringConstraints(strict=True, max_length=500)] | None = None


class Candidate(BaseModel):
    """What may become a fact: from the caller, from rules, or from a model."""

    model_config = ConfigDict(frozen=True)

    statement: str
    category: Category = Category.OTHER
    attribute: str | None = None
    value: str | None = None
    importance: int = DEFAULT_IMPORTANCE
    confidence: float = DEFAULT_CONFIDENCE
    topics: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    observed_at: Instant
    expires_at: Instant | None = None
    source: Source | str | None = None
    quote: str | None = Field(default=None, description="the words of the turn that say it")
    keep_maybe: bool = False
    own: bool = Field(default=False, description="the person's own words: they outweigh what was known")
    pinned: bool = False
    withdraws: bool = Field(default=False, description="says that it holds no longer")
    rule: str | None = Field(default=None, description="the rule, or the model, that found it")


class Fact(BaseModel):
    """A durable statement about a subject."""

    model_config = ConfigDict(frozen=True)

    fact_id: str
    statement: str
    category: Category
    attribute: str | None = Field(default=None, description="its slot: what of the person it says")
    value: str | None = None
    importance: int = DEFAULT_IMPORTANCE
    confidence: float = DEFAULT_CONFIDENCE
    topics: tuple[str, ...] = ()
    sensitive: tuple[Sensitive, ...] = Field(default=(), description="what it needs the person's consent for")
    readers: tuple[str, ...] = Field(default=(), description="agents and roles that may read it; empty: all")
    source: Source | str | None = None
    agent: str | None = Field(default=None, description="whose key wrote it")
    state: FactState = FactState.ACTIVE
    observed_at: Instant = Field(description="when it was first said")
    last_confirmed_at: Instant = Field(description="when it was last said, or confirmed")
    valid_from: Instant
    valid_to: Instant | None = None
    expires_at: Instant | None = None
    superseded_by: str | None = None
    contradicts: tuple[str, ...] = Field(default=(), description="facts that stand beside it and say otherwise")
    keep_maybe: bool = False
    pinned: bool = Field(default=False, description="never forgotten by itself")
    restorable_until: Instant | None = Field(default=None, description="of a forgotten one")
    strength_start: float | None = Field(default=None, description="of one brought back: at least so strong it started")
    woken_at: Instant | None = Field(default=None, description="when it was last used, spoken of, or brought back")
    wakes: int = Field(default=0, description="how often it was used; each makes its half-life longer")
    adjusted: int = Field(default=0, description="steps that feedback moved its importance by")
    gone_by: str | None = Field(default=None, description="the rule by which it went by itself")
    reworded: bool = Field(default=False, description="edited: no longer in the words of its source")
    created_at: Instant
    updated_at: Instant
    version: int = 1


class Op(StrEnum):
    """What became of a candidate."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NOOP = "NOOP"
    QUARANTINED = "QUARANTINED"
    REFUSED = "REFUSED"


class Decision(BaseModel):
    """What became of a candidate, and why; a reason repeats nothing of what was said."""

    model_config = ConfigDict(frozen=True)

    op: Op
    fact_id: str | None = None
    reason: str
    superseded: tuple[str, ...] = Field(default=(), description="the facts that it replaces")
    contradicts: tuple[str, ...] = Field(default=(), description="the facts that stand beside it and say otherwise")
    quarantine_id: str | None = None
    code: str | None = Field(default=None, description="the rule of a refusal or a quarantine")


class Notice(BaseModel):
    """Tells the person, once in each session, that something known was replaced."""

    model_config = ConfigDict(frozen=True)

    notice_id: str
    text: str
    fact_id: str
    superseded: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    at: Instant
    version: int = 1


class QuarantineState(StrEnum):
    """What was decided about it."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Quarantined(BaseModel):
    """A candidate that is not taken for true until somebody has looked at it."""

    model_config = ConfigDict(frozen=True)

    quarantine_id: str
    statement: str
    category: Category
    attribute: str | None = None
    value: str | None = None
    reason: str
    code: str
    state: QuarantineState = QuarantineState.PENDING
    readers: tuple[str, ...] = ()
    source: Source | str | None = None
    at: Instant
    version: int = 1


class Forgetting(BaseModel):
    """An entry of the forgetting log: which fact went by which rule, and until when it can be restored."""

    model_config = ConfigDict(frozen=True)

    log_id: str
    fact_id: str | None = Field(default=None, description="none, where a session left out turns")
    session_id: str | None = Field(default=None, description="the session that left them out")
    seqs: tuple[int, ...] = Field(default=(), description="the turns that it left out")
    rule: str
    reason: str
    actor: str
    at: Instant
    numbers: dict[str, float] = Field(default_factory=dict, description="what the rule went by")
    restorable_until: Instant
    restored_at: Instant | None = None
    readers: tuple[str, ...] = ()
    version: int = 1


class Consent(BaseModel):
    """The person's word on one sensitive category."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    given: bool = Field(strict=True)
    at: Instant
    source: Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=500)]


class Consents(BaseModel):
    """The person's word on each sensitive category; without one there is no consent."""

    model_config = ConfigDict(frozen=True)

    health: Consent | None = None
    finance: Consent | None = None
    relationships: Consent | None = None
    version: int = 0

    def after(self, said: Mapping[Sensitive, Consent]) -> Consents:
        """With what is said of some of them; the same version where that changes nothing.

        Raises:
            Conflict: a consent is older than the withdrawal that stands, which it cannot undo.
        """
        for category, consent in said.items():
            stands: Consent | None = getattr(self, category.value)
            if consent.given and stands is not None and not stands.given and consent.at < stands.at:
                raise Conflict(
                    f"{category.value}: the person withdrew this consent later than it was given; "
                    "send a consent that is newer than that",
                    withdrawn_at=format_instant(stands.at),
                )
        changes = {category.value: consent for category, consent in said.items()}
        changed = self.model_copy(update=changes)
        return self if changed == self else changed.model_copy(update={"version": self.version + 1})

    def covers(self, category: Sensitive) -> bool:
        """Whether the person consented."""
        said: Consent | None = getattr(self, category.value)
        return said is not None and said.given
