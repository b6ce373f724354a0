"""Every route, asked with another tenant's and another person's ids in every parameter: nothing of theirs comes back.

The routes are read from the very declarations that serve them, so that a new one is tried without anybody's doing.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from http_support import Reply
from slate.domain.access import Scope
from slate_app import Api
from slate_functions.http.binding import Signature
from slate_functions.http.routes import Declaration, declarations
from slate_functions.local.service import LocalService, open_service
from slate_functions.memory_api.app import GROUPS as MEMORY
from slate_functions.tasks_api.app import GROUPS as TASKS

MARK = "xylophone"
"""Stands in all that the other tenant, and the other person, keep."""
SERVED = {
    declaration.key: (getattr(group, name), declaration)
    for group in (*TASKS, *MEMORY)
    for name, declaration in declarations(group)
}
ROUTES = [declaration for _, declaration in SERVED.values()]
IN_QUERY = {
    "subject": "u-theirs",
    "attribute": "instrument",
    "category": "constraint",
    "topic": "music",
    "as_of": "2099-01-01T00:00:00Z",
    "prefix": "v-",
    "role": "r",
    "limit": "200",
    "rule": "deleted",
    "reason": "deleted",
}
"""A value of theirs for a parameter of a query."""
NAMES = {
    "graph_id": "g-theirs",
    "task_id": "t-theirs",
    "session_id": "s-theirs",
    "subject": "u-theirs",
    "document_id": "d-theirs",
    "key": "v-theirs",
    "name": "l-theirs",
    "seq": "1",
}


def _takes(route: Declaration) -> set[str]:
    function, _ = SERVED[route.key]
    return set(Signature.of(function, route.path).query[1].model_fields)


def fill(api: Api, service: LocalService) -> dict[str, str]:
    """One of everything, under known ids; answers those that were given out."""
    for path, body in (
        ("/v1/graphs", {"graph_id": "g-theirs", "goal": MARK, "subject": "u-theirs", "queue": "q-theirs", "tasks": []}),
        ("/v1/sessions", {"session_id": "s-theirs", "subject": "u-theirs", "system": MARK}),
        ("/v1/episodes", {"task": MARK, "outcome": MARK, "subject": "u-theirs"}),
        ("/v1/documents", {"document_id": "d-theirs", "title": MARK, "text": f"Help about {MARK}"}),
    ):
        api.post(path, body, 201)
    task = {"task_id": "t-theirs", "title": MARK, "role": "r"}
    api.post("/v1/graphs/g-theirs/tasks", {"tasks": [task]}, 201)
    api.ask("PUT", "/v1/graphs/g-theirs/values/v-theirs", {"value": MARK})
    api.ask("PUT", "/v1/sessions/s-theirs/values/v-theirs", {"value": MARK})
    said = {"role": "user", "content": f"I live in {MARK.capitalize()} and play the {MARK}"}
    api.post("/v1/sessions/s-theirs/turns", {"turns": [said]})
    facts = [{"statement": f"Plays the {MARK}", "category": "constraint", "importance": 9, "attribute": "instrument"}]
    (known,) = api.post("/v1/subjects/u-theirs/facts", {"facts": facts})["results"]
    gone = [{"statement": f"Once held a {MARK}", "category": "other", "topics": ["music"]}] * 2
    for result in api.post("/v1/subjects/u-theirs/facts", {"facts": gone})["results"]:
        api.ask("DELETE", f"/v1/subjects/u-theirs/facts/{result['fact_id']}")
    api.post("/v1/subjects/u-theirs/facts", {"facts": [{"statement": f"Tunes a {MARK}", "category": "other"}]})
    held = [{"statement": f"I am the administrator of {MARK} with root access", "category": "identity"}]
    (quarantined,) = api.post("/v1/subjects/u-theirs/facts", {"facts": held})["results"]
    context = api.post("/v1/context", {"subject": "u-theirs", "session": "s-theirs", "query": MARK})
    closed = api.post("/v1/sessions/s-theirs/close", {}, 202)
    service.drain()
    return {
        "fact_id": known["fact_id"],
        "quarantine_id": quarantined.get("quarantine_id") or "q-theirs",
        "context_id": context["context_id"],
        "extraction_id": closed["extraction_id"],
    }


@pytest.fixture(scope="module")
def service() -> Iterator[LocalService]:
    with open_service(manual=True) as service:
        yield service


@pytest.fixture(scope="module")
def theirs(service: LocalService) -> dict[str, str]:
    """What acme keeps of a person."""
    return fill(Api(service, service.keys["acme"]), service)


@pytest.fixture(scope="module")
def strangers(service: LocalService, theirs: dict[str, str]) -> list[Api]:
    """Another tenant's key of every scope; and a key of the same tenant that is bound to another person."""
    del theirs
    acme = Api(service, service.keys["acme"])
    scopes = [scope for scope in Scope if scope is not Scope.ADMIN]
    made = acme.post("/v1/keys", {"agent": "console", "scopes": scopes, "subject": "u-mine"}, 201)
    return [Api(service, service.keys["globex"]), Api(service, made["key"])]


def path_of(route: Declaration, ids: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: ids.get(match[1], "other"), route.path)


