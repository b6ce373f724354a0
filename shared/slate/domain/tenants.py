"""What a tenant sets for all that is kept for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from slate.domain.facts.model import Category, Sensitive
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
    recall: bool = Field(default=True, description="whether what was said is found again, word for word")
    version: int = 0


DEFAULTS: Final = TenantSettings()
