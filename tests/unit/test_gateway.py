from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import pytest
from pydantic import BaseModel, JsonValue

from http_support import ADMIN, Watcher, freely, gladly
from slate.contract.tasks import Request
from slate.domain.access import Principal, Scope
from slate.domain.errors import Unauthenticated, Unavailable
from slate_functions.authorizer.authorize import Authorizer
from slate_functions.http.app import App
from slate_functions.http.routes import get, post
from slate_functions.local.gateway import MAX_PAYLOAD_BYTES, Gateway, Incoming


class Said(BaseModel):
    agent: str
    text: JsonValue


class Say(Request):
    text: JsonValue


class EchoRoutes:
    """Echo."""

    @post("/echo", scope=Scope.TASKS_WRITE, status=HTTPStatus.CREATED)
    def echo(self, principal: Principal, body: Say) -> Said:
        """Echo."""
        return Said(agent=principal.agent, text=body.text)

    @get("/open", public=True)
    def open_to_all(self) -> Said:
        """Open."""
        return Said(agent="nobody", text="é")


class Keys:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def authenticate(self, credential: str) -> Principal:
        self.asked.append(credential)
        if credential == "busy":
            raise Unavailable("the table is busy")
        if credential == "broken":
            raise KeyError("the secret broke")
        if credential != "good":
            raise Unauthenticated("not known")
        return ADMIN


KEYS = Keys()
GOOD = [("Authorization", "Bearer good")]


@pytest.fixture(scope="module")
def gateway():
    with ThreadPoolExecutor(2) as executor:
        yield Gateway(App([EchoRoutes()], Watcher(), freely, gladly), Authorizer(KEYS), executor, executor)


def code(answer):
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = json.loads(answer.body)
    assert problem["status"] == answer.status
    return answer.status, problem["code"]


def test_a_request_travels_to_the_function_and_back(gateway):
    answer = gateway.handle(Incoming(method="POST", path="/echo", headers=GOOD, body='{"text": "é"}'.encode()))
    assert (answer.status, json.loads(answer.body)) == (201, {"agent": "admin", "text": "é"})


def test_a_public_route_is_served_without_asking_the_authorizer(gateway):
    KEYS.asked.clear()
    assert gateway.handle(Incoming(method="GET", path="/open")).status == 200
    assert KEYS.asked == []


@pytest.mark.parametrize("path", ["/echo", "/nowhere"])
@pytest.mark.parametrize("headers", [[], [("Authorization", "Bearer bad")], [("Authorization", "")]])
def test_everything_else_needs_a_credential_that_stands(gateway, path, headers):
    answer = gateway.handle(Incoming(method="POST", path=path, headers=headers))
    assert code(answer) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_busy_authorizer_is_a_503_and_not_a_verdict(gateway):
    answer = gateway.handle(Incoming(method="POST", path="/echo", headers=[("Authorization", "Bearer busy")]))
    assert code(answer) == (503, "retry")


def test_a_broken_authorizer_is_a_500_without_its_message(gateway, caplog):
    answer = gateway.handle(Incoming(method="POST", path="/echo", headers=[("Authorization", "Bearer broken")]))
    assert code(answer) == (500, "internal")
    assert b"secret" not in answer.body
    assert "the secret broke" not in caplog.text
    assert "KeyError" in caplog.text


def test_a_payload_over_what_a_lambda_takes_is_a_problem_too(gateway):
    answer = gateway.handle(Incoming(method="POST", path="/echo", headers=GOOD, body=b"x" * (MAX_PAYLOAD_BYTES + 1)))
    assert code(answer) == (413, "too_large")


def test_bytes_that_are_no_text_travel_in_base64_and_are_refused_by_the_function(gateway):
    answer = gateway.handle(Incoming(method="POST", path="/echo", headers=GOOD, body=b'{"text": "\xff"}'))
    assert code(answer) == (400, "malformed")


def test_headers_are_found_whatever_their_case_and_joined_when_repeated(gateway):
    KEYS.asked.clear()
    headers = [("AUTHORIZATION", "Bearer one"), ("authorization", "two")]
    gateway.handle(Incoming(method="POST", path="/echo", headers=headers))
    assert KEYS.asked == ["one,two"]
