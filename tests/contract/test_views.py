"""The views of a whole graph: from stored histories, page by page, and for nobody whom the graph does not concern."""

from __future__ import annotations

import pytest

from contract.world import World, many, task
from slate.domain.access import Principal
from slate.domain.critical_path import PathBy
from slate.domain.errors import Invalid, NotFound, TooLarge
from slate.domain.timeline import TaskTimeline
from slate.service.tasks import viewing
from slate.testing.meter import Meter


def timeline(w: World, limit: int = 200, graph_id: str = "g") -> list[TaskTimeline]:
    rows: list[TaskTimeline] = []
    cursor = None
    while True:
        page = w.slate.viewing.timeline(w.me, graph_id, limit, cursor)
        assert len(page.items) <= limit
        rows += page.items
        cursor = page.next_cursor
        if cursor is None:
            return rows


def worked(w: World, task_id: str, seconds: int) -> None:
    claims = {c.task.task_id: c for c in w.claims(max=10)}
    w.clock.advance(seconds)
    w.complete(claims.pop(task_id))
    for other in claims.values():
        w.release(other)


def test_the_timeline_tells_who_worked_on_what_and_when(w: World) -> None:
    w.graph(task("a", lease_seconds=10), task("b", "a"))
    start = w.clock.now()
    w.claim(w.principal("ann"))
    w.clock.advance(11)
    w.sweep()
    ben = w.principal("ben")
    w.complete(w.claim(ben), by=ben)
    w.claim(ben)
    a, b = timeline(w)
    assert [(s.agent, s.epoch, s.start - start, s.end and s.end - start, s.ended_by) for s in a.spans] == [
        ("ann", 1, 0, 11_000, "lapsed"),
        ("ben", 2, 11_000, 11_000, "completed"),
    ]
    assert (a.graph_id, a.task_id, a.role, a.state) == ("g", "a", "worker", "DONE")
    assert [(s.agent, s.end, s.ended_by) for s in b.spans] == [("ben", None, None)]


def test_the_timeline_is_paged_and_each_task_is_on_one_page(w: World) -> None:
    w.graph(*(task(t) for t in many("t", 7)))
    assert [row.task_id for row in timeline(w, limit=3)] == many("t", 7)
    assert timeline(w, limit=7) == timeline(w, limit=1)
    other = w.slate.viewing.timeline(w.me, "g", 3, None).next_cursor
    w.graph(task("x"), graph_id="other")
    with pytest.raises(Invalid):
        w.slate.viewing.timeline(w.me, "other", 3, other)


def test_the_critical_path_follows_the_work(w: World) -> None:
    w.graph(task("a"), task("b"), task("join", "a", "b"))
    worked(w, "a", 30)
    worked(w, "b", 40)
    by_total = w.slate.viewing.critical_path(w.me, "g", PathBy.TOTAL)
    assert [(s.task_id, s.worked_ms, s.remaining_ms) for s in by_total.tasks] == [("b", 70_000, 0), ("join", 0, 30_000)]
    assert (by_total.worked_ms, by_total.remaining_ms, by_total.at) == (70_000, 30_000, w.clock.now())


def test_what_is_waited_for_is_the_remaining_path(w: World) -> None:
    w.graph(task("a"), task("b", "a"), task("c", "b"), task("other"))
    remaining = w.slate.viewing.critical_path(w.me, "g", PathBy.REMAINING)
    assert [step.task_id for step in remaining.tasks] == ["a", "b", "c"]
    w.work_off()
    assert w.slate.viewing.critical_path(w.me, "g", PathBy.REMAINING).tasks == ()


def test_views_read_outlines_and_open_no_content(w: World) -> None:
    w.graph(*(task(t, input="x" * 90_000) for t in many("t", 3)))
    w.slate.viewing.timeline(w.me, "g", 10, None)
    with Meter(w.dynamodb).measure() as cost:
        w.slate.viewing.critical_path(w.me, "g", PathBy.TOTAL)
    assert (cost.by_operation["Query"].calls, cost.by_operation["BatchGetItem"].calls) == (1, 0)


def test_a_graph_that_is_too_large_for_its_path_is_refused_in_words(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewing, "MAX_TASKS", 3)
    w.graph(*(task(t) for t in many("t", 3)))
    assert w.slate.viewing.critical_path(w.me, "g", PathBy.TOTAL).tasks
    w.add(task("one-more"))
    with pytest.raises(TooLarge, match="timeline"):
        w.slate.viewing.critical_path(w.me, "g", PathBy.TOTAL)


def test_a_deleted_graph_and_another_tenants_have_no_views(w: World) -> None:
    def hidden(who: Principal) -> None:
        with pytest.raises(NotFound):
            w.slate.viewing.timeline(who, "g", 10, None)
        with pytest.raises(NotFound):
            w.slate.viewing.critical_path(who, "g", PathBy.TOTAL)

    w.graph(task("a"))
    hidden(w.principal(tenant="globex"))
    w.delete_graph()
    hidden(w.me)
