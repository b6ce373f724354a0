"""Handlers under AWS's own runtime client: the events that AWS really sends, the answers as it really reads them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import lambda_runtime
from lambda_runtime.api import Failed, Runtime, running
from slate.domain.errors import Malformed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Lambda's runtime client is made for Linux")
EVENTS = Path(lambda_runtime.__file__).parent / "events"


def sent(name: str) -> Any:
    return json.loads((EVENTS / f"{name}.json").read_text())


def call(runtime: Runtime, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    event = sent("api_gateway")
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    event["requestContext"]["http"]["method"] = method
    del event["headers"]["idempotency-key"]
    event["body"] = None if body is None else json.dumps(body)
    answer = runtime.invoke(event)
    return answer["statusCode"], json.loads(answer["body"])


def test_the_gateways_requests_are_served_one_after_the_other_by_one_process():
    with running("tasks_api") as api:
        first, again = api.invoke(sent("api_gateway")), api.invoke(sent("api_gateway"))
        assert (first["statusCode"], again["statusCode"]) == (201, 201)
        assert json.loads(first["body"]) == json.loads(again["body"])
        assert json.loads(first["body"])["goal"] == "Zürich"
        assert first["headers"]["X-Request-Id"] == "JKJaXmPLvHcESHA="
        status, graph = call(api, "GET", "/v1/graphs/refund-7")
        assert (status, graph["state"]) == (200, "ACTIVE")
        status, claimed = call(api, "POST", "/v1/claims", {"roles": ["support"]})
        assert status == 200
        token = claimed["claims"][0]["token"]
        status, done = call(api, "POST", "/v1/graphs/refund-7/tasks/a/complete", {"token": token, "action": "done"})
        assert (status, done["state"]) == (200, "DONE")
        broken = {**sent("api_gateway"), "body": "{"}
        assert json.loads(api.invoke(broken)["body"])["code"] == Malformed.code


def test_the_authorizer_knows_a_key_and_fails_with_the_word_that_becomes_a_401():
    with running("authorizer") as authorizer:
        event = sent("authorizer")
        with pytest.raises(Failed) as refused:
            authorizer.invoke(event)
        assert json.loads(str(refused.value))["errorMessage"] == "Unauthorized"
        event["headers"]["authorization"] = f"Bearer {authorizer.key}"
        decided = authorizer.invoke(event)
        assert (decided["isAuthorized"], decided["context"]["tenant"]) == (True, "acme")
        assert {type(value) for value in decided["context"].values()} == {str}


def test_of_a_queues_batch_the_message_that_nobody_takes_comes_again():
    with running("extractor", extraction_model="rules", summary_model="rules") as extractor:
        event = sent("sqs")
        failed = [record["messageId"] for record in event["Records"] if "nobody" in record["body"]]
        assert extractor.invoke(event) == {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


def test_a_record_of_the_stream_that_is_nobodys_business_is_let_go():
    with running("events") as events:
        assert events.invoke(sent("dynamodb_stream")) == {"batchItemFailures": []}


def test_a_schedules_run_ends_by_itself_and_says_what_it_did():
    with running("sweeper", sweep_run_seconds="1", sweep_poll_seconds="1") as sweeper:
        assert sweeper.invoke(sent("scheduler")) == {"polls": 1, "done": 0}


def test_a_handler_that_cannot_start_says_so():
    with running("nowhere") as broken:
        with pytest.raises(Failed) as refused:
            broken.invoke({})
        assert re.search("nowhere", str(refused.value))
