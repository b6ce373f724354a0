"""The routes of exports: all that is kept about a person, for the person."""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Final

from pydantic import Field

from slate.domain.access import Principal, Scope
from slate.domain.exporting import report
from slate.domain.exporting.export import Export
from slate.domain.exporting.records import read
from slate.service.exporting import Exporting, ExportPage
from slate_functions.http.answers import Answer, Page
from slate_functions.http.dependencies import Cursor, FromHeader, IdempotencyKey, PathId, Query
from slate_functions.http.routes import get, post
from slate_functions.privacy_api import export_examples as examples

NDJSON: Final = "application/x-ndjson"
HTML: Final = "text/html; charset=utf-8"
NEXT_CURSOR: Final = "Next-Cursor"
MAX_REPORT: Final = 5_000_000
_SHOWN: Final = (report.SHOWN_CHARACTERS, 2_000, 200)
"""Characters of a text that a report shows: fewer where it would be over what an answer holds."""


class ExportFormat(StrEnum):
    """What an export is read as."""

    NDJSON = "ndjson"
    HTML = "html"


class ExportQuery(Query):
    """Which page, and in which form."""

    cursor: Cursor | None = Field(default=None, description="`Next-Cursor` of the page before; without it the first")
    format: ExportFormat | None = Field(default=None, description="`ndjson` unless `Accept` asks for `text/html`")


def wants_html(accept: str | None) -> bool:
    """Whether a page for people is asked for."""
    return accept is not None and "text/html" in accept


WantsHtml = Annotated[
    bool,
    FromHeader(
        "Accept",
        wants_html,
        "`text/html`: a report for people, instead of NDJSON",
        {"type": "string", "examples": ["text/html"]},
    ),
]


class ExportRoutes:
    """Exports: all that is kept about a person, with where it comes from."""

    def __init__(self, exporting: Exporting) -> None:
        self._exporting = exporting

    @post(
        "/v1/subjects/{subject}/export",
        scope=Scope.PRIVACY_READ,
        status=HTTPStatus.ACCEPTED,
        refusals=(HTTPStatus.CONFLICT,),
        gives=examples.QUEUED,
    )
    def export_subject(self, principal: Principal, subject: PathId, idempotency_key: IdempotencyKey) -> Answer[Export]:
        """Have all that is kept about a person written out, whoever may read which part of it.

        It is made page by page, kept for seven days (a setting), and erased with the person.
        """
        export = self._exporting.ask(principal, subject, idempotency_key)
        return Answer(export, HTTPStatus.ACCEPTED)

    @get(
        "/v1/exports/{export_id}",
        scope=Scope.PRIVACY_READ,
        also=(HTTPStatus.ACCEPTED,),
        gives=examples.QUEUED,
        media=(NDJSON, "text/html"),
    )
    def get_export(
        self, principal: Principal, export_id: PathId, query: ExportQuery, html: WantsHtml
    ) -> Answer[Export] | Page:
        """Read an export: 202 and how far it is until it is done, then a page of at most 5 MB.

        A line is a JSON object `{kind, id, provenance, data}`. The header `Next-Cursor` is the `cursor` of the next
        page; the last has none. Every page can be read again.
        """
        page = self._exporting.page(principal, export_id, query.cursor)
        if page.text is None:
            return Answer(page.export, HTTPStatus.ACCEPTED)
        headers = {} if page.next_cursor is None else {NEXT_CURSOR: page.next_cursor}
        if query.format is ExportFormat.HTML or (query.format is None and html):
            secured = {"Content-Security-Policy": report.POLICY, "X-Content-Type-Options": "nosniff"}
            return Page(HTML, _report(page, page.text), {**headers, **secured})
        return Page(NDJSON, page.text, headers)


def _report(page: ExportPage, text: str) -> str:
    """The page as HTML, with as much of each text as fits an answer."""
    records = [read(line) for line in text.split("\n") if line]
    part = f"Page {page.number + 1} of {page.export.pages}." if page.export.pages > 1 else ""
    for shown in _SHOWN:
        made = report.report(records, part=part, shown=shown)
        if len(made.encode()) + made.count('"') + made.count("\n") <= MAX_REPORT:
            break
    return made
