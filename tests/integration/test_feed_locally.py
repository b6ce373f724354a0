"""The feed of a local Slate, through its own drain: also where the stream no longer keeps what nobody has read."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from slate.domain.feed import WAIT_MS
from slate.testing.in_process import InProcessSlate


def many(count: int, role: str = "r"):
    return [{"task_id": f"t{i}", "title": "t", "role": role} for i in range(count)]


def told(client, graph_id: str) -> list[str]:
    after, types = 0, list[str]()
    while (page := client.events(graph_id, after=after, limit=50)).items:
        types += [entry.type for entry in page.items]
        after = page.next_after
    assert after == len(types)
    return types


def test_a_drain_brings_the_feed_up_to_date_and_then_has_nothing_to_do(fresh_slate):
    client = fresh_slate.client()
    client.create_graph("a goal", many(2), graph_id="g")
    assert told(client, "g") == []
    assert fresh_slate.drain() >= 3
    assert fresh_slate.drain() == 0
    assert told(client, "g") == ["graph.created", "task.ready", "task.ready"]


def test_moving_the_clock_brings_it_up_to_date_with_what_fell_due(fresh_slate):
    client = fresh_slate.client()
    client.create_graph("a goal", many(1), graph_id="g")
    client.claim(["r"])
    fresh_slate.advance(61)
    assert told(client, "g")[1:] == ["task.ready", "task.claimed", "task.ready"]


def test_a_stream_that_forgot_leaves_gaps_and_right_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("slate.adapters.inprocess.moto_engine.STREAM_RECORDS", 60)
    with InProcessSlate() as slate:
        client = slate.client()
        client.create_graph("a goal", many(50), graph_id="g")
        for claim in client.claim(["r"], max_tasks=5):
            client.complete(claim, "done")
        slate.drain()
        slate.advance(WAIT_MS / 1000)
        slate.advance(WAIT_MS / 1000)
        types = Counter(told(client, "g"))
        assert types["gap"] > 0
        assert types["task.completed"] == 5
        assert types["task.ready"] == 45
        monkeypatch.setattr("slate.adapters.dynamodb.graph_store.EXACT_TASKS", 0)
        counts = client.graph("g").counts
        assert (counts.ready, counts.done, counts.total) == (45, 5, 50)


def test_who_waits_for_a_graph_that_is_deleted_meanwhile_is_told_so(fresh_slate):
    fresh_slate.client().create_graph("a goal", many(1), graph_id="g")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(fresh_slate.http().get, "/v1/graphs/g/events?after=99&wait_seconds=0.3")
        time.sleep(0.05)
        assert fresh_slate.http().delete("/v1/graphs/g").status_code == 202
        assert waiting.result().status_code == 404


@pytest.mark.parametrize(("asked", "status"), [("holds", 423), ("erasures", 410)])
def test_who_waits_while_the_graphs_person_is_held_or_erased_is_served_nothing_more(fresh_slate, asked, status):
    fresh_slate.client().create_graph("a goal", many(1), graph_id="g", subject="u-1")
    fresh_slate.drain()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(fresh_slate.http().get, "/v1/graphs/g/events?after=99&wait_seconds=0.3")
        time.sleep(0.05)
        fresh_slate.http().post(f"/v1/{asked}", json={"subject": "u-1", "reason": "asked for"})
        assert waiting.result().status_code == status


def test_wrong_questions_are_refused_in_words(fresh_slate):
    http = fresh_slate.http()
    fresh_slate.client().create_graph("a goal", many(1), graph_id="g")
    for query, field in (
        ("after=-1", "after"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("wait_seconds=21", "wait_seconds"),
    ):
        answer = http.get(f"/v1/graphs/g/events?{query}")
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    assert http.get("/v1/graphs/nowhere/events").status_code == 404
    assert fresh_slate.http(tenant="globex").get("/v1/graphs/g/events").status_code == 404
    assert fresh_slate.http(scopes=["memory:read"]).get("/v1/graphs/g/events").status_code == 403
