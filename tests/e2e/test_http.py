"""What every client of an HTTP API relies on: statuses, versions, repeats, pages."""

from __future__ import annotations

import pytest

from slate_app import Api

T = {"task_id": "a", "title": "a", "role": "w"}


@pytest.fixture
def graph(acme, uid):
    return acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": "x", "tasks": [T]}, expect=201)


def path_of(graph, rest=""):
    return f"/v1/graphs/{graph['graph_id']}{rest}"


def test_a_graph_is_created_with_201_and_is_the_same_again_with_200(acme, uid):
    body = {"graph_id": f"g-{uid}", "goal": "x", "tasks": [T]}
    replies = [acme.ask("POST", "/v1/graphs", body) for _ in range(2)]
    assert [reply.status for reply in replies] == [201, 200]
    assert replies[0].json["graph_id"] == replies[1].json["graph_id"] == f"g-{uid}"


def test_an_entity_answers_its_version_as_etag(acme, graph):
    for path in (path_of(graph), path_of(graph, "/tasks/a")):
        reply = acme.ask("GET", path)
        assert reply.headers["ETag"] == f'"{reply.json["version"]}"'


def test_a_list_has_no_etag(acme):
    assert "ETag" not in acme.ask("GET", "/v1/graphs").headers


def test_a_change_meant_for_an_older_version_is_412_with_the_entity_as_it_is(acme, graph):
    reply = acme.ask("POST", path_of(graph, "/tasks/a/cancel"), headers={"If-Match": '"999"'})
    assert (reply.status, reply.json["code"]) == (412, "version_mismatch")
    assert reply.json["current"] == acme.get(path_of(graph, "/tasks/a"))
    stale = acme.ask("POST", path_of(graph, "/cancel"), headers={"If-Match": '"999"'})
    assert (stale.status, stale.json["current"]["version"]) == (412, graph["version"])
    assert acme.ask("DELETE", path_of(graph), headers={"If-Match": '"999"'}).status == 412


@pytest.mark.parametrize("if_match", ["own", "*", None])
def test_a_change_meant_for_this_version_or_any_is_made(acme, graph, if_match):
    task = acme.ask("GET", path_of(graph, "/tasks/a"))
    wanted = {"own": task.headers["ETag"]}.get(if_match, if_match)
    headers = {} if wanted is None else {"If-Match": wanted}
    changed = acme.ask("POST", path_of(graph, "/tasks/a/cancel"), headers=headers)
    assert (changed.status, changed.json["state"]) == (200, "CANCELLED")
    assert changed.headers["ETag"] != task.headers["ETag"]


@pytest.mark.parametrize("raw", [b"", b"{}"])
def test_a_post_that_needs_no_body_takes_none_or_an_empty_object(acme, graph, raw):
    assert acme.ask("POST", path_of(graph, "/cancel"), raw=raw).status == 202


def test_a_post_that_needs_no_body_refuses_one_that_says_something(acme, graph):
    reply = acme.ask("POST", path_of(graph, "/cancel"), {"why": "because"})
    assert (reply.status, reply.fields) == (422, ["why"])


def test_delete_and_cancel_of_a_graph_are_accepted(acme, graph):
    assert acme.ask("POST", path_of(graph, "/cancel")).status == 202
    gone = acme.ask("DELETE", path_of(graph))
    assert (gone.status, gone.text) == (202, "")
    assert acme.ask("GET", path_of(graph)).status == 404


def test_head_tells_whether_an_entity_is_there_and_its_version(acme, graph):
    there, not_there = acme.ask("HEAD", path_of(graph)), acme.ask("HEAD", path_of(graph, "-not"))
    assert (there.status, there.text) == (200, "")
    assert there.headers["ETag"] == f'"{graph["version"]}"'
    assert (not_there.status, not_there.text) == (404, "")


def test_an_id_may_be_percent_encoded_in_the_path(acme, uid):
    name = f"a.b_c@d:e-{uid}"
    acme.post("/v1/graphs", {"graph_id": name, "goal": "x", "tasks": [T]}, expect=201)
    encoded = name.replace("@", "%40").replace(":", "%3A")
    assert acme.get(f"/v1/graphs/{encoded}")["graph_id"] == name


