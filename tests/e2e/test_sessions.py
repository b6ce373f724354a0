"""Sessions over HTTP: what is refused and in which words, who reaches what, and what the client makes of it."""

from __future__ import annotations

import json

import pytest

from slate.domain.errors import VersionMismatch
from slate.testing.in_process import InProcessSlate

TURN = {"role": "user", "content": "x"}
CALL = {"id": "c", "name": "look", "arguments": {}}

BAD_TURNS = {
    "nothing": ({}, 422, ["turns"]),
    "no turn": ({"turns": []}, 422, ["turns"]),
    "101 turns": ({"turns": [TURN] * 101}, 422, ["turns"]),
    "unknown role": ({"turns": [TURN, {**TURN, "role": "robot"}]}, 422, ["turns[1].role"]),
    "empty content": ({"turns": [{**TURN, "content": ""}]}, 422, ["turns[0].content"]),
    "blank content": ({"turns": [{**TURN, "content": " \n\t"}]}, 422, ["turns[0].content"]),
    "no content": ({"turns": [{"role": "user"}]}, 422, ["turns[0].content"]),
    "content of a number": ({"turns": [{**TURN, "content": 7}]}, 422, ["turns[0].content"]),
    "importance 0": ({"turns": [{**TURN, "importance": 0}]}, 422, ["turns[0].importance"]),
    "importance 11": ({"turns": [{**TURN, "importance": 11}]}, 422, ["turns[0].importance"]),
    "importance negative": ({"turns": [{**TURN, "importance": -1}]}, 422, ["turns[0].importance"]),
    "importance of true": ({"turns": [{**TURN, "importance": True}]}, 422, ["turns[0].importance"]),
    "unknown mark": ({"turns": [{**TURN, "marks": ["important"]}]}, 422, ["turns[0].marks[0]"]),
    "a time without offset": ({"turns": [{**TURN, "at": "2026-11-30T12:00:00"}]}, 422, ["turns[0].at"]),
    "a time of a number": ({"turns": [{**TURN, "at": 1e30}]}, 422, ["turns[0].at"]),
    "a time before all times": ({"turns": [{**TURN, "at": "0001-01-01T00:00:00Z"}]}, 422, ["turns[0].at"]),
    "a user who calls tools": ({"turns": [{**TURN, "tool_calls": [CALL]}]}, 422, ["turns[0].tool_calls"]),
    "a user who answers a call": ({"turns": [{**TURN, "tool_call_id": "c"}]}, 422, ["turns[0].tool_call_id"]),
    "a call without a name": (
        {"turns": [{"role": "assistant", "tool_calls": [{"id": "c"}]}]},
        422,
        ["turns[0].tool_calls[0].name"],
    ),
    "client_id twice": ({"turns": [{**TURN, "client_id": "a"}, {**TURN, "client_id": "a"}]}, 422, ["turns"]),
    "unknown field": ({"turns": [{**TURN, "surprise": 1}], "more": 1}, 422, ["turns[0].surprise", "more"]),
    "a turn of a megabyte": ({"turns": [{**TURN, "content": "x" * 1_000_000}]}, 413, None),
}
BAD_SESSIONS = {
    "id with the separator": ({"session_id": "a#b"}, ["session_id"]),
    "window negative": ({"window": -1}, ["window"]),
    "retention of none": ({"retention_days": 0}, ["retention_days"]),
    "empty system": ({"system": ""}, ["system"]),
    "a system message of 100 KB": ({"system": "é" * 50_001}, ["system"]),
    "pinned of a text": ({"pinned": "x"}, ["pinned"]),
    "pinned with a part unknown": ({"pinned": {"gaol": "x"}}, ["pinned.gaol"]),
    "a step without words": ({"pinned": {"plan": [{"done": True}]}}, ["pinned.plan[0].step"]),
    "a step half done": ({"pinned": {"plan": [{"step": "x", "done": "half"}]}}, ["pinned.plan[0].done"]),
    "a reader without a name": ({"readers": [""]}, ["readers[0]"]),
}


@pytest.fixture
def session(acme, uid):
    acme.post("/v1/sessions", {"session_id": f"s-{uid}", "subject": f"u-{uid}"}, expect=201)
    return f"/v1/sessions/s-{uid}"


@pytest.mark.parametrize("name", BAD_TURNS)
def test_a_bad_turn_is_refused_by_its_field_and_nothing_is_kept(acme, session, name):
    body, status, fields = BAD_TURNS[name]
    reply = acme.ask("POST", f"{session}/turns", body)
    assert reply.status == status, reply.text
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert fields is None or sorted(reply.fields) == sorted(fields)
    assert acme.get(f"{session}/turns")["items"] == []


@pytest.mark.parametrize("name", BAD_SESSIONS)
def test_a_bad_session_is_refused_by_its_field(acme, name):
    body, fields = BAD_SESSIONS[name]
    reply = acme.ask("POST", "/v1/sessions", body)
    assert (reply.status, sorted(reply.fields)) == (422, sorted(fields)), reply.text


