"""The audit: who did what with whose memory; and whether a day is whole, checked here and not by the server."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from slate.client.answers import PAGE, pages, parse, segment
from slate.client.calls import Calls
from slate.contract.audit import AuditEntry, AuditPage, ChainPage
from slate.domain.audit.chain import Flaw, Link, Root, flaws
from slate.domain.audit.entries import Phase
from slate.domain.instants import format_instant


class Verified(NamedTuple):
    """What checking a day found."""

    entries: int
    root: Root | None
    """None: the day is not over yet, so that a cut at the end of a chain would not show."""
    flaws: list[Flaw]
    unfinished: list[str]
    """Deeds that began and neither ended nor failed that day: their process was killed, or worked on past midnight."""


class Audit:
    """Reads entries and checks chains."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def entries(
        self,
        *,
        session: str | None = None,
        subject: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[AuditEntry]:
        """Entries of a session, about a person, or of all, by day, chain and number; of a week where no start is given.

        Raises:
            Invalid: the period is empty or longer than a year.
        """
        given = {"session": session, "subject": subject}
        instants = {"from": start, "to": end}
        params = {name: value for name, value in given.items() if value is not None}
        params |= {name: format_instant(value) for name, value in instants.items() if value is not None}
        yield from pages(self._calls, "/v1/audit", partial(parse, AuditPage), params)

    def chains(self, day: str) -> Iterator[ChainPage]:
        """A day's chains as they are kept, page by page."""
        params = {"limit": str(PAGE)}
        while True:
            answer = self._calls.call("GET", f"/v1/audit/days/{segment('day', day)}", params=params)
            page = parse(ChainPage, answer)
            yield page
            if page.next_cursor is None:
                return
            params["cursor"] = page.next_cursor

    def verify(self, day: str) -> Verified:
        """Check a day: that no entry was removed, altered, moved or added, as far as its chains and its root tell."""
        links: list[Link] = []
        page: ChainPage | None = None
        for page in self.chains(day):
            links += page.items
        if page is None:
            return Verified(0, None, [], [])
        found = flaws(page.tenant, day, links, page.root, page.before)
        entries = [link.entry for link in links]
        ended = {entry.deed for entry in entries if entry.phase is not Phase.BEGUN}
        cut_off = [entry.deed for entry in entries if entry.phase is Phase.BEGUN and entry.deed not in ended]
        return Verified(len(links), page.root, found, cut_off)
