"""Push from end to end: a task is written, the feed numbers it, and whoever it concerns is woken."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib.util
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from receiver import Receiver, receiving, silent, status
from slate.settings import Settings
from slate.testing.in_process import InProcessSlate
from slate_functions.local.service import open_service

ROOT = Path(__file__).parents[2]
ALL = ["task.ready", "task.waiting", "task.completed", "task.failed", "graph.completed"]


@pytest.fixture
def slate() -> Iterator[InProcessSlate]:
    with InProcessSlate() as slate:
        yield slate


def webhook(slate: InProcessSlate, receiver: Receiver, *events: str) -> dict[str, Any]:
    answer = slate.http("admin").post("/v1/webhooks", json={"url": receiver.url, "events": list(events or ALL)})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def deliveries(slate: InProcessSlate, made: dict[str, Any]) -> list[dict[str, Any]]:
    answer = slate.http("admin").get(f"/v1/webhooks/{made['webhook_id']}/deliveries")
    return list(answer.json()["items"])


def told(receiver: Receiver) -> list[tuple[str, str | None]]:
    bodies = sorted((json.loads(request.body) for request in receiver.requests), key=lambda body: body["seq"])
    return [(body["type"], body["task_id"]) for body in bodies]


def verified(request: Any, secret: str, now: float) -> bool:
    """The recipe of docs/push.md, written as a receiver would."""
    message_id, timestamp = request.headers["webhook-id"], request.headers["webhook-timestamp"]
    if abs(now - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + request.body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, given) for given in request.headers["webhook-signature"].split(" "))


def test_a_webhook_sees_a_graphs_life_signed_and_without_its_content(slate):
    client = slate.client("worker")
    with receiving(status(204)) as receiver:
        made = webhook(slate, receiver)
        client.create_graph(
            "xyzzy goal", [{"task_id": "a", "title": "xyzzy", "role": "w", "input": "xyzzy"}], graph_id="g"
        )
        slate.drain()
        [claim] = client.claim(["w"])
        client.complete(claim, "xyzzy", {"answer": "xyzzy"})
        slate.drain()
        assert told(receiver) == [("task.ready", "a"), ("task.completed", "a"), ("graph.completed", None)]
        now = slate.service.local.clock.now() / 1000
        assert all(verified(request, made["secret"], now) for request in receiver.requests)
        assert not any(verified(request, "whsec_" + "A" * 44, now) for request in receiver.requests)
        forged = receiver.requests[0]
        forged.body += b" "
        assert not verified(forged, made["secret"], now)
        assert not any("xyzzy" in str(request) for request in receiver.requests)
    assert [delivery["state"] for delivery in deliveries(slate, made)] == ["DELIVERED"] * 3


def test_waiting_and_failed_wake_somebody_too(slate):
    client = slate.client("worker")
    with receiving(status(200)) as receiver:
        webhook(slate, receiver, "task.waiting", "task.failed")
        client.create_graph("goal", [{"task_id": "a", "title": "t", "role": "w"}], graph_id="g")
        [claim] = client.claim(["w"])
        client.wait(claim, "may I?")
        slate.drain()
        client.resume("g", "a", "yes")
        [claim] = client.claim(["w"])
        client.fail(claim, "no", retryable=False)
        slate.drain()
        assert told(receiver) == [("task.waiting", "a"), ("task.failed", "a")]


def test_a_receiver_that_fails_delays_nothing_and_is_delivered_to_later(slate):
    client = slate.client("worker")
    with receiving(status(503)) as broken, receiving(status(200)) as sound:
        late, prompt = webhook(slate, broken, "task.ready"), webhook(slate, sound, "task.ready")
        client.create_graph("goal", [{"task_id": "a", "title": "t", "role": "w"}], graph_id="g")
        slate.drain()
        assert deliveries(slate, prompt)[0]["state"] == "DELIVERED"
        [pending] = deliveries(slate, late)
        assert (pending["state"], pending["attempts"][0]["status"]) == ("PENDING", 503)
        assert pending["next_attempt_at"]
        broken.answer = status(200)
        slate.advance(10)
        [done] = deliveries(slate, late)
        assert (done["state"], [attempt["status"] for attempt in done["attempts"]]) == ("DELIVERED", [503, 200])


def test_a_receiver_that_redirects_inside_is_not_followed(slate):
    client = slate.client("worker")
    with receiving(status(307, "Location: http://169.254.169.254/latest/meta-data/")) as receiver:
        made = webhook(slate, receiver, "task.ready")
        client.create_graph("goal", [{"task_id": "a", "title": "t", "role": "w"}], graph_id="g")
        slate.drain()
        slate.advance(24 * 3_600)
        for _ in range(8):
            slate.advance(6 * 3_600)
        [delivery] = deliveries(slate, made)
        assert delivery["state"] == "GIVEN_UP"
        assert {attempt["status"] for attempt in delivery["attempts"]} == {307}
        assert len(delivery["attempts"]) == len(receiver.requests) == 8


def test_a_silent_receiver_holds_up_neither_the_feed_nor_other_deliveries():
    settings = Settings(webhook_addresses="loopback", webhook_timeout_seconds=2)
    with (
        open_service(manual=False, settings=settings) as service,
        receiving(silent) as mute,
        receiving(status(200)) as sound,
    ):
        slate = InProcessSlate()
        slate.service = service
        client = slate.client("worker")
        slow, prompt = webhook(slate, mute, "task.ready"), webhook(slate, sound, "task.ready")
        started = time.monotonic()
        for n in (1, 2):  # the second comes when the silent one keeps the first
            client.create_graph("goal", [{"task_id": "a", "title": "t", "role": "w"}], graph_id=f"g{n}")
            while len(sound.requests) < n or len(mute.requests) < 1:
                assert time.monotonic() - started < 1.9, "it waited for the silent one"
                time.sleep(0.01)
        feed = slate.http("admin").get("/v1/graphs/g2/events").json()["items"]
        assert "task.ready" in [entry["type"] for entry in feed]
        assert [delivery["state"] for delivery in deliveries(slate, slow)] == ["PENDING"] * 2
        assert prompt["webhook_id"] != slow["webhook_id"]


def test_the_default_settings_refuse_this_machine():
    with open_service(manual=True, settings=Settings()) as service:
        slate = InProcessSlate()
        slate.service = service
        answer = slate.http("admin").post("/v1/webhooks", json={"url": "http://127.0.0.1:9/", "events": ALL})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "url"


def test_routes_want_admin_and_refuse_a_bound_key(slate):
    body = {"url": "https://example.com/", "events": ["task.ready"]}
    few = slate.http("worker", scopes=["tasks:read", "tasks:write"])
    assert few.post("/v1/webhooks", json=body).json()["code"] == "scope_missing"
    assert few.get("/v1/webhooks").json()["code"] == "scope_missing"
    assert slate.http("bound", subject="ann").post("/v1/webhooks", json=body).json()["code"] == "forbidden"


def test_routes_make_list_show_and_delete(slate):
    http, other = slate.http("admin"), slate.http("admin", tenant="globex")
    made = http.post("/v1/webhooks", json={"url": "https://example.com/", "events": ["task.ready"]}).json()
    place = f"/v1/webhooks/{made['webhook_id']}"
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert http.get("/v1/webhooks").json()["items"] == [shown]
    assert http.get(place).json() == shown
    assert other.get(place).status_code == other.delete(place).status_code == 404
    assert other.get(f"{place}/deliveries").status_code == 404
    assert http.delete(place).status_code == 204
    assert http.get(place).status_code == http.delete(place).status_code == 404
    for bad in ({"events": ["task.claimed"]}, {"events": []}, {"url": "https://10.0.0.1/"}, {"secret": "x"}):
        refused = http.post("/v1/webhooks", json={"url": "https://example.com/", "events": ["task.ready"], **bad})
        assert refused.status_code == 422, bad


def test_no_message_is_delivered_by_a_drain_without_queues(slate):
    with receiving(status(200)) as receiver:
        webhook(slate, receiver, "task.ready")
        slate.client("worker").create_graph("goal", [{"task_id": "a", "title": "t", "role": "w"}], graph_id="g")
        http = slate.http("admin")
        http.post("/_local/drain", json={"queues": False})
        assert receiver.requests == []
        http.post("/_local/drain", json={})
        assert len(receiver.requests) == 1


def example_agent() -> Any:
    spec = importlib.util.spec_from_file_location("example_agent", ROOT / "examples" / "agent" / "handler.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_agent_is_started_by_an_event_and_does_one_task(slate):
    example, local = example_agent(), slate.service.local
    agent = example.Agent(
        lambda: slate.client("counter", scopes=["tasks:write"], roles=["counter"]), example.count_words
    )
    answers: list[Any] = []

    def woken(event: Any, context: Any) -> None:
        envelope = json.loads(event["Records"][0]["body"])
        if envelope["detail"]["role"] == "counter":  # the rule's own filter
            answers.append(agent(envelope, context))

    local.bus.add_rule(local.queues("agent"), ["task.ready"])
    local.queues.consume("agent", woken, batch=1)
    planner = slate.client("planner")
    tasks = [
        {"task_id": "a", "title": "t", "role": "counter", "input": {"text": "three short words"}},
        {"task_id": "b", "title": "t", "role": "somebody-else"},
    ]
    planner.create_graph("goal", tasks, graph_id="g")
    assert planner.task("g", "a").state == "READY"
    slate.drain()
    assert answers == [{"done": "a"}]
    assert (planner.task("g", "a").state, planner.task("g", "a").result) == ("DONE", {"words": 3})
    assert planner.task("g", "b").state == "READY"
    assert agent({"detail": {"role": "counter", "queue": "default"}}, None) == {"done": None}
