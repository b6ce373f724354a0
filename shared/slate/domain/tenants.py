"""What a tenant sets for all that is kept for it."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from slate.domain.summary_schema import DEFAULT_SCHEMA


class TenantSettings(BaseModel):
    """A tenant's settings; version 0 are the defaults, which nobody has set."""

    model_config = ConfigDict(frozen=True)

    summary_schema: dict[str, JsonValue] = Field(
        default_factory=lambda: dict(DEFAULT_SCHEMA), description="the JSON Schema of a segment's summary"
    )
    summary_schema_version: int = Field(default=1, description="grows when the schema changes; summaries name it")
    version: int = 0


DEFAULTS: Final = TenantSettings()
