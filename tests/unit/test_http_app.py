from __future__ import annotations

import json
from http import HTTPStatus

import pytest
from pydantic import BaseModel

from http_support import ADMIN, Watcher, ask, event, freely, gladly, made
from slate.adapters.inprocess.clocks import ManualClock
from slate.contract.tasks import Nothing, Request
from slate.domain.access import Principal, Scope
from slate.domain.errors import Internal, NotFound, Throttled, error_classes
from slate.domain.throttling import Pace
from slate.service.admission import Admission
from slate_functions.http.answers import Answer, Page
from slate_functions.http.app import App, Unaudited
from slate_functions.http.dependencies import PathId
from slate_functions.http.routes import UndeclaredAccess, get, post

SECRET = "the-secret-of-ticket-1042"


class Thing(BaseModel):
    name: str
    version: int = 4


class Note(Request):
    text: str


class ThingRoutes:
    """Things."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    @get("/things/{name}", scope=Scope.TASKS_READ)
    def get_thing(self, principal: Principal, name: PathId) -> Thing:
        """Get it."""
        if self._error is not None:
            raise self._error
        return Thing(name=f"{principal.tenant} {name}")

    @post("/things/{name}", scope=Scope.TASKS_WRITE, status=HTTPStatus.CREATED, also=(HTTPStatus.OK,))
    def put_thing(self, name: PathId, body: Note) -> Answer[Thing]:
        """Put it."""
        return Answer(Thing(name=body.text), HTTPStatus.CREATED if name == "new" else HTTPStatus.OK)

    @post("/things/{name}/forget", scope=Scope.TASKS_WRITE, status=HTTPStatus.ACCEPTED)
    def forget_thing(self, name: PathId, body: Nothing) -> None:
        """Forget it."""

    @get("/large", public=True)
    def large(self) -> Thing:
        """A large one."""
        return Thing(name='"' * 3_100_000)

    @get("/page", public=True)
    def page(self) -> Page:
        """A page."""
        return Page("text/html", "<p>é</p>")


@pytest.fixture
def watcher():
    return Watcher()


@pytest.fixture
def app(watcher):
    return App([ThingRoutes()], watcher, freely, gladly)


def failing(error, watcher=None):
    return App([ThingRoutes(error)], watcher or Watcher(), freely, gladly)


def test_a_route_answers_its_model_with_version_as_etag(app):
    reply = ask(app, "GET", "/things/a")
    assert (reply.status, reply.json) == (200, {"name": "acme a", "version": 4})
    assert reply.headers["ETag"] == '"4"'
    assert reply.headers["Content-Type"] == "application/json"


def test_no_answer_is_kept_by_a_cache_and_every_one_can_be_asked_about(app):
    replies = [ask(app, "GET", "/things/a"), ask(app, "GET", "/nowhere"), ask(app, "GET", "/page")]
    assert {reply.headers["Cache-Control"] for reply in replies} == {"no-store"}
    assert {reply.headers["X-Request-Id"] for reply in replies} == {"r-1"}


def test_a_route_may_choose_among_its_statuses(app):
    assert ask(app, "POST", "/things/new", {"text": "x"}).status == 201
    assert ask(app, "POST", "/things/old", {"text": "x"}).status == 200


def test_nothing_is_answered_with_an_empty_body(app):
    reply = ask(app, "POST", "/things/a/forget")
    assert (reply.status, reply.text) == (202, "")


def test_head_is_get_without_its_body(app):
    got, reply = ask(app, "GET", "/things/a"), ask(app, "HEAD", "/things/a")
    assert (reply.status, reply.text, reply.headers) == (200, "", got.headers)


@pytest.mark.parametrize("path", ["/things/a/", "/things/a//"])
def test_a_slash_at_the_end_changes_nothing(app, path):
    assert ask(app, "GET", path).json == ask(app, "GET", "/things/a").json


@pytest.mark.parametrize("path", ["/", "/nowhere", "/things", "/things/a/b", "/things/a\n/x"])
def test_an_unknown_path_is_a_problem_that_says_so(app, path):
    reply = ask(app, "GET", path)
    assert (reply.status, reply.json["code"]) == (404, "not_found")
    assert reply.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_a_method_that_a_known_path_does_not_take_is_405_with_those_it_does(app, method):
    reply = ask(app, method, "/things/a")
    assert (reply.status, reply.json["code"]) == (405, "method_not_allowed")
    assert reply.headers["Allow"] == "GET, HEAD, POST"


def test_without_the_scope_a_call_is_refused_before_anything_is_read(app):
    reader = ADMIN.model_copy(update={"scopes": frozenset({Scope.TASKS_READ, Scope.ADMIN})})
    reply = ask(app, "POST", "/things/a", principal=reader, raw="{broken")
    assert (reply.status, reply.json["code"], reply.json["scope"]) == (403, "scope_missing", "tasks:write")


def test_a_call_that_no_authorizer_let_pass_is_401(app):
    reply = ask(app, "GET", "/things/a", principal=None)
    assert (reply.status, reply.json["code"]) == (401, "unauthenticated")
    assert reply.headers["WWW-Authenticate"] == "Bearer"


def test_a_scope_of_tomorrow_opens_nothing_and_breaks_nothing(app):
    asked = event("GET", "/things/a")
    asked["requestContext"]["authorizer"]["lambda"]["scopes"] = "moon:write tasks:read"
    assert app(asked, None)["statusCode"] == 200
    asked["requestContext"]["authorizer"]["lambda"]["scopes"] = "moon:write"
    assert app(asked, None)["statusCode"] == 403


def test_no_app_starts_with_a_route_that_declares_no_access(watcher):
    class Forgetful:
        @get("/open")
        def open_to_all(self) -> Thing:
            """Open."""
            return Thing(name=SECRET)

    with pytest.raises(UndeclaredAccess, match="GET /open"):
        App([Forgetful()], watcher, freely, gladly)


def test_no_app_starts_with_a_route_that_is_both_public_and_scoped(watcher):
    class Undecided:
        @get("/both", scope=Scope.ADMIN, public=True)
        def both(self) -> Thing:
            """Both."""
            return Thing(name=SECRET)

    with pytest.raises(UndeclaredAccess, match="GET /both"):
        App([Undecided()], watcher, freely, gladly)


def test_no_app_starts_with_a_route_of_memory_that_nobody_writes_down(watcher):
    class Unwatched:
        @get("/facts", scope=Scope.MEMORY_READ)
        def facts(self) -> Thing:
            """Facts."""
            return Thing(name=SECRET)

    with pytest.raises(Unaudited, match="GET /facts"):
        App([Unwatched()], watcher, freely, gladly)


def test_only_the_very_method_and_path_that_are_declared_public_are(app):
    assert app.is_public("GET", "/page")
    assert app.is_public("HEAD", "/page/")
    assert not app.is_public("POST", "/page")
    assert not app.is_public("GET", "/page/x")
    assert not app.is_public("GET", "/things/page")
    assert not app.is_public("GET", "/nowhere")


@pytest.mark.parametrize("cls", list(error_classes()))
def test_a_refusal_in_a_route_is_answered_as_its_problem(cls):
    error = made(cls)
    reply = ask(failing(error), "GET", "/things/a")
    assert reply.json["code"] == error.code
    assert reply.status == reply.json["status"]
    assert reply.json["detail"] == error.detail


@pytest.mark.parametrize(
    "error", [KeyError(SECRET), RecursionError(SECRET), UnicodeEncodeError("utf-8", SECRET, 0, 1, SECRET)]
)
def test_an_exception_nobody_expected_is_a_500_that_says_nothing_but_its_request_id(error, watcher):
    reply = ask(failing(error, watcher), "GET", "/things/a")
    assert (reply.status, reply.json["code"], reply.json["retryable"]) == (500, "internal", False)
    assert "r-1" in reply.json["detail"]
    assert SECRET not in reply.text
    [fault] = watcher.faults
    assert fault.kinds[0].endswith(type(error).__name__)
    assert any("get_thing" in frame for frame in fault.frames)


def test_a_validation_error_inside_the_service_is_our_fault_and_not_the_callers():
    def broken() -> Exception:
        try:
            Thing.model_validate({"name": 7})
        except ValueError as error:
            return error
        raise AssertionError

    assert ask(failing(broken()), "GET", "/things/a").status == 500


def test_an_internal_error_of_the_domain_is_told_as_a_fault(watcher):
    assert ask(failing(Internal("the seal is broken"), watcher), "GET", "/things/a").status == 500
    assert len(watcher.faults) == 1


def test_what_is_told_of_a_request_holds_no_content_no_path_and_no_message(watcher):
    cause = ValueError(SECRET)
    error = RuntimeError(SECRET)
    error.__cause__ = cause
    for app in (
        failing(error, watcher),
        failing(NotFound(SECRET), watcher),
        App([ThingRoutes()], watcher, freely, gladly),
    ):
        ask(app, "GET", f"/things/{SECRET}", headers={"authorization": f"Bearer {SECRET}"})
        ask(app, "POST", f"/things/{SECRET}", {"text": SECRET}, query=f"q={SECRET}")
        ask(app, "GET", f"/nowhere/{SECRET}")
    assert len(watcher.requests) == 9
    assert watcher.faults
    assert SECRET not in repr(watcher)


def test_each_request_is_told_with_its_route_status_and_caller(app, watcher):
    ask(app, "GET", "/things/a")
    ask(app, "GET", "/nowhere", principal=None)
    told = [(r.route, r.status, r.tenant, r.key_id, r.code) for r in watcher.requests]
    assert told == [("GET /things/{name}", 200, "acme", "k-1", None), ("unknown", 404, None, None, "not_found")]


def held_back(principal):
    raise Throttled(f"{principal.key_id} calls too often", retry_after=3)


def test_a_caller_who_is_held_back_is_told_until_when_and_nothing_is_done(watcher):
    app = App([ThingRoutes(AssertionError("it was done"))], watcher, freely, held_back)
    for path in ("/things/a", "/nowhere"):
        reply = ask(app, "GET", path)
        assert (reply.status, reply.json["code"], reply.headers["Retry-After"]) == (429, "throttled", "3")
    assert ask(app, "GET", "/page", principal=None).status == 200
    told = watcher.requests[0]
    assert (told.status, told.key_id, told.code) == (429, "k-1", "throttled")
    assert watcher.faults == []


def test_a_decision_that_a_gateway_kept_for_longer_than_the_token_stands_opens_nothing(watcher):
    clock = ManualClock(1_800_000_000_000)
    app = App([ThingRoutes()], watcher, freely, Admission(Pace(1, 10), clock).admit)
    token = ADMIN.model_copy(update={"expires_at": clock.now() + 59_000})
    assert ask(app, "GET", "/things/a", principal=token).status == 200
    clock.advance(59)
    reply = ask(app, "GET", "/things/a", principal=token)
    assert (reply.status, reply.json["code"]) == (401, "unauthenticated")


def test_an_answer_over_what_a_lambda_may_give_is_refused_with_what_to_do(app):
    reply = ask(app, "GET", "/large")
    assert (reply.status, reply.json["code"]) == (413, "too_large")
    assert "limit" in reply.json["detail"]


def test_a_page_is_served_as_it_is(app):
    reply = ask(app, "GET", "/page")
    assert (reply.headers["Content-Type"], reply.text) == ("text/html", "<p>é</p>")


def test_a_body_in_base64_is_read(app):
    asked = {**event("POST", "/things/new"), "body": "eyJ0ZXh0IjogIngifQ==", "isBase64Encoded": True}
    assert json.loads(app(asked, None)["body"])["name"] == "x"


@pytest.mark.parametrize("body", ["###", "e", "\ud800"])
def test_a_body_that_is_no_text_is_malformed(app, body):
    for base64 in (True, False):
        asked = {**event("POST", "/things/new"), "body": body, "isBase64Encoded": base64}
        assert app(asked, None)["statusCode"] == 400
