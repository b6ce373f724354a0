from __future__ import annotations

import pytest

from http_support import ADMIN, event
from slate.contract.tasks import ClaimTasks, RetryTask
from slate.domain.access import Principal
from slate.domain.errors import SlateError
from slate.domain.tasks import TaskState
from slate_functions.http.binding import Signature, UnknownArgument
from slate_functions.http.dependencies import IdempotencyKey, IfMatch, Paging, PathId
from slate_functions.http.requests import HttpRequest


class Filter(Paging):
    state: TaskState | None = None


def serve(
    principal: Principal, thing: PathId, query: Filter, if_match: IfMatch, key: IdempotencyKey, body: ClaimTasks
) -> None: ...


def serve_little(body: RetryTask) -> None: ...


PATH = "/things/{thing}"
GOOD = {"raw": '{"roles": ["w"], "max": 2}', "query": "limit=7&state=DONE", "headers": {"if-match": '"3"'}}


def arguments(function, path, raw_path, **request):
    return Signature.of(function, path).arguments(HttpRequest(event("POST", "/", **request), raw_path), ADMIN)


def refused(function=serve, path=PATH, raw_path=None, **request):
    with pytest.raises(SlateError) as caught:
        arguments(function, path, {"thing": "t"} if raw_path is None else raw_path, **request)
    return caught.value


def test_each_argument_is_read_from_its_own_part_of_the_request():
    given = arguments(serve, PATH, {"thing": "t%40x"}, **GOOD)
    assert given == {
        "principal": ADMIN,
        "thing": "t@x",
        "query": Filter(limit=7, state=TaskState.DONE),
        "if_match": 3,
        "key": None,
        "body": ClaimTasks(roles=("w",), max=2),
    }


def test_wrong_fields_of_all_parts_are_listed_at_once():
    error = refused(
        raw_path={"thing": "a%23b"},
        query="limit=0&sort=up&state=done",
        headers={"if-match": "x", "idempotency-key": " "},
        raw='{"roles": [], "agent": 1}',
    )
    assert error.code == "invalid"
    assert [e["field"] for e in error.data["errors"]] == [
        "thing", "limit", "state", "sort", "If-Match", "Idempotency-Key", "roles", "agent",
    ]  # fmt: skip


def test_a_parameter_given_twice_is_refused():
    error = refused(**GOOD | {"query": "limit=1&limit=2&cursor=a&cursor=b"})
    assert [e["field"] for e in error.data["errors"]] == ["cursor", "limit"]


def test_commas_in_a_parameter_do_not_cut_it():
    given = arguments(serve, PATH, {"thing": "t"}, **GOOD | {"query": "cursor=a,b%2Cc"})
    assert given["query"].cursor == "a,b,c"


def test_a_parameter_that_no_route_declares_is_refused_by_name():
    error = refused(serve_little, "/things", {}, query="wait=1")
    assert [e["field"] for e in error.data["errors"]] == ["wait"]


@pytest.mark.parametrize("raw", [None, "", "{}"])
def test_a_body_that_needs_nothing_may_be_left_out(raw):
    assert arguments(serve_little, "/things", {}, raw=raw) == {"body": RetryTask()}


def test_a_signature_that_no_request_can_fill_is_refused_when_it_is_read():
    def asks_for_something_else(principal: Principal, moon: int) -> None: ...

    with pytest.raises(UnknownArgument, match="moon"):
        Signature.of(asks_for_something_else, "/things")


def test_a_parameter_of_the_path_that_is_not_taken_is_refused_when_it_is_read():
    with pytest.raises(UnknownArgument, match="thing"):
        Signature.of(serve_little, PATH)


def test_a_body_over_a_megabyte_is_too_large_to_the_byte():
    def sized(size: int) -> str:
        return '{"cascade": false' + " " * (size - 18) + "}"

    assert arguments(serve_little, "/things", {}, raw=sized(1_000_000))
    assert refused(serve_little, "/things", {}, raw=sized(1_000_001)).code == "too_large"


def test_bytes_count_and_not_characters():
    assert refused(serve_little, "/things", {}, raw='{"a": "' + "é" * 500_000 + '"}').code == "too_large"
