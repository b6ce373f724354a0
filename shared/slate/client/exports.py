"""Exports: all that is kept about a person, asked for, waited for and read line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Final, NamedTuple

from slate.client.answers import parse, segment
from slate.client.calls import Calls
from slate.domain.errors import Unavailable
from slate.domain.exporting.export import Export
from slate.domain.exporting.records import Record, read

LOOK_SECONDS: Final = 1.0
"""Between two looks whether an export is done."""
PATIENCE_SECONDS: Final = 600.0
"""One that is not done by then is given up; it goes on by itself all the same."""
_NDJSON: Final = "application/x-ndjson"
_NEXT: Final = "Next-Cursor"


class ExportPage(NamedTuple):
    """Some lines, and where it goes on; no text as long as the export is not done."""

    text: str | None
    next_cursor: str | None


class Exports:
    """Asks for exports and reads them."""

    def __init__(self, calls: Calls, new_id: Callable[[], str], sleep: Callable[[float], None]) -> None:
        self._calls = calls
        self._new_id = new_id
        self._sleep = sleep

    def start(self, subject: str) -> Export:
        """Have all that is kept about a person written out; it is kept for a while under its id."""
        path = f"/v1/subjects/{segment('subject', subject)}/export"
        return parse(Export, self._calls.call("POST", path, idempotency_key=self._new_id()))

    def page(self, export_id: str, cursor: str | None = None) -> ExportPage:
        """A page of at most 5 MB, the first without a cursor; each can be read again.

        Raises:
            NotFound: there is no such export (any more).
        """
        params = {} if cursor is None else {"cursor": cursor}
        answer = self._calls.text(f"/v1/exports/{segment('export_id', export_id)}", accept=_NDJSON, params=params)
        if answer.status == HTTPStatus.ACCEPTED:
            return ExportPage(None, None)
        return ExportPage(answer.content, answer.headers.get(_NEXT))

    def texts(self, export_id: str, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[str]:
        """Every page as NDJSON, waiting until it is done.

        Raises:
            Unavailable: it is not done in time; the same call later goes on.
        """
        page = self.page(export_id)
        waited = 0.0
        while page.text is None:
            if waited >= patience_seconds:
                raise Unavailable(f"the export {export_id} is not done yet; read it later under its id")
            self._sleep(LOOK_SECONDS)
            waited += LOOK_SECONDS
            page = self.page(export_id)
        yield page.text
        while page.next_cursor is not None:
            page = self.page(export_id, page.next_cursor)
            yield page.text or ""

    def lines(self, export_id: str, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[Record]:
        """Every line; the first says what it is, the last how many of each kind there were. Raises as ``texts``."""
        for text in self.texts(export_id, patience_seconds):
            yield from (read(line) for line in text.split("\n") if line)
