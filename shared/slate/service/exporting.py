"""Exporting what is kept about a person: asked for, made page by page by whoever gets its message, read by cursor.

A page and how far the walk is are one write: so whoever is killed leaves an export that the next message goes on with,
and two at once make it once. What was said meanwhile may be in it or not; what was there when it was asked for is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from pydantic import JsonValue

from slate.domain.access import Principal
from slate.domain.errors import NotFound, SubjectErased
from slate.domain.exporting.export import Export, ExportState
from slate.domain.exporting.records import ending, opening
from slate.ports.clock import Clock
from slate.ports.exports import ExportStore, Progress, SubjectRecords
from slate.ports.keyring import Keyring
from slate.ports.queue import Message, Queue
from slate.service.facts.reaching import reached
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors

EXPORT: Final = "export"
"""The kind of message that makes one go on."""
PAGE_BYTES: Final = 2_500_000
"""Of a page as an answer carries it, escaped; as a report it may be twice as much."""
RUN_MS: Final = 20_000
"""One message makes pages for so long."""
_DAY_MS: Final = 86_400_000


class ExportPage(NamedTuple):
    """Lines of an export, and where it goes on."""

    export: Export
    text: str | None
    """NDJSON; none as long as the export is not done."""
    number: int
    next_cursor: str | None


class Exporting:
    """The use cases of exports."""

    def __init__(
        self,
        store: ExportStore,
        records: SubjectRecords,
        keyring: Keyring,
        idempotency: Idempotency,
        cursors: Cursors,
        queue: Queue,
        clock: Clock,
        *,
        days: int,
        page_bytes: int = PAGE_BYTES,
    ) -> None:
        """``days``: how long an export is kept."""
        self._store = store
        self._records = records
        self._keyring = keyring
        self._idempotency = idempotency
        self._cursors = cursors
        self._queue = queue
        self._clock = clock
        self._days = days
        self._page_bytes = page_bytes

    def ask(self, principal: Principal, subject: str, idempotency_key: str | None) -> Export:
        """Have an export made of all that is kept about a person, whoever may read which part of it.

        Raises:
            NotFound: the person is not within the credential's bounds.
            SubjectErased, SubjectHeld: nothing of theirs is to be read now.
        """
        ref, tenant = reached(self._keyring, principal, subject), principal.tenant

        def do(seed: str) -> tuple[Export, JsonValue]:
            now = self._clock.now()
            new = Export(
                export_id=f"export-{seed}",
                subject=subject,
                agent=principal.agent,
                created_at=now,
                updated_at=now,
                expires_at=now + self._days * _DAY_MS,
            )
            export = self._store.begin(tenant, new)
            self._send(tenant, export.export_id)
            return export, export.export_id

        def again(kept: JsonValue) -> Export:
            return self._store.get(tenant, str(kept)).export

        return self._idempotency.once(principal, idempotency_key, f"POST export of {ref}", do, again, about=subject)

    def page(self, principal: Principal, export_id: str, cursor: str | None) -> ExportPage:
        """A page of an export, the first without a cursor.

        Raises:
            NotFound: there is no such export (any more), or it is not within the credential's bounds.
            SubjectErased, SubjectHeld: nothing of the person is to be read now.
        """
        tenant = principal.tenant
        export = self._store.get(tenant, export_id).export
        if not principal.may_reach(export.subject):
            raise NotFound(f"there is no export {export_id!r}")
        of = f"export {export_id}"
        number = int(self._cursors.position(tenant, of, cursor) or 0)
        if export.state is not ExportState.DONE:
            return ExportPage(export, None, number, None)
        text = self._store.page(tenant, export_id, number)
        more = str(number + 1) if number + 1 < export.pages else None
        return ExportPage(export, text, number, self._cursors.next(tenant, of, more))

    # ---- making

    def consume(self, message: Message) -> None:
        """Go on with the export that a message names; one that is gone is let go.

        Raises:
            Unavailable, SubjectHeld: the message is to come again.
        """
        tenant, export_id = str(message["tenant"]), str(message["export_id"])
        with suppress(NotFound, SubjectErased):
            self._go_on(tenant, export_id)

    def tick(self, tenant: str, export_id: str, deadline: int) -> None:
        """What its timer says: its time is over and it goes; or it is not done, and is asked for once more."""
        try:
            seen = self._store.get(tenant, export_id).export
        except (NotFound, SubjectErased):
            self._store.drop(tenant, export_id, deadline)
            return
        if self._store.look_again(tenant, seen):
            self._send(tenant, export_id)

    def _go_on(self, tenant: str, export_id: str) -> None:
        export, position = self._store.get(tenant, export_id)
        if export.state is ExportState.DONE:
            return
        late = self._clock.now() + RUN_MS
        for made in self._pages(tenant, export, position):
            export = made.progress.export
            if not self._store.add(tenant, made.progress, made.text):
                return  # another is at it
            if export.state is not ExportState.DONE and self._clock.now() > late:
                self._send(tenant, export_id)
                return

    def _pages(self, tenant: str, export: Export, position: str | None) -> Iterator[_Made]:
        """Each next page with how the export stands once it is kept."""
        page = _Page(self._page_bytes)
        if position is None:
            page.add(opening(export).line())
        ref = self._keyring.ref(tenant, export.subject)
        for found in self._records.walk(tenant, ref, position):
            line = found.record.line()
            if not page.fits(line) and position is not None:
                export = self._with(export, page)
                yield _Made(Progress(export, position), page.text)
                page = _Page(self._page_bytes)
            page.add(line, found.record.kind)
            position = found.position
        done = self._with(export, page).model_copy(update={"state": ExportState.DONE})
        page.add(ending(export, done.lines).line())
        yield _Made(Progress(done, position), page.text)

    def _with(self, export: Export, page: _Page) -> Export:
        counted = dict(export.lines)
        for kind in page.kinds:
            counted[kind] = counted.get(kind, 0) + 1
        return export.model_copy(
            update={
                "state": ExportState.RUNNING,
                "pages": export.pages + 1,
                "lines": counted,
                "updated_at": self._clock.now(),
                "version": export.version + 1,
            }
        )

    def _send(self, tenant: str, export_id: str) -> None:
        self._queue.send({"kind": EXPORT, "tenant": tenant, "export_id": export_id})


class _Made(NamedTuple):
    """A page, and how the export stands once it is kept."""

    progress: Progress
    text: str


class _Page:
    """Lines as they gather."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lines: list[str] = []
        self._bytes = 0
        self.kinds: list[str] = []

    def fits(self, line: str) -> bool:
        """Whether there is room for it beside what is there."""
        return not self._lines or self._bytes + _weight(line) <= self._most

    def add(self, line: str, kind: str | None = None) -> None:
        """One line more; of what an export says about itself no kind is counted."""
        self._lines.append(line)
        self._bytes += _weight(line)
        if kind is not None:
            self.kinds.append(kind)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self._lines) + "\n"


def _weight(line: str) -> int:
    """Its bytes within an answer, where it stands as an escaped text."""
    return len(line.encode()) + line.count('"') + line.count("\\") + 2
