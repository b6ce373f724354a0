"""Each method reaches its route with its body, and answers an entity."""

from __future__ import annotations

import pytest

from client_stub import AT, CLAIM, Stub, answer, claims, graph_json, task_json
from slate.domain.access import Scope
from slate.domain.instants import parse_instant
from slate.domain.tasks import TaskState

KEY = {"key_id": "k1", "agent": "ada", "scopes": ["tasks:read"], "created_at": AT, "created_by": "admin"}

ROUTES = {
    "graph": (lambda c: c.graph("g"), "GET", "/v1/graphs/g", None),
    "events": (lambda c: c.events("g", after=7, limit=5), "GET", "/v1/graphs/g/events", None),
    "cancel_graph": (lambda c: c.cancel_graph("g"), "POST", "/v1/graphs/g/cancel", {}),
    "delete_graph": (lambda c: c.delete_graph("g"), "DELETE", "/v1/graphs/g", None),
    "task": (lambda c: c.task("g", "a:b@c"), "GET", "/v1/graphs/g/tasks/a:b@c", None),
    "heartbeat": (
        lambda c: c.heartbeat(CLAIM, lease_seconds=5, progress=0.5),
        "POST",
        "/v1/graphs/g/tasks/t/heartbeat",
        {"token": "token-t", "lease_seconds": 5, "progress": 0.5},
    ),
    "complete": (
        lambda c: c.complete(CLAIM, "did it", [1], artifacts=["a.txt"]),
        "POST",
        "/v1/graphs/g/tasks/t/complete",
        {"token": "token-t", "action": "did it", "result": [1], "artifacts": ["a.txt"]},
    ),
    "fail": (
        lambda c: c.fail(CLAIM, "broken", retryable=False),
        "POST",
        "/v1/graphs/g/tasks/t/fail",
        {"token": "token-t", "error": "broken", "retryable": False},
    ),
    "wait": (
        lambda c: c.wait(CLAIM, "ok?"),
        "POST",
        "/v1/graphs/g/tasks/t/wait",
        {"token": "token-t", "question": "ok?"},
    ),
    "release": (lambda c: c.release(CLAIM), "POST", "/v1/graphs/g/tasks/t/release", {"token": "token-t"}),
    "resume": (
        lambda c: c.resume("g", "t", "yes", epoch=2),
        "POST",
        "/v1/graphs/g/tasks/t/resume",
        {"answer": "yes", "epoch": 2},
    ),
    "cancel_task": (lambda c: c.cancel_task("g", "t"), "POST", "/v1/graphs/g/tasks/t/cancel", {}),
    "retry": (lambda c: c.retry("g", "t", cascade=True), "POST", "/v1/graphs/g/tasks/t/retry", {"cascade": True}),
    "claim": (
        lambda c: c.claim(["w"], queue="q", max_tasks=3, lease_seconds=9),
        "POST",
        "/v1/claims",
        {"roles": ["w"], "queue": "q", "max": 3, "lease_seconds": 9},
    ),
    "critical_path": (lambda c: c.critical_path("g"), "GET", "/v1/graphs/g/critical-path", None),
    "timeline": (lambda c: list(c.timeline("g")), "GET", "/v1/graphs/g/timeline", None),
    "create_key": (
        lambda c: c.create_key("ada", [Scope.TASKS_READ], roles=["w"], subject="s"),
        "POST",
        "/v1/keys",
        {"agent": "ada", "scopes": ["tasks:read"], "roles": ["w"], "subject": "s"},
    ),
    "revoke_key": (lambda c: c.revoke_key("k1"), "DELETE", "/v1/keys/k1", None),
    "health": (lambda c: c.health(), "GET", "/v1/health", None),
}
ANSWERS = {
    "graph": graph_json("g"),
    "cancel_graph": graph_json("g", state="CANCELLING"),
    "events": {"items": [], "next_after": 7},
    "heartbeat": {"lease_until": AT, "cancel_requested": False},
    "complete": task_json("t", state="DONE", unlocked=["u"]),
    "claim": claims("t"),
    "critical_path": {"graph_id": "g", "by": "total", "at": AT, "worked_ms": 0, "remaining_ms": 0, "tasks": []},
    "timeline": {"items": [], "next_cursor": None},
    "create_key": {**KEY, "key": "slate_acme.k1.s"},
    "health": {"status": "ok"},
}


@pytest.mark.parametrize("name", ROUTES)
def test_a_method_reaches_its_route_with_its_body(name):
    call, method, path, body = ROUTES[name]
    stub = Stub([answer(ANSWERS.get(name, task_json("t")))])
    call(stub.client())
    (request,) = stub.requests
    assert (request.method, request.url.path) == (method, path)
    assert (stub.bodies() if request.content else [None]) == [body]


def test_answers_are_entities_with_instants_in_milliseconds():
    stub = Stub([answer(ANSWERS["complete"]), answer(claims("t")), answer(ANSWERS["create_key"])])
    client = stub.client()
    done = client.complete(CLAIM, "did it")
    assert (done.state, done.unlocked, done.created_at) == (TaskState.DONE, ("u",), parse_instant(AT))
    assert client.claim(["w"])[0].lease_until == parse_instant(AT)
    assert client.create_key("ada", ["tasks:read"]).key == "slate_acme.k1.s"


LISTS = {
    "graphs": (lambda c: c.graphs(), lambda i: graph_json(f"i{i}"), lambda g: g.graph_id),
    "tasks": (
        lambda c: c.tasks("g", state=TaskState.READY, role="w"),
        lambda i: task_json(f"i{i}"),
        lambda t: t.task_id,
    ),
    "keys": (lambda c: c.keys(), lambda i: {**KEY, "key_id": f"i{i}"}, lambda k: k.key_id),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_goes_on_through_empty_pages_until_no_cursor_is_left(name):
    ask, item, id_of = LISTS[name]
    pages = [([item(1), item(2)], "c1"), ([], "c2"), ([item(3)], None)]
    stub = Stub([answer({"items": items, "next_cursor": cursor}) for items, cursor in pages])
    assert [id_of(entity) for entity in ask(stub.client())] == ["i1", "i2", "i3"]
    assert [request.url.params.get("cursor") for request in stub.requests] == [None, "c1", "c2"]
    assert {request.url.params["limit"] for request in stub.requests} == {"200"}
    if name == "tasks":
        assert {(r.url.params["state"], r.url.params["role"]) for r in stub.requests} == {("READY", "w")}


def test_a_follower_goes_on_after_the_last_change_it_was_given():
    def page(*numbers: int):
        made = {"at": AT, "type": "task.ready", "graph_id": "g", "task_id": "t", "state": "READY", "version": 1}
        return answer({"items": [{**made, "seq": n} for n in numbers], "next_after": max(numbers, default=5)})

    stub = Stub([page(4, 5), page(), page(6)])
    followed = stub.client().follow("g", after=3)
    assert [next(followed).seq for _ in range(3)] == [4, 5, 6]
    assert [request.url.params["after"] for request in stub.requests] == ["3", "5", "5"]
    assert {request.url.params["wait_seconds"] for request in stub.requests} == {"20"}


def test_a_page_is_asked_for_only_when_it_is_needed():
    stub = Stub([answer({"items": [graph_json("a"), graph_json("b")], "next_cursor": "c1"})])
    assert next(stub.client().graphs()).graph_id == "a"
    assert len(stub.requests) == 1
