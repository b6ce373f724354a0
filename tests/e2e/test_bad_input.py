"""Bad input is a 4xx problem that names every offending field; nothing is stored."""

from __future__ import annotations

import json

import pytest

T = {"task_id": "a", "title": "a", "role": "w"}
PARENTS = [{**T, "task_id": f"p{i}"} for i in range(251)]

BAD_GRAPHS = {
    "unknown field": ({"goal": "x", "tasks": [T], "surprise": 1}, 422, ["surprise"]),
    "unknown field of a task": ({"goal": "x", "tasks": [{**T, "surprise": 1}]}, 422, ["tasks[0].surprise"]),
    "nothing": ({}, 422, ["goal", "tasks"]),
    "wrong types": ({"goal": 7, "tasks": "a", "more": "yes"}, 422, ["goal", "tasks", "more"]),
    "no task": ({"goal": "x", "tasks": [7, None]}, 422, ["tasks[0]", "tasks[1]"]),
    "id with the separator": ({"goal": "x", "graph_id": "a#b", "tasks": [T]}, 422, ["graph_id"]),
    "id of 129": ({"goal": "x", "tasks": [{**T, "task_id": "a" * 129}]}, 422, ["tasks[0].task_id"]),
    "id with a line end": ({"goal": "x", "tasks": [{**T, "task_id": "a\n"}]}, 422, ["tasks[0].task_id"]),
    "id of Arabic digits": ({"goal": "x", "tasks": [{**T, "task_id": "١٢"}]}, 422, ["tasks[0].task_id"]),
    "empty id": ({"goal": "x", "graph_id": "", "tasks": [T]}, 422, ["graph_id"]),
    "task twice": ({"goal": "x", "tasks": [T, T]}, 422, ["tasks[1].task_id"]),
    "missing parents": (
        {"goal": "x", "tasks": [{**T, "depends_on": ["b", {"task_id": "c"}]}]},
        422,
        ["tasks[0].depends_on[0]", "tasks[0].depends_on[1]"],
    ),
    "parent twice": (
        {"goal": "x", "tasks": [T, {**T, "task_id": "b", "depends_on": ["a", "a"]}]},
        422,
        ["tasks[1].depends_on"],
    ),
    "251 dependencies": (
        {"goal": "x", "tasks": [*PARENTS, {**T, "depends_on": [p["task_id"] for p in PARENTS]}]},
        422,
        ["tasks[251].depends_on"],
    ),
    "negative lease": ({"goal": "x", "tasks": [{**T, "lease_seconds": -1}]}, 422, ["tasks[0].lease_seconds"]),
    "lease of a text": ({"goal": "x", "tasks": [{**T, "lease_seconds": "60"}]}, 422, ["tasks[0].lease_seconds"]),
    "priority of true": ({"goal": "x", "tasks": [{**T, "priority": True}]}, 422, ["tasks[0].priority"]),
    "1,001 tasks": ({"goal": "x", "tasks": [{**T, "task_id": f"t{i}"} for i in range(1_001)]}, 422, ["tasks"]),
    "itself": ({"goal": "x", "tasks": [{**T, "depends_on": ["a"]}]}, 409, None),
    "a cycle": (
        {"goal": "x", "tasks": [{**T, "depends_on": ["b"]}, {**T, "task_id": "b", "depends_on": ["a"]}]},
        409,
        None,
    ),
}

BAD_BODIES = {
    "broken json": b'{"goal": ',
    "not utf-8": b'{"goal": "\xff\xfe", "tasks": []}',
    "a lone surrogate": b'{"goal": "\\ud800", "tasks": []}',
    "NaN": b'{"goal": "x", "tasks": [{"task_id":"a","title":"a","role":"w","input":NaN}]}',
    "infinite once read": b'{"goal": "x", "tasks": [{"task_id":"a","title":"a","role":"w","input":1e999}]}',
    "a list": b"[]",
    "deep": b'{"goal":"x","tasks":' + b"[" * 3_000 + b"]" * 3_000 + b"}",
    "deep input": b'{"goal":"x","tasks":[{"task_id":"a","title":"a","role":"w","input":'
    + b"[" * 150
    + b"]" * 150
    + b"}]}",
}


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_a_bad_graph_is_refused_with_every_offending_field_and_nothing_is_stored(acme, uid, name):
    body, status, fields = BAD_GRAPHS[name]
    reply = acme.ask("POST", "/v1/graphs", {"graph_id": f"g-{uid}", **body})
    assert reply.status == status, reply.text
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert fields is None or sorted(reply.fields) == sorted(fields)
    acme.get(f"/v1/graphs/g-{uid}", expect=404)
    assert acme.post("/v1/claims", {"roles": ["w"]})["claims"] == []


@pytest.mark.parametrize("name", BAD_BODIES)
@pytest.mark.parametrize("path", ["/v1/graphs", "/v1/graphs/g/tasks", "/v1/claims", "/v1/keys", "/v1/graphs/g/cancel"])
def test_a_body_that_is_no_sound_object_is_malformed_on_every_route(acme, name, path):
    reply = acme.ask("POST", path, raw=BAD_BODIES[name])
    assert (reply.status, reply.json["code"]) == (400, "malformed")


@pytest.mark.parametrize("size", [1_000_001, 2_000_000, 7_000_000])
def test_a_body_over_the_limit_is_413(acme, size):
    reply = acme.ask("POST", "/v1/graphs", raw=b'{"goal": "' + b"x" * (size - 12) + b'"}')
    assert (reply.status, reply.json["code"]) == (413, "too_large")


