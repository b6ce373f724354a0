"""Refusals as answers: every error of the domain, and every fault of ours, becomes one RFC 9457 problem."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from aws_lambda_powertools.event_handler import Response
from pydantic_core import to_json

from slate.contract.problems import MEDIA_TYPE, problem_of, status_of
from slate.domain.errors import (
    Conflict,
    IfMatchRequired,
    Internal,
    Invalid,
    Malformed,
    NotFound,
    ScopeMissing,
    SlateError,
    SubjectErased,
    SubjectHeld,
    Throttled,
    TooLarge,
    Unauthenticated,
    Unavailable,
    VersionMismatch,
)

RETRY_AFTER_SECONDS: Final = 1


def problem(error: SlateError, request_id: str) -> Response[str]:
    """The answer that refuses a request."""
    headers: dict[str, str | list[str]] = {"Cache-Control": "no-store", "X-Request-Id": request_id}
    status = status_of(error)
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        headers["Retry-After"] = str(error.data.get("retry_after", RETRY_AFTER_SECONDS))
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(error.data.get("allowed", ()))
    return Response(status.value, MEDIA_TYPE, to_json(problem_of(error, request_id)).decode(), headers)


def example_problem(status: HTTPStatus) -> dict[str, Any]:
    """A problem of this status as a caller may meet it, for the documentation."""
    return problem_of(_EXAMPLES[status], "8fdd4f6e0a1b4f0c")


_EXAMPLES: Final[Mapping[HTTPStatus, SlateError]] = {
    HTTPStatus.BAD_REQUEST: Malformed("the body is not sound JSON: EOF while parsing a value at line 1 column 9"),
    HTTPStatus.UNAUTHORIZED: Unauthenticated(
        "this credential is not known; send `Authorization: Bearer <key or token>`"
    ),
    HTTPStatus.FORBIDDEN: ScopeMissing("tasks:write"),
    HTTPStatus.NOT_FOUND: NotFound("there is no graph 'refund-1042'"),
    HTTPStatus.CONFLICT: Conflict("the id is taken by a graph of other content; choose another"),
    HTTPStatus.GONE: SubjectErased("the data of this person was erased"),
    HTTPStatus.LOCKED: SubjectHeld(
        "this person's data is on hold: it is neither served nor deleted until the hold ends"
    ),
    HTTPStatus.PRECONDITION_FAILED: VersionMismatch({"graph_id": "refund-1042", "state": "ACTIVE", "version": 4}),
    HTTPStatus.PRECONDITION_REQUIRED: IfMatchRequired("send If-Match with the version that the change is meant for"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TooLarge("the body has 1,100,000 bytes, at most 1,000,000 are taken"),
    HTTPStatus.UNPROCESSABLE_ENTITY: Invalid.field("tasks[3].priority", "must be less than or equal to 9"),
    HTTPStatus.TOO_MANY_REQUESTS: Throttled("this credential may make 50 calls a second; wait 2 s", retry_after=2),
    HTTPStatus.INTERNAL_SERVER_ERROR: Internal("something went wrong on our side; quote the request id"),
    HTTPStatus.SERVICE_UNAVAILABLE: Unavailable("the table is busy; repeat the call"),
}