def test_pages_reach_every_item_once(acme, uid):
    tasks = [{**T, "task_id": f"t{i:02}"} for i in range(23)]
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": "x", "tasks": tasks}, expect=201)
    seen, cursor, pages = [], "", 0
    while cursor is not None:
        page = acme.get(f"/v1/graphs/g-{uid}/tasks?limit=5" + (f"&cursor={cursor}" if cursor else ""))
        assert len(page["items"]) <= 5
        seen += [task["task_id"] for task in page["items"]]
        cursor, pages = page["next_cursor"], pages + 1
    assert sorted(seen) == [task["task_id"] for task in tasks]
    assert pages >= 5


def test_a_cursor_of_another_list_or_tenant_is_refused(acme, globex, uid):
    tasks = [{**T, "task_id": f"t{i}"} for i in range(3)]
    for name in (f"g-{uid}", f"h-{uid}"):
        acme.post("/v1/graphs", {"graph_id": name, "goal": "x", "tasks": tasks}, expect=201)
    cursor = acme.get(f"/v1/graphs/g-{uid}/tasks?limit=1")["next_cursor"]
    for api, path in ((acme, f"/v1/graphs/h-{uid}/tasks"), (acme, "/v1/graphs"), (globex, "/v1/graphs")):
        reply = api.ask("GET", f"{path}?cursor={cursor}")
        assert (reply.status, reply.fields) == (422, ["cursor"])


def test_tasks_are_listed_by_state_and_role(acme, uid):
    tasks = [T, {**T, "task_id": "b", "depends_on": ["a"]}, {**T, "task_id": "c", "role": "v"}]
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": "x", "tasks": tasks}, expect=201)

    def listed(query: str) -> list[str]:
        return sorted(task["task_id"] for task in acme.get(f"/v1/graphs/g-{uid}/tasks?{query}")["items"])

    assert listed("state=READY") == ["a", "c"]
    assert listed("role=w") == ["a", "b"]
    assert listed("state=READY&role=w") == ["a"]
    assert listed("state=DONE") == []


def test_graphs_are_listed_by_the_person_they_are_about(acme, uid):
    for name in ("ann", "ben"):
        body = {"graph_id": f"{name}-{uid}", "goal": "x", "subject": f"{name}-{uid}", "tasks": [T]}
        acme.post("/v1/graphs", body, expect=201)
    items = acme.get(f"/v1/graphs?subject=ann-{uid}")["items"]
    assert [graph["graph_id"] for graph in items] == [f"ann-{uid}"]


def test_the_same_claim_under_one_idempotency_key_is_one_claim(acme, uid):
    tasks = [{**T, "task_id": f"t{i}", "role": f"r-{uid}"} for i in range(2)]
    acme.post("/v1/graphs", {"goal": "x", "tasks": tasks}, expect=201)
    key = {"Idempotency-Key": f"k-{uid}"}
    once, again = (acme.post("/v1/claims", {"roles": [f"r-{uid}"]}, headers=key)["claims"] for _ in range(2))
    assert [claim["token"] for claim in once] == [claim["token"] for claim in again]
    other = acme.ask("POST", "/v1/claims", {"roles": [f"r-{uid}"], "max": 2}, headers=key)
    assert (other.status, other.json["code"]) == (422, "invalid")


def test_times_are_rfc_3339_in_utc_with_milliseconds(graph):
    assert len(graph["created_at"]) == len("2026-11-30T12:00:00.000Z")
    assert graph["created_at"].endswith("Z")


def test_the_service_says_that_it_is_there(service):
    assert Api(service, None).get("/v1/health")["status"] == "ok"


def test_time_moves_only_when_it_is_moved_and_what_falls_due_is_done(acme, uid):
    task = {**T, "role": f"r-{uid}", "lease_seconds": 10}
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", "goal": "x", "tasks": [task]}, expect=201)
    assert len(acme.post("/v1/claims", {"roles": [f"r-{uid}"]})["claims"]) == 1
    before = acme.post("/_local/clock", {"advance_seconds": 0})["now"]
    assert acme.post("/_local/clock", {"advance_seconds": 0})["now"] == before
    assert acme.post("/_local/clock", {"advance_seconds": 10.5})["now"] > before
    assert acme.get(f"/v1/graphs/g-{uid}/tasks/a")["state"] == "READY"
    assert acme.post("/_local/drain") == {"processed": 0}


@pytest.mark.parametrize("body", [{}, {"advance_seconds": -1}, {"advance_seconds": "1"}, {"advance_seconds": 1e99}])
def test_time_does_not_go_back_nor_anywhere_else(acme, body):
    reply = acme.ask("POST", "/_local/clock", body)
    assert (reply.status, reply.fields) == (422, ["advance_seconds"])
