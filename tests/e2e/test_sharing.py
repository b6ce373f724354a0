"""Values and locks as a user of the client meets them, and as they are over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from slate.client import SlateClient
from slate.client.values import NOT_THERE
from slate.domain.access import Scope
from slate.domain.errors import ClaimLost, Conflict, Invalid, LeaseLost, NotFound, ScopeMissing, VersionMismatch
from slate.testing.in_process import URL, InProcessSlate, Transport

TASK = {"task_id": "a", "title": "t", "role": "r"}


@pytest.fixture
def client(fresh_slate: InProcessSlate) -> SlateClient:
    client = fresh_slate.client()
    client.create_graph("g", [TASK], graph_id="g")
    return client


class LosingAnswers(httpx.BaseTransport):
    """Every call arrives, and its first answer is lost."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner
        self._calls = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._inner.handle_request(request)
        self._calls += 1
        if self._calls % 2:
            raise httpx.ReadTimeout("lost", request=request)
        return answer


def test_values_from_put_to_history(client: SlateClient) -> None:
    values = client.values
    assert values.put("g", "plan", ["draft"], version=NOT_THERE).version == 1
    assert values.append("g", "plan", "second").value == ["draft", "second"]
    assert (values.increment("g", "n").value, values.increment("g", "n", 0.5).value) == (1, 1.5)
    assert values.merge("g", "doc", {"a": 1, "b": None}).value == {"a": 1}
    assert [v.key for v in values.list("g")] == ["doc", "n", "plan"]
    assert [v.key for v in values.list("g", prefix="p")] == ["plan"]
    assert [(v.version, v.value) for v in values.history("g", "n")] == [(2, 1.5), (1, 1)]
    with pytest.raises(VersionMismatch) as refused:
        values.put("g", "plan", [], version=1)
    assert refused.value.data["current"]["value"] == ["draft", "second"]
    with pytest.raises(Conflict):
        values.increment("g", "plan")
    values.delete("g", "plan", version=2)
    with pytest.raises(NotFound):
        values.get("g", "plan")


def test_several_values_and_a_completion(client: SlateClient) -> None:
    changed = client.values.change(
        "g", [{"key": "a", "op": "put", "value": None}, {"key": "b", "op": "increment", "value": 2}]
    )
    assert [(c.key, c.value, c.version) for c in changed] == [("a", None, 1), ("b", 2, 1)]
    (claim,) = client.claim(["r"])
    with pytest.raises(VersionMismatch):
        client.complete(claim, "did it", values=[{"key": "b", "op": "put", "value": 0, "version": 9}])
    client.complete(claim, "did it", values=[{"key": "b", "op": "increment", "value": 1}, {"key": "a", "op": "delete"}])
    assert [(v.key, v.value) for v in client.values.list("g")] == [("b", 3)]
    with pytest.raises(Invalid, match="changes"):
        client.values.change("g", [{"key": "b", "op": "put"}])


@pytest.mark.parametrize(
    ("act", "wanted"),
    [
        (lambda c: c.values.increment("g", "n", 1), 1),
        (lambda c: c.values.append("g", "n", 1), [1]),
        (lambda c: c.values.put("g", "n", 1, version=0), 1),
        (lambda c: c.values.change("g", [{"key": "n", "op": "increment", "value": 1}]), 1),
    ],
)
def test_a_change_whose_answer_is_lost_on_the_way_is_made_once(
    client: SlateClient, fresh_slate: InProcessSlate, act: Callable[[SlateClient], object], wanted: object
) -> None:
    transport = LosingAnswers(Transport(fresh_slate.service.gateway))
    with SlateClient(URL, fresh_slate.key(), transport=transport, sleep=lambda _: None) as unlucky:
        act(unlucky)
    value = client.values.get("g", "n")
    assert (value.value, value.version) == (wanted, 1)


def test_a_lock_whose_answer_is_lost_on_the_way_is_held_all_the_same(fresh_slate: InProcessSlate) -> None:
    transport = LosingAnswers(Transport(fresh_slate.service.gateway))
    with SlateClient(URL, fresh_slate.key(), transport=transport, sleep=lambda _: None) as unlucky:
        held = unlucky.locks.acquire("l")
        assert (held.epoch, unlucky.locks.heartbeat(held).epoch) == (1, 1)
        assert unlucky.locks.release(held).held is False


def test_a_lock_is_held_for_as_long_as_a_with(fresh_slate: InProcessSlate) -> None:
    ann, bob = fresh_slate.client("ann"), fresh_slate.client("bob")
    with ann.locks.hold("l", lease_seconds=30) as held:
        assert (held.epoch, bob.locks.get("l").holder) == (1, "ann")
        with pytest.raises(ClaimLost):
            bob.locks.acquire("l")
    with pytest.raises(KeyError), ann.locks.hold("l"):
        raise KeyError
    assert bob.locks.get("l").held is False
    with pytest.raises(LeaseLost), ann.locks.hold("l", lease_seconds=30):  # noqa: PT012  # the end is what raises
        fresh_slate.advance(31)
        assert bob.locks.acquire("l").epoch == 4
    assert bob.locks.get("l").holder == "bob"


