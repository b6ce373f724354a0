"""What a tenant sets for all that is kept for it."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from slate.domain.facts.model import Category, Sensitive
from slate.domain.facts.slots import canonical
from slate.domain.forgetting.policy import (
    FACT_CAP,
    FORGET_BELOW,
    HALF_LIVES,
    LIMBO_BELOW,
    LOW_CHURN,
    WAKE_SIMILARITY,
    DecayPolicy,
)
from slate.domain.summary_schema import DEFAULT_SCHEMA


class ExtractAt(StrEnum):
    """How early what is said in a session is learned from."""

    TURN = "turn"
    """Rules and a model read each user turn."""
    SEGMENT = "segment"
    """Rules read each user turn, a model each closed segment."""
    CLOSE = "close"
    """All is read when the session closes."""


class TenantSettings(BaseModel):
    """A tenant's settings; version 0 are the defaults, which nobody has set."""

    model_config = ConfigDict(frozen=True)

    summary_schema: dict[str, JsonValue] = Field(
        default_factory=lambda: dict(DEFAULT_SCHEMA), description="the JSON Schema of a segment's summary"
    )
    summary_schema_version: int = Field(default=1, description="grows when the schema changes; summaries name it")
    extract: ExtractAt = ExtractAt.SEGMENT
    sensitive_categories: tuple[Sensitive, ...] = Field(
        default=tuple(Sensitive), description="what may be known with the person's consent; nothing else of the kind"
    )
    closed_categories: tuple[Category, ...] = Field(default=(), description="categories of which no fact is kept")
    refused_words: tuple[str, ...] = Field(default=(), description="a statement that contains one is refused")
    restore_days: int = Field(default=30, description="what was forgotten can be restored so long")
    half_lives: dict[Category, int] = Field(
        default_factory=lambda: dict(HALF_LIVES), description="days in which a fact of each category loses one half"
    )
    limbo_below: float = Field(default=LIMBO_BELOW, description="a fact that is weaker is not served")
    forget_below: float = Field(default=FORGET_BELOW, description="one that is weaker still is forgotten")
    fact_cap: int = Field(default=FACT_CAP, description="facts that one person has; beyond it the least used ones go")
    low_churn: tuple[str, ...] = Field(default=LOW_CHURN, description="attributes that do not fade")
    category_retention_days: dict[Category, int] = Field(
        default_factory=dict, description="a fact of such a category goes after so many days, whatever its importance"
    )
    session_retention_days: int | None = Field(
        default=None, description="a session that does not say it itself is kept so long after its last turn"
    )
    wake_similarity: float = Field(
        default=WAKE_SIMILARITY, description="a turn that repeats so much of a fact is about it"
    )
    reflection: bool = Field(
        default=True, description="whether a closed session moves the importance of what it was served"
    )
    recall: bool = Field(default=True, description="whether what was said is found again, word for word")
    version: int = 0

    @property
    def decay(self) -> DecayPolicy:
        """How facts fade."""
        return DecayPolicy(
            half_lives=self.half_lives,
            limbo_below=self.limbo_below,
            forget_below=self.forget_below,
            low_churn=_slots(self.low_churn),
            retention_days=self.category_retention_days,
            restore_days=self.restore_days,
            fact_cap=self.fact_cap,
        )


@lru_cache(maxsize=256)
def _slots(attributes: tuple[str, ...]) -> frozenset[str]:
    """The slots of these attributes; a tenant's are asked for with every fact that is looked at."""
    return frozenset(canonical(each) for each in attributes)


DEFAULTS: Final = TenantSettings()
