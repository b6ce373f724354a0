"""Holds and receipts over HTTP: what is held is neither served nor deleted, and a receipt is checked by its key set."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from slate.adapters.jose.receipts import keys_of, verified
from slate.client import SlateClient
from slate.domain.errors import SubjectErased, SubjectHeld
from slate.testing.in_process import InProcessSlate

PERSON = "u-17"
DAY = 86_400


@pytest.fixture(scope="module")
def running() -> Iterator[InProcessSlate]:
    with InProcessSlate() as running:
        yield running


@pytest.fixture(scope="module")
def client(running: InProcessSlate) -> SlateClient:
    return running.client("officer")


@pytest.fixture(scope="module")
def http(running: InProcessSlate) -> httpx.Client:
    return running.http("officer")


def test_under_a_hold_writes_are_taken_and_nothing_is_served_or_deleted_until_it_is_lifted(
    client: SlateClient, http: httpx.Client
) -> None:
    client.facts.state("u-held", "Plays the cello", "other")
    http.post("/v1/sessions", json={"session_id": "s-held", "subject": "u-held"})
    hold = client.holds.create("u-held", "in court")
    assert [each.subject for each in client.holds.list()] == ["u-held"]
    for method, path in (
        ("GET", "/v1/subjects/u-held/facts"),
        ("GET", "/v1/sessions/s-held"),
        ("GET", "/v1/sessions/s-held/turns"),
        ("DELETE", "/v1/sessions/s-held"),
        ("DELETE", "/v1/subjects/u-held/facts"),
        ("POST", "/v1/subjects/u-held/export"),
    ):
        answer = http.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (423, "subject_held"), path
    assert http.post("/v1/context", json={"subject": "u-held", "query": "cello"}).status_code == 423
    said = {"turns": [{"role": "user", "content": "I play the tuba."}]}
    assert http.post("/v1/sessions/s-held/turns", json=said).status_code == 200
    client.holds.lift(hold.hold_id)
    assert "cello" in http.get("/v1/subjects/u-held/facts").text
    assert "tuba" in http.get("/v1/sessions/s-held/turns").text


def test_an_erasure_waits_for_the_last_hold_and_its_receipt_holds(
    running: InProcessSlate, client: SlateClient, http: httpx.Client
) -> None:
    client.facts.state(PERSON, "Plays the cello", "other")
    first = client.holds.create(PERSON, "in court")
    now = running.advance(0)
    client.holds.create(PERSON, "in court, too", until=now + 10 * DAY * 1000)
    asked = http.post("/v1/erasures", json={"subject": PERSON, "reason": "asked for"}).json()
    path = f"/v1/erasures/{asked['erasure_id']}"
    assert asked["state"] == "HELD"
    held = http.get(path).json()
    assert (held["subject"], held["reason"]) == (PERSON, "asked for"), "whoever answers for it sees who waits"
    client.holds.lift(first.hold_id)
    running.drain()
    assert http.get(path).json()["state"] == "HELD"
    assert http.get(f"{path}/receipt").status_code == 404
    running.advance(11 * DAY)
    assert http.get(path).json()["state"] not in ("RECEIVED", "HELD")
    with pytest.raises(SubjectErased):
        client.holds.create(PERSON, "too late")
    for _ in range(12):
        running.advance(DAY / 2)
    answer = http.get(f"{path}/receipt")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/jose")
    keys = httpx.Client(base_url=http.base_url, transport=http._transport).get(
        "/.well-known/jwks.json"
    )  # no key at all
    assert keys.headers["content-type"] == "application/jwk-set+json"
    claims = verified(answer.text, keys_of(keys.content))
    assert claims.stores["facts"].counted >= 1
    assert not any(store.after for store in claims.stores.values())
    assert PERSON not in json.dumps(claims.model_dump(mode="json"))


def test_a_receipt_and_a_hold_are_nobody_elses(running: InProcessSlate, http: httpx.Client) -> None:
    asked = http.post("/v1/erasures", json={"subject": "u-gone", "reason": "asked for"}).json()
    for _ in range(12):
        running.advance(DAY / 2)
    path = f"/v1/erasures/{asked['erasure_id']}/receipt"
    assert http.get(path).status_code == 200
    assert running.http(subject="u-gone").get(path).status_code == 200, "whose it is"
    assert running.http(subject="u-other").get(path).status_code == 404
    assert running.http(tenant="globex").get(path).status_code == 404
    assert running.http(scopes=["memory:read"]).get(path).status_code == 403
    hold = http.post("/v1/holds", json={"subject": "u-3", "reason": "in court"}).json()["hold_id"]
    assert running.http(tenant="globex").delete(f"/v1/holds/{hold}").status_code == 404
    assert running.http(tenant="globex").get("/v1/holds").json()["items"] == []
    assert running.http(subject="u-3").get("/v1/holds").status_code == 403
    with pytest.raises(SubjectHeld):
        list(running.client().facts.list("u-3"))


def test_what_falls_due_meanwhile_stays_and_goes_when_the_hold_has_ended(running: InProcessSlate) -> None:
    """A session, and a graph's values, whose time is over; under another tenant, whose sessions are kept a week."""
    http = running.http("keeper", tenant="globex")
    http.put("/v1/tenant", json={"session_retention_days": 7})
    http.post("/v1/sessions", json={"session_id": "s-old", "subject": "u-old"})
    http.post("/v1/sessions/s-old/turns", json={"turns": [{"role": "user", "content": "I play the tuba."}]})
    http.put("/v1/sessions/s-old/values/step", json={"value": 1})
    task = {"task_id": "t", "title": "t", "role": "r"}
    graph = {"graph_id": "g-old", "goal": "tune it", "subject": "u-old", "queue": "q-old", "retention_days": 7}
    http.post("/v1/graphs", json={**graph, "tasks": [task]})
    http.put("/v1/graphs/g-old/values/pitch", json={"value": 440})
    http.post("/v1/graphs/g-old/tasks/t/cancel")
    assert http.get("/v1/sessions/s-old").json()["retention_days"] == 7
    hold = http.post("/v1/holds", json={"subject": "u-old", "reason": "in court"}).json()["hold_id"]
    for path in ("/v1/graphs/g-old", "/v1/graphs/g-old/tasks/t", "/v1/graphs/g-old/values/pitch"):
        assert http.get(path).status_code == 423, path
    assert http.delete("/v1/graphs/g-old").status_code == 423
    for _ in range(16):
        running.advance(DAY)
    http.delete(f"/v1/holds/{hold}")
    assert "tuba" in http.get("/v1/sessions/s-old/turns").text
    assert http.get("/v1/sessions/s-old/values/step").json()["value"] == 1, "it was not closed either"
    assert http.get("/v1/graphs/g-old/values/pitch").json()["value"] == 440
    for _ in range(4):
        running.advance(DAY)
    assert http.get("/v1/sessions/s-old").status_code == 404
    assert http.get("/v1/graphs/g-old/values/pitch").status_code == 404