def test_the_routes_over_http(fresh_slate: InProcessSlate, client: SlateClient) -> None:
    http = fresh_slate.http()
    put = http.put("/v1/graphs/g/values/v", json={"value": 1})
    assert (put.status_code, put.headers["ETag"]) == (200, '"1"')
    read = http.get("/v1/graphs/g/values/v")
    assert (read.headers["ETag"], read.json()["value"]) == ('"1"', 1)
    fresh = http.put("/v1/graphs/g/values/v", json={"value": 2}, headers={"If-Match": '"0"'})
    assert (fresh.status_code, fresh.json()["code"], fresh.json()["current"]["version"]) == (412, "version_mismatch", 1)
    gone = http.delete("/v1/graphs/g/values/v", headers={"If-Match": '"1"'})
    assert (gone.status_code, gone.content) == (204, b"")
    assert http.delete("/v1/graphs/g/values/v").status_code == 404
    for path in ("values/v", "values/v/history"):
        assert http.get(f"/v1/graphs/g/{path}").status_code == 404
    assert http.get("/v1/graphs/none/values").status_code == 404
    assert client.values.put("g", "v", 3).version == 3


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("PUT", "/v1/graphs/g/values/v", {}, "value"),
        ("PUT", "/v1/graphs/g/values/v", {"value": 1, "more": 1}, "more"),
        ("PUT", "/v1/graphs/g/values/%23", {"value": 1}, "key"),
        ("PATCH", "/v1/graphs/g/values/v", {"op": "put", "value": 1}, "op"),
        ("PATCH", "/v1/graphs/g/values/v", {"op": "append"}, "value"),
        ("PATCH", "/v1/graphs/g/values/v", {"op": "increment", "value": "1"}, "value"),
        ("POST", "/v1/graphs/g/values", {"changes": []}, "changes"),
        ("POST", "/v1/graphs/g/values", {"changes": [{"key": "v", "op": "put"}]}, "changes[0].value"),
        ("POST", "/v1/graphs/g/values", {"changes": [{"key": "v", "op": "delete", "value": 1}]}, "changes[0].value"),
        (
            "POST",
            "/v1/graphs/g/values",
            {"changes": [{"key": "v", "op": "increment", "value": []}]},
            "changes[0].value",
        ),
        ("GET", "/v1/graphs/g/values?prefix=%23", None, "prefix"),
        ("POST", "/v1/locks/l", {"lease_seconds": 0}, "lease_seconds"),
        ("POST", "/v1/locks/l", {"wait_seconds": 21}, "wait_seconds"),
        ("POST", "/v1/locks/l/heartbeat", {}, "token"),
        ("POST", "/v1/locks/l/release", {"token": "none of ours"}, "token"),
    ],
)
def test_what_is_wrong_is_named(
    fresh_slate: InProcessSlate, client: SlateClient, method: str, path: str, body: object, field: str
) -> None:
    answer = fresh_slate.http().request(method, path, json=body)
    assert answer.status_code == 422, answer.text
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert list(client.values.list("g")) == []


def test_reading_and_writing_need_their_scopes(fresh_slate: InProcessSlate, client: SlateClient) -> None:
    client.values.put("g", "v", 1)
    reader = fresh_slate.client("reader", scopes=[Scope.TASKS_READ])
    writer = fresh_slate.client("writer", scopes=[Scope.TASKS_WRITE])
    assert reader.values.get("g", "v").value == 1
    assert reader.locks.get("l").held is False
    for act in (
        lambda: reader.values.put("g", "v", 2),
        lambda: reader.values.increment("g", "v"),
        lambda: reader.values.delete("g", "v"),
        lambda: reader.locks.acquire("l"),
        lambda: writer.values.get("g", "v"),
        lambda: writer.locks.get("l"),
    ):
        with pytest.raises(ScopeMissing):
            act()


def test_an_answer_is_never_too_large_to_be_given(fresh_slate: InProcessSlate, client: SlateClient) -> None:
    """What was changed must not end in an error that says nothing of it."""
    text = '\\"' * 240_000
    for key in ("a", "b", "c"):
        client.values.put("g", key, [text])
    answer = fresh_slate.http().post(
        "/v1/graphs/g/values", json={"changes": [{"key": k, "op": "append", "value": 1} for k in "abc"]}
    )
    assert answer.status_code == 200
    assert [item["version"] for item in answer.json()["items"]] == [2, 2, 2]
    assert len(json.dumps(answer.text)) < 6_000_000
    assert len(list(client.values.list("g"))) == 3
