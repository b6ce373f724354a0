"""Who calls, and what they may do. A tenant comes from the credential alone, never from a body or a path."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from slate.domain.errors import Forbidden, RoleMissing, ScopeMissing
from slate.domain.instants import Instant


class Scope(StrEnum):
    """What a credential opens; every route names the one it needs."""

    TASKS_READ = "tasks:read"
    TASKS_WRITE = "tasks:write"
    MEMORY_READ = "memory:read"
    MEMORY_WRITE = "memory:write"
    PRIVACY_READ = "privacy:read"
    PRIVACY_WRITE = "privacy:write"
    ADMIN = "admin"


class Principal(BaseModel):
    """Who calls: the tenant, the agent, and the bounds of its credential."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    agent: str
    key_id: str
    """The API key; of a token what all tokens of one agent share that open the same, whomever they are bound to."""
    scopes: frozenset[Scope]
    roles: frozenset[str] = frozenset()
    """The roles it may work for; empty: any."""
    subject: str | None = None
    """The one person whose data it reaches; none: any."""
    expires_at: int | None = None
    """The instant from which the credential opens nothing more, in milliseconds since 1970; none: when revoked."""

    def need(self, scope: Scope) -> None:
        """Refuse unless the credential has this scope; ``admin`` does not include the others.

        Raises:
            ScopeMissing: it has not, and the error names the scope.
        """
        if scope not in self.scopes:
            raise ScopeMissing(scope)

    def may_work_for(self, roles: frozenset[str]) -> None:
        """Refuse a role outside the credential's own.

        Raises:
            RoleMissing: names the first such role.
        """
        if self.roles and (outside := sorted(roles - self.roles)):
            raise RoleMissing(outside[0], sorted(self.roles))

    def may_reach(self, subject: str | None) -> bool:
        """Whether data about this subject (or about nobody) is within the credential's bounds."""
        return self.subject is None or self.subject == subject

    def may_read(self, readers: Collection[str], owner: str | None = None) -> bool:
        """Whether it is among the agents and roles that may read something, or is its owner, or ``admin``."""
        if not readers or Scope.ADMIN in self.scopes:
            return True
        return self.agent == owner or self.agent in readers or not self.roles.isdisjoint(readers)

    def acting_agent(self, named: str | None) -> str:
        """The agent that acts: the credential's own, unless it has ``admin``.

        Raises:
            Forbidden: it is another's.
        """
        if named not in (None, self.agent) and Scope.ADMIN not in self.scopes:
            raise Forbidden(f"this key is the agent {self.agent}'s; leave `agent` out", agent=self.agent)
        return named or self.agent

    def acting_subject(self, named: str | None) -> str | None:
        """The subject that a new thing is about: the one named, or the credential's own.

        Raises:
            Forbidden: the credential is bound to another person.
        """
        if self.subject is not None and named not in (None, self.subject):
            raise Forbidden("this key is bound to one subject, and the request names another")
        return named if named is not None else self.subject


class ApiKey(BaseModel):
    """An API key as it may be shown: never its secret, which is shown once, when it is made."""

    model_config = ConfigDict(frozen=True)

    key_id: str
    agent: str
    scopes: tuple[Scope, ...]
    roles: tuple[str, ...] = ()
    subject: str | None = None
    created_at: Instant
    created_by: str
    revoked_at: Instant | None = None
    version: int = 1
