"""The audit over HTTP, by the client and by the command: what an agent knew at a moment, and that nothing is missing."""

from __future__ import annotations

import json

import pytest

from slate.client import SlateClient
from slate.testing.in_process import Transport
from slate_functions.local.audit_command import table_of


@pytest.fixture
def client(service):
    transport = Transport(service.gateway)
    with SlateClient("http://slate.test", service.keys["acme"], transport=transport) as client:
        yield client


def live(api, uid):
    """A person of whom something is known and said, and a context that is given about them."""
    nickname = {"category": "identity", "attribute": "nickname", "importance": 8}
    for name in ("Al", "Bert"):
        stated = {**nickname, "statement": f"Nicknamed {name}", "value": name}
        api.post(f"/v1/subjects/u-{uid}/facts", {"facts": [stated]})
    api.post("/v1/sessions", {"session_id": f"s-{uid}", "subject": f"u-{uid}"}, expect=201)
    api.post(f"/v1/sessions/s-{uid}/turns", {"turns": [{"role": "user", "content": "My cello is out of tune."}]})
    return api.post("/v1/context", {"session": f"s-{uid}", "query": "nickname"})


def of(client, uid, **more):
    return list(client.audit.entries(subject=f"u-{uid}", **more))


def test_what_an_agent_knew_at_a_moment_is_found_and_read_again(acme, client, service, uid):
    context = live(acme, uid)
    service.advance(60)
    moment = service.local.clock.now()
    service.advance(60)
    (fact,) = acme.get(f"/v1/subjects/u-{uid}/facts")["items"]
    acme.ask("PATCH", f"/v1/subjects/u-{uid}/facts/{fact['fact_id']}", {"importance": 9})
    entries = list(client.audit.entries(session=f"s-{uid}", end=moment))
    (served,) = [entry for entry in entries if entry.verb == "serve"]
    items = {item.kind: item for item in served.items}
    assert items["context"].id == context["context_id"]
    assert (items["fact"].id, items["fact"].version) == (fact["fact_id"], 1)
    assert items["turn"].id == f"s-{uid}/turns/1"
    history = acme.get(f"/v1/subjects/u-{uid}/facts/{fact['fact_id']}/history")["items"]
    assert [each["statement"] for each in history] == ["Nicknamed Al", "Nicknamed Bert"]
    assert {entry.session for entry in entries} == {f"s-{uid}"}
    told = json.dumps([entry.model_dump(mode="json") for entry in of(client, uid)])
    assert not [word for word in ("Bert", "cello", f'"u-{uid}"') if word in told]


def test_every_step_is_there_with_who_did_it(acme, client, service, uid):
    live(acme, uid)
    acme.with_key("memory:read").get(f"/v1/subjects/u-{uid}/facts")
    acme.ask("DELETE", f"/v1/sessions/s-{uid}")
    made = acme.post(f"/v1/subjects/u-{uid}/export", expect=202)
    service.drain()
    acme.ask("GET", f"/v1/exports/{made['export_id']}")
    entries = of(client, uid)
    done = {(entry.verb.value, entry.act) for entry in entries if entry.phase == "done"}
    assert done >= {
        ("write", "POST /v1/subjects/{subject}/facts"),
        ("write", "POST /v1/sessions/{session_id}/turns"),
        ("serve", "POST /v1/context"),
        ("read", "GET /v1/subjects/{subject}/facts"),
        ("delete", "DELETE /v1/sessions/{session_id}"),
        ("serve", "POST /v1/subjects/{subject}/export"),
        ("read", "GET /v1/exports/{export_id}"),
        ("write", "export"),
    }
    assert {"worker", "admin", "slate"} == {entry.agent for entry in entries}
    (fetched,) = [entry for entry in entries if entry.act == "GET /v1/exports/{export_id}"]
    assert [(item.kind, item.id) for item in fetched.items] == [("export", made["export_id"])]
    assert table_of(entries).row_count == len(entries)


