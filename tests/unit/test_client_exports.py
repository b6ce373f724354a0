"""The client's exports: waited for, read page by page, and never an endless wait."""

from __future__ import annotations

import httpx
import pytest

from client_stub import AT, Stub, answer, problem
from slate.domain.errors import NotFound, Unavailable
from slate.domain.exporting.export import ExportState
from slate.domain.exporting.records import Provenance, Record

EXPORT = {
    "export_id": "export-1",
    "subject": "u-1",
    "agent": "ann",
    "state": "queued",
    "created_at": AT,
    "updated_at": AT,
    "expires_at": AT,
}


def page(*names: str, cursor: str | None = None) -> httpx.Response:
    lines = [Record(kind="fact", id=name, provenance=Provenance(store="facts"), data={}).line() for name in names]
    headers = {"Content-Type": "application/x-ndjson"} | ({} if cursor is None else {"Next-Cursor": cursor})
    return httpx.Response(200, text="\n".join(lines) + "\n", headers=headers)


def test_it_is_asked_for_once_however_often_the_call_is_sent() -> None:
    stub = Stub([503, answer(EXPORT, 202)])
    assert stub.client().exports.start("u-1").state is ExportState.QUEUED
    assert [request.url.path for request in stub.requests] == ["/v1/subjects/u-1/export"] * 2
    assert len({request.headers["Idempotency-Key"] for request in stub.requests}) == 1


def test_lines_are_read_page_by_page_once_it_is_done() -> None:
    stub = Stub([answer(EXPORT, 202), answer(EXPORT, 202), page("a", "b", cursor="next"), 503, page("c")])
    assert [record.id for record in stub.client().exports.lines("export-1")] == ["a", "b", "c"]
    assert stub.slept[:2] == [1.0, 1.0]
    assert stub.requests[-1].url.params["cursor"] == "next"
    assert stub.requests[0].headers["Accept"] == "application/x-ndjson"


def test_what_takes_too_long_is_given_up_and_can_be_read_later() -> None:
    stub = Stub([answer(EXPORT, 202)] * 3)
    with pytest.raises(Unavailable, match="export-1"):
        list(stub.client().exports.texts("export-1", patience_seconds=2))


def test_a_refusal_is_the_error_that_it_names() -> None:
    with pytest.raises(NotFound):
        Stub([problem("not_found", "no")]).client().exports.page("export-1")