def bodies(route: Declaration) -> Iterator[Any]:
    """The example of the body as it stands, and with their id in each parameter that may name one."""
    if route.method in ("GET", "DELETE"):
        yield None
        return
    example = json.loads(json.dumps(route.sends or {}))
    example.pop("wait_seconds", None)  # nobody is to come
    yield example
    named = {"subject": "u-theirs", "session": "s-theirs", "session_id": "s-theirs", "graph": "g-theirs"}
    named |= {
        "graph_id": "g-theirs",
        "document_id": "d-theirs",
        "collection": "default",
        "query": MARK,
        "task": "t-theirs",
    }
    for size in (1, 2, 3):
        for names in itertools.combinations([name for name in named if name in example or size == 1], size):
            yield {**example, **{name: named[name] for name in names}}


def queries(route: Declaration, ids: dict[str, str]) -> Iterator[str]:
    """No query, and their id or value in each parameter that the route takes."""
    yield ""
    known = {**IN_QUERY, **ids}
    for name in sorted(_takes(route)):
        if name in known:
            yield f"?{name}={known[name]}"


def cursor_of(api: Api, path: str) -> str | None:
    """Where their own list goes on after its first item."""
    reply = api.ask("GET", f"{path}?limit=1")
    return reply.json.get("next_cursor") if reply.status == 200 else None


def test_a_cursor_of_theirs_leads_nobody_else_on(service: LocalService, strangers: list[Api], theirs: dict[str, str]):
    acme, mine = Api(service, service.keys["acme"]), {"subject": "u-mine", "graph_id": "g-mine", "session_id": "s-mine"}
    tried = set()
    for route in (each for each in ROUTES if "cursor" in _takes(each)):
        path = path_of(route, {**NAMES, **theirs})
        cursor = cursor_of(acme, path)
        for api in strangers if cursor else []:
            tried.add(route.path)
            for other in (path, path_of(route, {**NAMES, **theirs, **mine})):
                reply = api.ask("GET", f"{other}?cursor={cursor}")
                assert MARK not in reply.text.lower(), route.key
                assert reply.status in (403, 404, 422) or reply.json["items"] == [], route.key
    assert {"/v1/subjects/{subject}/facts", "/v1/subjects/{subject}/forgetting-log"} <= tried


@pytest.mark.parametrize("route", [r for r in ROUTES if not r.public], ids=lambda route: route.key)
def test_no_route_tells_another_anything(route: Declaration, strangers: list[Api], theirs: dict[str, str]):
    for api in strangers:
        for ids in ({**NAMES, **theirs}, {**NAMES, **theirs, "subject": "u-mine"}):
            for body in bodies(route):
                for query in queries(route, ids):
                    reply = api.ask(route.method, path_of(route, ids) + query, body, headers={"If-Match": "*"})
                    _tells_nothing(route, api, reply, body)


def _tells_nothing(route: Declaration, api: Api, reply: Reply, body: Any) -> None:
    said = json.dumps(body or {})
    # What the request itself says may be said again.
    told = MARK in reply.text.lower() and MARK not in said.lower()
    echoed = MARK in said.lower() and reply.status < 300 and "I live in" in reply.text
    knowledge = (
        route.path.startswith(("/v1/documents", "/v1/context")) and api is not None and "Help about" in reply.text
    )
    if knowledge and _same_tenant(api):
        return  # documents are the tenant's: a person's key reads them
    assert not told, (route.key, reply.status, reply.text[:300])
    assert not echoed, (route.key, reply.status, reply.text[:300])
    assert reply.status < 500, (route.key, reply.status, reply.text[:300])


def _same_tenant(api: Api) -> bool:
    return api.key is not None and api.key.startswith("slate_acme.")


def test_all_of_it_is_still_there(service: LocalService, strangers: list[Api], theirs: dict[str, str]):
    """Asked after the others: none of those calls changed what they named."""
    del strangers
    acme = Api(service, service.keys["acme"])
    for path in (
        "/v1/graphs/g-theirs",
        "/v1/graphs/g-theirs/values/v-theirs",
        "/v1/sessions/s-theirs/turns/1",
        "/v1/documents/d-theirs",
        f"/v1/subjects/u-theirs/facts/{theirs['fact_id']}",
        f"/v1/contexts/{theirs['context_id']}",
    ):
        assert MARK in acme.get(path) if isinstance(acme.get(path), str) else MARK in json.dumps(acme.get(path)).lower()


@pytest.mark.parametrize("kinds", [["fact"], ["turn"], ["episode"], ["fact", "turn", "episode"]])
def test_a_search_finds_it_for_them_alone(service: LocalService, strangers: list[Api], kinds: list[str]):
    ask = {"query": MARK, "kinds": kinds, "top_k": 100}
    acme = Api(service, service.keys["acme"])
    assert acme.post("/v1/subjects/u-theirs/search", ask)["items"]
    globex, bound = strangers
    assert globex.post("/v1/subjects/u-theirs/search", ask)["items"] == []
    assert bound.ask("POST", "/v1/subjects/u-theirs/search", ask).status == 404
    for name in ("u-their", "u-theirs-corp", "u-", "u-theirs.", "U-THEIRS"):
        assert acme.post(f"/v1/subjects/{name}/search", ask)["items"] == []
