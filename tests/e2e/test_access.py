"""Every route asks for its scope, knows its tenant, and says nothing to anybody else; found by walking the routes."""

from __future__ import annotations

import re

import pytest

from slate.domain.access import Scope
from slate_app import Api
from slate_functions.http.routes import declarations
from slate_functions.local.openapi import GROUPS

ROUTES = [declared for group in GROUPS for _, declared in declarations(group)]
GUARDED = [route for route in ROUTES if not route.public]
ABOUT_A_GRAPH = [route for route in ROUTES if "{graph_id}" in route.path]


def each(routes):
    return pytest.mark.parametrize("route", routes, ids=lambda route: route.key)


def ask(api, route, token=None, **ids):
    """Call a route with its own example of a body, or with this token in it."""
    path = re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1], "nothing"), route.path)
    body = route.sends
    if token is not None and body is not None and "token" in body:
        body = {**body, "token": token}
    return api.ask(route.method, path, body)


@pytest.fixture(scope="module")
def ticket(service):
    """A graph of acme's, one task of it claimed."""
    acme = Api(service, service.keys["acme"])
    task = {"task_id": "t", "title": "SECRET", "role": "r"}
    acme.post("/v1/graphs", {"graph_id": "ticket", "goal": "SECRET", "tasks": [task]}, expect=201)
    return acme.post("/v1/claims", {"roles": ["r"]})["claims"][0]


@pytest.fixture(scope="module")
def keys(service):
    """For each scope, a key that has all of the others."""
    acme = Api(service, service.keys["acme"])
    return {scope: acme.with_key(*(other for other in Scope if other is not scope)) for scope in Scope}


@each(GUARDED)
def test_without_a_key_every_route_is_401(service, route):
    reply = ask(Api(service, None), route)
    assert (reply.status, reply.json["code"]) == (401, "unauthenticated")
    assert reply.headers["Content-Type"] == "application/problem+json"


@each(GUARDED)
@pytest.mark.usefixtures("ticket")
def test_with_all_scopes_but_its_own_every_route_is_403_and_names_it(keys, route):
    reply = ask(keys[route.scope], route, graph_id="ticket", task_id="t")
    assert (reply.status, reply.json["code"], reply.json["scope"]) == (403, "scope_missing", route.scope.value)
    assert "SECRET" not in reply.text


@each(ABOUT_A_GRAPH)
def test_another_tenants_graph_is_404_on_every_route(globex, ticket, route):
    reply = ask(globex, route, token=ticket["token"], graph_id="ticket", task_id="t")
    assert (reply.status, reply.json["code"]) == (404, "not_found"), reply.text
    assert "SECRET" not in reply.text


def test_nothing_that_another_tenant_tried_changed_the_graph(acme, ticket):
    task = acme.get("/v1/graphs/ticket/tasks/t")
    assert (task["state"], task["version"]) == ("RUNNING", ticket["task"]["version"])


@each(ABOUT_A_GRAPH)
def test_a_graph_that_is_not_there_is_404_on_every_route(acme, route):
    reply = ask(acme, route)
    assert (reply.status, reply.json["code"]) == (404, "not_found"), reply.text


@each([route for route in ROUTES if route.public])
def test_what_is_public_is_open_without_a_key(service, route):
    assert ask(Api(service, None), route).status == 200


@each(GUARDED)
def test_every_guarded_route_stands_on_the_running_server(route, acme):
    assert acme.ask("PROPFIND", re.sub(r"\{\w+\}", "x", route.path)).status == 405


@pytest.mark.parametrize(
    "credential",
    [
        "nonsense",
        "slate_acme",
        "slate_acme.k-1",
        "slate_acme.k-1.x",
        "slate_.k.s",
        "slate_acme#.k.s",
        "",
        "é",
        "slate_acme.k#1.s",
    ],
)
def test_what_is_no_key_is_401(service, credential):
    assert Api(service, credential).ask("GET", "/v1/graphs").status == 401


def test_a_key_of_one_tenant_is_none_of_another(service):
    stolen = service.keys["acme"].replace("slate_acme.", "slate_globex.")
    assert Api(service, stolen).ask("GET", "/v1/graphs").status == 401


def test_the_scheme_of_the_header_may_be_written_in_any_case(service):
    headers = {"AUTHORIZATION": f"bEaReR {service.keys['acme']}"}
    assert Api(service, None).ask("GET", "/v1/graphs", headers=headers).status == 200


def test_a_revoked_key_opens_nothing_once_its_decision_has_lapsed(service, acme):
    made = acme.post("/v1/keys", {"agent": "gone", "scopes": ["tasks:read"]}, expect=201)
    gone = Api(service, made["key"])
    gone.get("/v1/graphs")
    reply = acme.ask("DELETE", f"/v1/keys/{made['key_id']}")
    assert reply.status == 200
    assert reply.json["revoked_at"] is not None
    service.advance(61)
    assert gone.ask("GET", "/v1/graphs").status == 401


def test_a_key_is_shown_once(acme):
    made = acme.post("/v1/keys", {"agent": "once", "scopes": ["tasks:read"]}, expect=201)
    listed = acme.ask("GET", "/v1/keys?limit=200")
    assert made["key_id"] in listed.text
    assert made["key"].rpartition(".")[2] not in listed.text


def test_a_key_made_twice_under_one_idempotency_key_is_one_key(acme, uid):
    body = {"agent": "twice", "scopes": ["tasks:read"]}
    once, again = (acme.post("/v1/keys", body, expect=201, headers={"Idempotency-Key": uid}) for _ in range(2))
    assert once == again


def test_a_key_bound_to_roles_claims_for_no_other(acme):
    worker = acme.with_key("tasks:write", roles=["painter"])
    reply = worker.ask("POST", "/v1/claims", {"roles": ["painter", "plumber"]})
    assert (reply.status, reply.json["code"], reply.json["role"]) == (403, "role_missing", "plumber")
    assert worker.post("/v1/claims", {"roles": ["painter"]}) == {"claims": []}


def test_a_key_bound_to_a_person_sees_no_graph_of_another(acme, uid):
    task = {"task_id": "t", "title": "SECRET", "role": f"r-{uid}"}
    body = {"goal": "SECRET", "subject": f"u-{uid}", "tasks": [task]}
    acme.post("/v1/graphs", {"graph_id": f"g-{uid}", **body}, expect=201)
    [claim] = acme.post("/v1/claims", {"roles": [f"r-{uid}"]})["claims"]
    other = acme.with_key("tasks:read", "tasks:write", subject=f"other-{uid}")
    for route in ABOUT_A_GRAPH:
        reply = ask(other, route, token=claim["token"], graph_id=f"g-{uid}", task_id="t")
        assert reply.status == 404, route.key
        assert "SECRET" not in reply.text
    assert f"g-{uid}" not in other.ask("GET", "/v1/graphs").text
    assert other.post("/v1/claims", {"roles": [f"r-{uid}"]}) == {"claims": []}
    own = acme.with_key("tasks:read", subject=f"u-{uid}")
    assert own.get(f"/v1/graphs/g-{uid}")["goal"] == "SECRET"


def test_only_an_admin_names_another_agent(acme):
    worker = acme.with_key("tasks:write")
    reply = worker.ask("POST", "/v1/claims", {"roles": ["r"], "agent": "somebody-else"})
    assert (reply.status, reply.json["code"]) == (403, "forbidden")
    assert acme.post("/v1/claims", {"roles": ["nobody"], "agent": "somebody-else"}) == {"claims": []}