def test_a_body_of_nothing_but_unknown_fields_is_refused_within_an_answers_size(acme):
    body = {f"f{i}": 1 for i in range(70_000)}
    reply = acme.ask("POST", "/v1/graphs", body)
    assert reply.status == 422
    assert len(reply.text) < 200_000
    assert "more fields" in reply.json["errors"][-1]["message"]


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("limit=0", ["limit"]),
        ("limit=201", ["limit"]),
        ("limit=ten", ["limit"]),
        ("limit=", ["limit"]),
        ("cursor=", ["cursor"]),
        ("cursor=nonsense", ["cursor"]),
        ("offset=1&page=2", ["offset", "page"]),
        ("limit=1&limit=2", ["limit"]),
        ("subject=a%23b", ["subject"]),
    ],
)
def test_a_wrong_parameter_of_a_list_is_named(acme, query, fields):
    reply = acme.ask("GET", f"/v1/graphs?{query}")
    assert (reply.status, reply.fields) == (422, fields)


@pytest.mark.parametrize("query", ["state=done", "state=DONE,FAILED", "role=a%20b"])
def test_a_wrong_filter_of_tasks_is_named(acme, uid, query):
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": "x", "tasks": [T]}, expect=201)
    reply = acme.ask("GET", f"/v1/graphs/g-{uid}/tasks?{query}")
    assert (reply.status, reply.fields) == (422, [query.partition("=")[0]])


@pytest.mark.parametrize("name", ["a%23b", "a" * 129, "%20", ".a", "a%00b", "%D9%A1"])
def test_an_id_in_the_path_that_can_be_no_id_is_named(acme, name):
    reply = acme.ask("GET", f"/v1/graphs/{name}")
    assert (reply.status, reply.fields) == (422, ["graph_id"])


@pytest.mark.parametrize(("method", "path"), [("POST", "cancel"), ("DELETE", "")])
def test_a_wrong_if_match_is_named_and_changes_nothing(acme, uid, method, path):
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": "x", "tasks": [T]}, expect=201)
    reply = acme.ask(method, f"/v1/graphs/g-{uid}/{path}", headers={"If-Match": "the latest"})
    assert (reply.status, reply.fields) == (422, ["If-Match"])
    assert acme.get(f"/v1/graphs/g-{uid}")["state"] == "ACTIVE"


@pytest.mark.parametrize("key", ["", "k" * 201, "a\tb"])
def test_a_wrong_idempotency_key_is_named(acme, key):
    reply = acme.ask("POST", "/v1/claims", {"roles": ["w"]}, headers={"Idempotency-Key": key})
    assert (reply.status, reply.fields) == (422, ["Idempotency-Key"])


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["roles"]),
        ({"roles": []}, ["roles"]),
        ({"roles": ["w"] * 21}, ["roles"]),
        ({"roles": ["w"], "max": 0}, ["max"]),
        ({"roles": ["w"], "max": 101}, ["max"]),
        ({"roles": ["w"], "lease_seconds": -1}, ["lease_seconds"]),
        ({"roles": ["w"], "lease_seconds": 86_401}, ["lease_seconds"]),
        ({"roles": "w", "queue": "a b"}, ["roles", "queue"]),
    ],
)
def test_a_wrong_claim_is_refused(acme, body, fields):
    reply = acme.ask("POST", "/v1/claims", body)
    assert (reply.status, reply.fields) == (422, fields)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"agent": "a"}, ["scopes"]),
        ({"agent": "a", "scopes": []}, ["scopes"]),
        ({"agent": "a", "scopes": ["everything"]}, ["scopes[0]"]),
        ({"agent": "a b", "scopes": ["admin"], "tenant": "globex"}, ["agent", "tenant"]),
    ],
)
def test_a_wrong_key_is_refused(acme, body, fields):
    reply = acme.ask("POST", "/v1/keys", body)
    assert (reply.status, reply.fields) == (422, fields)


def test_content_as_deep_as_is_taken_comes_back_as_it_was(acme, uid):
    deep = json.loads("[" * 96 + "]" * 96)
    task = {**T, "role": f"r-{uid}", "input": deep}
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": "x", "tasks": [task]}, expect=201)
    [claim] = acme.post("/v1/claims", {"roles": [f"r-{uid}"]})["claims"]
    assert claim["task"]["input"] == deep
    deepest = json.loads("[" * 98 + "]" * 98)
    body = {"token": claim["token"], "action": "done", "result": deepest, "artifacts": []}
    done = acme.post(f"/v1/graphs/g-{uid}/tasks/a/complete", body)
    assert done["result"] == deepest
    assert acme.get(f"/v1/graphs/g-{uid}/tasks/a")["result"] == deepest


@pytest.mark.parametrize("goal", ["\u0000", "\ufffe\uffff", "🂡" * 100, "a\u202eb", "e\u0301", " "])
def test_any_text_that_json_carries_comes_back_as_it_was(acme, uid, goal):
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": goal, "tasks": [T]}, expect=201)
    assert acme.get(f"/v1/graphs/g-{uid}")["goal"] == goal


@pytest.mark.parametrize("number", [2**70, -(2**63), 10**300, 1.7976931348623157e308, 5e-324, -0.0, 0.1])
def test_any_number_that_json_carries_comes_back_as_it_was(acme, uid, number):
    task = {**T, "input": {"n": number}}
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": "x", "tasks": [task]}, expect=201)
    assert acme.get(f"/v1/graphs/g-{uid}/tasks/a")["input"]["n"] == number
