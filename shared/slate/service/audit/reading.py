"""Reads the audit: what was done with a person's memory, or in a session, and a day's chains as they are kept."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, NamedTuple

from slate.contract.audit import AuditEntry, AuditPage, ChainPage
from slate.domain.access import Principal
from slate.domain.audit.chain import Link
from slate.domain.errors import Forbidden, Invalid, NotFound, SubjectErased, SubjectHeld
from slate.ports.audit import AuditStore, Period
from slate.ports.clock import Clock
from slate.ports.keyring import Keyring
from slate.ports.session_store import SessionStore
from slate.service.paging import ANSWER_BYTES, Cursors

LOOKED_AT: Final = 2_000
"""Entries that one page looks at; where few of them fit, it shows few, and goes on."""
DEFAULT_DAYS: Final = 7
"""The period where none is named."""
MAX_DAYS: Final = 366
_DAY_MS: Final = 86_400_000
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class Wanted(NamedTuple):
    """Which entries."""

    session: str | None
    subject: str | None
    start: int | None
    end: int | None


class AuditReading:
    """The use cases of reading the audit."""

    def __init__(
        self, store: AuditStore, sessions: SessionStore, keyring: Keyring, cursors: Cursors, clock: Clock
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._keyring = keyring
        self._cursors = cursors
        self._clock = clock

    def find(self, principal: Principal, wanted: Wanted, limit: int, cursor: str | None) -> AuditPage:
        """Entries about a person, of a session, or of all of the tenant; within a period.

        Raises:
            Invalid: the period is empty, or longer than a year.
            Forbidden: the credential is bound to a person, and another is named, or none.
        """
        tenant, period = principal.tenant, self._period(wanted)
        subject = principal.acting_subject(wanted.subject)
        ref = self._ref(tenant, subject, wanted.session)
        of = f"audit {ref} {wanted.session} {wanted.start} {wanted.end}"
        after = self._cursors.position(tenant, of, cursor)
        source = (
            self._store.within(tenant, period, after) if ref is None else self._store.about(tenant, ref, period, after)
        )
        shown: list[AuditEntry] = []
        looked_at = size = 0
        for position, link in source:
            entry, looked_at = link.entry, looked_at + 1
            if period.start <= entry.at <= period.end and wanted.session in (None, entry.session):
                shown.append(AuditEntry.of(link))
                size += len(link.text)
            if len(shown) == limit or looked_at == LOOKED_AT or size > ANSWER_BYTES:
                return AuditPage(items=tuple(shown), next_cursor=self._cursors.next(tenant, of, position))
        return AuditPage(items=tuple(shown), next_cursor=None)

    def chains(self, principal: Principal, day: str, limit: int, cursor: str | None) -> ChainPage:
        """A day's entries as they are kept.

        Raises:
            Invalid: it is not a day.
            Forbidden: the credential is bound to a person; a chain is everybody's.
        """
        if principal.subject is not None:
            raise Forbidden("this key is bound to one subject; a day's chains are about everybody")
        noon = _instant(day)
        tenant, of = principal.tenant, f"audit chains {day}"
        after = self._cursors.position(tenant, of, cursor)
        links: list[Link] = []
        size = 0
        following: str | None = None
        for position, link in self._store.within(tenant, Period(noon, noon), after):
            links.append(link)
            size += len(link.text)
            if len(links) == limit or size > ANSWER_BYTES:
                following = self._cursors.next(tenant, of, position)
                break
        root = self._store.root(tenant, day)
        before = None if root is None or root.previous_day is None else self._store.root(tenant, root.previous_day)
        return ChainPage(tenant=tenant, day=day, items=tuple(links), next_cursor=following, root=root, before=before)

    def close(self, tenant: str, day: str) -> None:
        """Bind a day that is over."""
        self._store.close(tenant, day)

    def _period(self, wanted: Wanted) -> Period:
        end = self._clock.now() if wanted.end is None else wanted.end
        start = end - DEFAULT_DAYS * _DAY_MS if wanted.start is None else wanted.start
        if start > end:
            raise Invalid.field("from", "this is after `to`")
        if end - start > MAX_DAYS * _DAY_MS:
            raise Invalid.field("from", f"at most {MAX_DAYS} days are read at once; ask for a year after another")
        return Period(start, end)

    def _ref(self, tenant: str, subject: str | None, session: str | None) -> str | None:
        """Whose entries are looked at: the person's who is named, or whom the session is about."""
        if subject is not None:
            return self._keyring.name(tenant, subject)
        if session is None:
            return None
        with suppress(NotFound, SubjectErased, SubjectHeld):
            about = self._sessions.head(tenant, session).subject
            return None if about is None else self._keyring.name(tenant, about)
        return None


def _instant(day: str) -> int:
    """An instant of a day."""
    if _DAY.fullmatch(day):
        with suppress(ValueError):
            return round(datetime.strptime(f"{day} +0000", "%Y-%m-%d %z").astimezone(UTC).timestamp() * 1000)
    raise Invalid.field("day", "name a day in UTC, such as 2026-11-30")
