"""A tenant's settings on the wire."""

from __future__ import annotations

from pydantic import Field, JsonValue

from slate.contract.tasks import Request
from slate.domain.tenants import TenantSettings


class PutTenant(Request):
    """All of a tenant's settings; one that is left out, or null, has its default."""

    summary_schema: dict[str, JsonValue] | None = Field(
        default=None, description="the JSON Schema of a segment's summary: an object with 1 to 40 properties"
    )


class ShownTenant(TenantSettings):
    """The settings, and what is unwise about them."""

    warnings: tuple[str, ...] = ()
