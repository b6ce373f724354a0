"""What a source of sections is asked, and what it offers.

A source reads what it needs, checks that the caller reaches it, and gives drafts; how much of each is shown is decided
over all of them. Another source is one more in the list.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from slate.contract.contexts import AskContext
from slate.domain.access import Principal
from slate.domain.budget import Draft
from slate.domain.context import Context, Dropped


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a context, and for whom it is."""

    principal: Principal
    body: AskContext
    agent: str

    def may_read(self, readers: Collection[str], owner: str | None) -> bool:
        """Whether the agent may see what names its readers; for another agent, that agent's own rights count."""
        if self.agent == self.principal.agent:
            return self.principal.may_read(readers, owner)
        return not readers or self.agent == owner or self.agent in readers or self.body.role in readers


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a source has: sections, and what it tells of the context as a whole."""

    drafts: Sequence[Draft] = ()
    dropped: Sequence[Dropped] = ()
    subject: str | None = None
    """The person that what was read is about."""
    role: str | None = None
    """The role that the task asks for: it brings its topics."""
    window: int | None = None
    keep_days: int | None = None
    """What was read may be kept so long."""
    warnings: Sequence[str] = ()
    """What could not be looked at as it should."""


class Source(Protocol):
    """Gives sections."""

    def offer(self, asked: Asked) -> Offer | None:
        """What there is for this request; nothing where it does not ask for this source.

        Raises:
            NotFound: what it names is not there, or not within reach.
        """
        ...


class SubjectSource(Protocol):
    """Gives sections about whom the others found the context to be about, and about what is asked."""

    def offer(self, asked: Asked, subject: str | None, role: str | None) -> Offer:
        """What there is, for an agent in this role.

        Raises:
            Invalid: it is asked for something that there is not.
        """
        ...

    def told(self, tenant: str, context: Context) -> Collection[str]:
        """Note what of a context is told only once; answers the items that another context told meanwhile."""
        ...
