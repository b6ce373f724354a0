from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from client_stub import AT, Stub, answer, problem
from receiver import receiving, status
from slate.client import is_genuine
from slate.domain.webhooks import signature
from slate.testing.in_process import InProcessSlate

PAGE = Path(__file__).parents[2] / "docs" / "push.md"
WEBHOOK = {"webhook_id": "w-1", "url": "https://a.com/", "events": ["task.ready"], "created_at": AT, "created_by": "a"}
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def documented() -> Any:
    """The recipe of the page, as a receiver would copy it."""
    [code] = re.findall(r"```python\n(import base64.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  # the page's own code
    return names["is_from_slate"]


def test_the_signature_is_that_of_standard_webhooks():
    # The example that the libraries of Standard Webhooks are tested with.
    given = signature(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert given == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_real_delivery_is_known_by_the_client_and_by_the_documented_recipe():
    recipe = documented()
    with InProcessSlate() as slate, receiving(status(200)) as receiver:
        client = slate.client("admin")
        made = client.webhooks.create(receiver.url, ["task.ready"])
        client.create_graph("goal", [{"task_id": "a", "title": "t", "role": "w"}], graph_id="g")
        slate.drain()
        [request] = receiver.requests
        now = slate.service.local.clock.now() / 1000
        for known in (recipe, lambda *given: is_genuine(*given[:3], now=given[3])):
            assert known(made.secret, request.headers, request.body, now)
            assert not known(made.secret, request.headers, request.body + b" ", now)
            assert not known(made.secret, {**request.headers, "webhook-id": "e-other"}, request.body, now)
            assert not known(made.secret, request.headers, request.body, now + 302)
            assert not known(SECRET, request.headers, request.body, now)
        [delivery] = client.webhooks.deliveries(made.webhook_id)
        assert (delivery.state, delivery.attempts[0].status) == ("DELIVERED", 200)
        assert [webhook.webhook_id for webhook in client.webhooks.list()] == [made.webhook_id]
        client.webhooks.delete(made.webhook_id)
        assert list(client.webhooks.list()) == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"webhook-id": "e-1", "webhook-timestamp": "soon", "webhook-signature": "v1,x"},
        {"webhook-id": "e-1", "webhook-timestamp": "1000", "webhook-signature": "v1,\u00e9"},
        {"webhook-id": "e-1", "webhook-timestamp": "1000"},
    ],
)
def test_a_request_that_is_none_of_ours_is_told_so_and_raises_nothing(headers):
    assert not is_genuine(SECRET, headers, b"{}", now=1000)


def test_of_several_signatures_one_is_enough_and_names_of_headers_have_no_case():
    sound = signature(SECRET, "e-1", 1000, b"{}")
    headers = {"Webhook-Id": "e-1", "Webhook-Timestamp": "1000", "Webhook-Signature": f"v1,old v1a,other {sound}"}
    assert is_genuine(SECRET, headers, b"{}", now=1000)


def test_a_creation_is_repeated_under_one_key():
    stub = Stub([problem("retry", "busy"), answer({**WEBHOOK, "secret": SECRET}, 201)])
    assert stub.client().webhooks.create("https://a.com/", ["task.ready"]).secret == SECRET
    assert len({request.headers["Idempotency-Key"] for request in stub.requests}) == 1
    assert [json.loads(request.content) for request in stub.requests] == [
        {"url": "https://a.com/", "events": ["task.ready"]}
    ] * 2
