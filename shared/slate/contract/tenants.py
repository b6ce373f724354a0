"""A tenant's settings on the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from slate.contract.tasks import Request
from slate.domain.facts.model import Attribute, Category, Sensitive
from slate.domain.tasks import StrictBool
from slate.domain.tenants import ExtractAt, TenantSettings

Days = Annotated[int, Field(strict=True, ge=1, le=36_500)]
Share = Annotated[float, Field(gt=0, lt=0.5, allow_inf_nan=False)]
RefusedWord = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=2, max_length=200)]


class PutTenant(Request):
    """All of a tenant's settings; one that is left out, or null, has its default."""

    summary_schema: dict[str, JsonValue] | None = Field(
        default=None, description="the JSON Schema of a segment's summary: an object with 1 to 40 properties"
    )
    extract: ExtractAt | None = None
    sensitive_categories: tuple[Sensitive, ...] | None = None
    closed_categories: tuple[Category, ...] | None = None
    refused_words: tuple[RefusedWord, ...] | None = Field(default=None, max_length=200)
    restore_days: int | None = Field(default=None, strict=True, ge=1, le=3650)
    half_lives: dict[Category, Days] | None = Field(
        default=None, description="days; a category that is left out has its default"
    )
    limbo_below: Share | None = Field(default=None, description="above forget_below, and below 0.5")
    forget_below: Share | None = None
    fact_cap: int | None = Field(default=None, strict=True, ge=1, le=20_000)
    low_churn: tuple[Attribute, ...] | None = Field(default=None, max_length=100)
    category_retention_days: dict[Category, Days] | None = None
    session_retention_days: int | None = Field(default=None, strict=True, ge=1, le=3650)
    wake_similarity: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    reflection: StrictBool | None = None
    recall: StrictBool | None = Field(default=None, description="false: turns are never recalled")


class ShownTenant(TenantSettings):
    """The settings, and what is unwise about them."""

    warnings: tuple[str, ...] = ()
