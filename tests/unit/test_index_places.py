"""Every place that an index holds anything of is named once, page after page."""

from __future__ import annotations

from typing import Any

from slate.adapters.opensearch.places import places
from slate.domain.indexed import Kind, Place


class Paged:
    """Answers one place a page, as a composite aggregation does, and keeps what it was asked."""

    def __init__(self, *held: Place) -> None:
        self._held = held
        self.asked: list[dict[str, Any]] = []

    def ask(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        assert (method, path) == ("POST", "slate-memories/_search")
        self.asked.append(body)
        keys = [dict(zip(("tenant", "kind", "scope"), place, strict=True)) for place in self._held]
        after = body["aggs"]["places"]["composite"].get("after")
        rest = keys if after is None else keys[keys.index(after) + 1 :]
        page: dict[str, Any] = {"buckets": [{"key": key, "doc_count": 1} for key in rest[:1]]}
        return {"aggregations": {"places": page | ({"after_key": rest[0]} if rest else {})}}


def test_each_page_goes_on_after_the_last():
    held = (Place("acme", Kind.FACT, "r1"), Place("acme", Kind.TURN, "r1"), Place("globex", Kind.CHUNK, "default"))
    paged = Paged(*held)
    assert tuple(places(paged)) == held  # type: ignore[arg-type]  # it asks, as a transport does
    assert len(paged.asked) == 4
    assert all(body["size"] == 0 and "query" not in body for body in paged.asked)


def test_of_one_tenant_where_it_is_given():
    paged = Paged()
    assert list(places(paged, "acme")) == []  # type: ignore[arg-type]  # as above
    assert paged.asked[0]["query"] == {"bool": {"filter": [{"term": {"tenant": "acme"}}]}}
