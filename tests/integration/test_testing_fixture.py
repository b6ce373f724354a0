"""The fixture that comes with the package: what a user's own tests rely on."""

import pytest

from slate.domain.errors import LeaseLost, NotFound, ScopeMissing

GRAPH = {"graph_id": "g", "goal": "g", "tasks": [{"task_id": "a", "title": "a", "role": "writer"}]}


def test_a_crashed_worker_loses_nothing(fresh_slate):
    fresh_slate.client("planner").create_graph(**GRAPH)
    first, second = fresh_slate.client("w1"), fresh_slate.client("w2")
    (claim,) = first.claim(["writer"])
    fresh_slate.advance(61)
    (again,) = second.claim(["writer"])
    assert again.epoch == claim.epoch + 1
    with pytest.raises(LeaseLost):
        first.complete(claim, "late")
    second.complete(again, "done")
    assert second.task("g", "a").agent == "w2"


@pytest.mark.parametrize("graph_id", ["first", "second"])
def test_each_test_starts_empty(fresh_slate, graph_id):
    client = fresh_slate.client()
    assert list(client.graphs()) == []
    client.create_graph(**{**GRAPH, "graph_id": graph_id})


def test_a_flow_is_counted_in_calls_and_units(fresh_slate):
    planner, worker = fresh_slate.client("planner"), fresh_slate.client("w1")
    planner.create_graph(**GRAPH)
    worker.graph("g")
    with fresh_slate.meter() as cost:
        worker.graph("g")
    assert cost.calls == 3
    assert (cost.reads, cost.writes) == (3, 0)


def test_a_key_reaches_what_it_was_made_for(fresh_slate):
    fresh_slate.client().create_graph(**GRAPH)
    with pytest.raises(ScopeMissing, match="tasks:write"):
        fresh_slate.client("reader", scopes=["tasks:read"]).create_graph(**GRAPH)
    with pytest.raises(NotFound):
        fresh_slate.client(tenant="globex").graph("g")
    with pytest.raises(NotFound):
        fresh_slate.client("console", subject="ann").graph("g")


def test_raw_requests_go_the_same_way(fresh_slate):
    response = fresh_slate.http().post("/v1/graphs", json={"goal": 7, "tasks": []})
    assert response.status_code == 422
    assert response.headers["content-type"].startswith("application/problem+json")
