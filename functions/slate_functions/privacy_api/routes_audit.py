"""The routes of the audit: who did what with whose memory, and the chains that prove it."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from slate.contract.audit import AuditPage, ChainPage
from slate.domain.access import Principal, Scope
from slate.domain.instants import Instant
from slate.domain.names import Id
from slate.service.audit.reading import AuditReading, Wanted
from slate_functions.http.dependencies import Paging, PathId
from slate_functions.http.routes import get
from slate_functions.privacy_api import audit_examples as examples

READ: Final = Scope.PRIVACY_READ


class AuditQuery(Paging):
    """Which entries."""

    session: Id | None = Field(default=None, description="only those of this session")
    subject: Id | None = Field(default=None, description="only those about this person")
    start: Instant | None = Field(default=None, alias="from", description="a week before `to`, if not given")
    end: Instant | None = Field(default=None, alias="to", description="now, if not given")


class AuditRoutes:
    """Audit: who read or changed which items, at which versions, when, in which session."""

    def __init__(self, reading: AuditReading) -> None:
        self._reading = reading

    @get("/v1/audit", scope=READ, gives=examples.PAGE)
    def list_audit(self, principal: Principal, query: AuditQuery) -> AuditPage:
        """List entries: without content, by day, chain and number.

        An entry names items at versions; the version that it names stays readable until it is erased. With `session`
        and `to` it shows what an agent knew at a moment. Of a very large period a page may show few entries, or none,
        and go on.
        """
        wanted = Wanted(query.session, query.subject, query.start, query.end)
        return self._reading.find(principal, wanted, query.limit, query.cursor)

    @get("/v1/audit/days/{day}", scope=READ, gives=examples.CHAINS)
    def get_audit_day(self, principal: Principal, day: PathId, query: Paging) -> ChainPage:
        """A day's chains as they are kept, and the root that binds them: whoever reads them can check them."""
        return self._reading.chains(principal, day, query.limit, query.cursor)
