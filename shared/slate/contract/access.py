"""API keys on the wire."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from slate.contract.tasks import Request
from slate.domain.access import ApiKey, Scope
from slate.domain.names import Id


class CreateKey(Request):
    """Who the key is for and what it opens."""

    agent: Id
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=len(Scope))
    roles: tuple[Id, ...] = Field(default=(), max_length=50, description="the roles it may work for; none: any")
    subject: Id | None = Field(default=None, description="the one person whose data it reaches; none: any")


class CreatedKey(ApiKey):
    """The key itself, shown this once."""

    key: str


class KeyPage(BaseModel):
    """Some keys; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[ApiKey, ...]
    next_cursor: str | None