def test_entries_are_read_page_by_page(acme, client, uid):
    live(acme, uid)
    whole = of(client, uid)
    seen, cursor = [], ""
    while cursor is not None:
        page = acme.get(f"/v1/audit?subject=u-{uid}&limit=2{cursor}")
        seen += [entry["hash"] for entry in page["items"]]
        cursor = None if page["next_cursor"] is None else f"&cursor={page['next_cursor']}"
    assert seen[: len(whole)] == [entry.hash for entry in whole]
    assert acme.ask("GET", "/v1/audit?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z").status == 422
    assert acme.ask("GET", "/v1/audit/days/yesterday").status == 422


def test_entries_outlive_the_person_they_are_about_and_say_nothing_of_them(acme, client, service, uid):
    live(acme, uid)
    before = of(client, uid)
    made = acme.post("/v1/erasures", {"subject": f"u-{uid}", "reason": "asked for it"}, expect=202)
    for _ in range(20):
        service.advance(86_400)
        if acme.get(f"/v1/erasures/{made['erasure_id']}")["state"] in ("RECEIPTED", "CLOSED"):
            break
    after = of(client, uid, start=before[0].at)
    assert [entry.hash for entry in after if entry.day == before[0].day][: len(before)] == [e.hash for e in before]
    assert {"eraser", "POST /v1/erasures"} <= {entry.act for entry in after}
    assert {item.kind for entry in after if entry.act == "eraser" for item in entry.items if item.gone} >= {
        "fact",
        "turn",
    }
    assert not [word for word in ("Bert", "cello", "asked for it") if word in str(after)]


def test_who_may_not_look_does_not(acme, globex, uid):
    live(acme, uid)
    assert acme.with_key("memory:read", "memory:write").ask("GET", "/v1/audit").status == 403
    bound = acme.with_key("privacy:read", subject=f"u-{uid}")
    assert {entry["ref"] for entry in bound.get("/v1/audit")["items"]} != set()
    assert bound.ask("GET", "/v1/audit?subject=u-other").status == 403
    assert bound.ask("GET", "/v1/audit/days/2026-11-30").status == 403
    assert not [entry for entry in globex.get(f"/v1/audit?subject=u-{uid}")["items"] if entry["verb"] != "read"]


def test_a_day_is_checked_by_who_asks_for_it(acme, client, service, uid):
    live(acme, uid)
    day = of(client, uid)[0].day
    early = client.audit.verify(day)
    assert (early.flaws, early.root, early.unfinished) == ([], None, [])
    service.advance(2 * 86_400)
    bound = client.audit.verify(day)
    assert bound.flaws == []
    assert bound.root is not None
    assert bound.entries == sum(count for count, _ in bound.root.heads.values()) >= early.entries
    table, key = service.slate.settings.table, {"pk": {"S": f"acme#A#{day}#{min(bound.root.heads):02d}"}}
    service.local.dynamodb.delete_item(TableName=table, Key={**key, "sk": {"S": "ENTRY#000000001"}})
    assert client.audit.verify(day).flaws


def test_what_a_fact_said_at_the_version_of_an_entry_is_read_after_it_was_edited(acme, client, uid):
    live(acme, uid)
    (fact,) = client.facts.list(f"u-{uid}")
    acme.ask("PATCH", f"/v1/subjects/u-{uid}/facts/{fact.fact_id}", {"statement": "Nicknamed Carl", "value": "Carl"})
    (served,) = [entry for entry in of(client, uid) if entry.verb == "serve"]
    (shown,) = [item for item in served.items if item.kind == "fact"]
    assert client.facts.get(f"u-{uid}", shown.id, version=shown.version).statement == "Nicknamed Bert"
    assert client.facts.get(f"u-{uid}", shown.id).statement == "Nicknamed Carl"
    assert acme.ask("GET", f"/v1/subjects/u-{uid}/facts/{shown.id}?version=99").status == 404
