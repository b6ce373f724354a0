"""An export as a page for people: whatever stands in it, the page stays a page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

from slate.domain.exporting.export import Export
from slate.domain.exporting.records import Provenance, Record, ending, opening, read
from slate.domain.exporting.report import POLICY, report

EXPORT = Export(export_id="export-1", subject="u-1", agent="ann", created_at=0, updated_at=0, expires_at=1)
NASTY = "</style></p><script>alert(1)</script><img src=x onerror=\"alert('2')\" style='x'>&amp;"


class Page(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[tuple[str, str | None]] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def record(kind: str, data: dict[str, Any], **made: Any) -> Record:
    return Record(kind=kind, id="1", provenance=Provenance(store="facts", **made), data=data)


def test_no_text_of_a_caller_becomes_anything_but_text() -> None:
    nasty = [
        record("fact", {"statement": NASTY, NASTY: [{NASTY: NASTY}], "state": NASTY}, source=NASTY, agent=NASTY),
        record("turn", {"content": NASTY, "role": NASTY}, session=NASTY),
        record("task", {"title": NASTY, "input": {NASTY: NASTY}}, graph=NASTY),
    ]
    subject = EXPORT.model_copy(update={"subject": NASTY})
    page = Page(report([opening(subject), *nasty, ending(EXPORT, {"fact": 1})]))
    assert not {"script", "img", "a", "link", "iframe", "form"} & set(page.tags)
    assert page.tags.count("style") == 1
    assert {name for name, _ in page.attributes} == {"lang", "charset", "http-equiv", "content", "name"}
    assert ("content", POLICY) in page.attributes
    assert sum(text == NASTY for text in page.texts) >= 5


def test_each_session_is_told_by_itself_its_head_before_its_turns() -> None:
    said = [record("turn", {"content": f"said {s}", "role": "user"}, session=s, seq=1) for s in ("s-1", "s-2")]
    heads = [record("session", {"window": 7}, session=s) for s in ("s-1", "s-2")]
    texts = " ".join(Page(report([*said, *heads])).texts)
    assert (
        texts.index("Session s-1") < texts.index("The session") < texts.index("said s-1") < texts.index("Session s-2")
    )
    assert "from session s-1, turn 1" in texts


def test_a_long_text_is_shortened_and_says_so() -> None:
    page = report([record("fact", {"statement": "<" * 500})], shown=100)
    assert "&lt;" * 101 not in page
    assert "400 characters more in the NDJSON" in page


def test_a_line_is_one_line_whatever_ends_a_line_elsewhere() -> None:
    told = record("fact", {"statement": "a\u2028b\u2029c\x85d\ne\x0bf"})
    line = told.line()
    assert line.splitlines() == [line]
    assert read(line) == told
    assert json.loads(line)["provenance"] == {"store": "facts"}, "what is not known is left out"