def test_a_session_needs_nothing_and_a_turn_of_almost_a_megabyte_is_taken(acme):
    made = acme.ask("POST", "/v1/sessions", raw=b"").json
    path = f"/v1/sessions/{made['session_id']}"
    text = "\U0001f980\u202e" * 140_000
    body = json.dumps({"turns": [{**TURN, "content": text}]}, ensure_ascii=False).encode()
    assert acme.ask("POST", f"{path}/turns", raw=body).json["turns"][0]["content"] == text
    assert acme.get(f"{path}/turns/1")["content"] == text


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_pinned_state_is_written_at_a_version_or_not_at_all(acme, session, method):
    path, body = f"{session}/pinned", {"goal": "g"}
    needed = acme.ask(method, path, body)
    assert (needed.status, needed.json["code"]) == (428, "if_match_required")
    assert acme.ask(method, path, body, headers={"If-Match": '"7"'}).status == 412
    done = acme.ask(method, path, body, headers={"If-Match": "*"})
    assert (done.status, done.headers["ETag"], done.json["text"]) == (200, '"2"', "Goal: g")
    assert acme.ask("GET", path).headers["ETag"] == '"2"'


def test_other_tenants_other_people_and_other_scopes_reach_nothing(acme, globex, session, uid):
    acme.post(f"{session}/turns", {"turns": [TURN]})
    extraction = acme.post(f"{session}/close", expect=202)["extraction_id"]
    person = acme.with_key("memory:read", "memory:write", subject="somebody-else")
    paths = [session, *(f"{session}/{part}" for part in ("turns", "turns/1", "pinned", "summaries", "values"))]
    for path in (*paths, f"/v1/extractions/{extraction}"):
        assert {who.ask("GET", path).status for who in (globex, person)} == {404}
    for method, path, body in (
        ("POST", f"{session}/turns", {"turns": [TURN]}),
        ("POST", f"{session}/close", {}),
        ("PUT", f"{session}/pinned", {}),
        ("PUT", f"{session}/values/v", {"value": 1}),
        ("DELETE", f"{session}/turns/1", None),
        ("DELETE", session, None),
    ):
        assert {who.ask(method, path, body, headers={"If-Match": "*"}).status for who in (globex, person)} == {404}
    assert uid not in globex.ask("GET", f"/v1/sessions?subject=u-{uid}").text
    assert person.get("/v1/sessions")["items"] == []
    reader = acme.with_key("memory:read")
    assert reader.get(session)["turns"] == 1
    assert reader.ask("POST", f"{session}/turns", {"turns": [TURN]}).json["scope"] == "memory:write"


def test_a_closed_session_is_worked_on_from_the_queue(acme, session):
    acme.post(f"{session}/turns", {"turns": [TURN]})
    extraction = acme.post(f"{session}/close", expect=202)["extraction_id"]
    assert acme.get(f"/v1/extractions/{extraction}")["state"] == "queued"
    acme.post("/_local/drain")
    done = acme.get(f"/v1/extractions/{extraction}")
    assert (done["state"], done["decisions"]) == ("done", [])


def test_the_client_keeps_a_conversation():
    with InProcessSlate() as slate:
        client = slate.client()
        made = client.sessions.create("s", subject="u", system="Be brief.", pinned={"goal": "g"}, readers=["agent"])
        assert (
            client.sessions.create("s", subject="u", system="Be brief.", pinned={"goal": "g"}, readers=["agent"])
            == made
        )
        first, second = client.sessions.say("s", ("user", "Hello."), ("assistant", "Hi."))
        assert (first.seq, second.content) == (1, "Hi.")
        assert client.sessions.append("s", [{**TURN, "client_id": "c"}]) == client.sessions.append(
            "s", [{**TURN, "client_id": "c"}]
        )
        assert [turn.seq for turn in client.sessions.turns("s")] == [1, 2, 3]
        assert client.sessions.mark("s", 1, marks=["fact"], importance=9) == client.sessions.turn("s", 1)
        client.sessions.delete_turn("s", 3)
        pinned = client.sessions.patch_pinned("s", {"constraints": ["x"]}, version=client.sessions.pinned("s").version)
        with pytest.raises(VersionMismatch):
            client.sessions.put_pinned("s", {"goal": "h"}, version=1)
        assert client.sessions.get("s").pinned == pinned
        client.sessions.values.increment("s", "n", 2)
        assert client.sessions.values.get("s", "n").value == 2
        assert [session.session_id for session in client.sessions.list(subject="u")] == ["s"]
        assert client.sessions.extraction(client.sessions.close("s")).session_id == "s"
        assert [summary.last_seq for summary in client.sessions.summaries("s")] == []
        client.sessions.delete("s")
        assert list(client.sessions.list()) == []
