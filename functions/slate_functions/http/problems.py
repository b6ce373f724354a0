"""Refusals as answers: every error of the domain, and every fault of ours, becomes one RFC 9457 problem."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from aws_lambda_powertools.event_handler import Response
from pydantic import ValidationError
from pydantic_core import ErrorDetails, to_json

from slate.contract.problems import MEDIA_TYPE, problem_of, status_of
from slate.domain.errors import (
    Conflict,
    FieldError,
    IfMatchRequired,
    Internal,
    Invalid,
    Malformed,
    NotFound,
    ScopeMissing,
    SlateError,
    SubjectErased,
    TooLarge,
    Unauthenticated,
    Unavailable,
    VersionMismatch,
)

MAX_LISTED: Final = 1_000
"""Fields listed one by one: what fits an answer, however many fields are wrong."""
MAX_FIELD_LENGTH: Final = 200
RETRY_AFTER_SECONDS: Final = 1

_WORDING: Final = (
    (re.compile(r"^(Input|String|List|Tuple|Value) should (be|have|match)"), r"must \2"),
    (re.compile(r"^Value error, "), ""),
    (re.compile(r" after validation"), ""),
    (re.compile(r"<[\w.]+: ('[^']*')>"), r"\1"),  # a member of an enumeration, as Python shows it
)
_OWN_WORDS: Final[Mapping[str, str]] = {
    "missing": "required, and not given",
    "tuple_type": "must be a list",
    "extra_forbidden": "not a field of this request; leave it out",
    "string_pattern_mismatch": "must be 1 to 128 of A-Z a-z 0-9 . _ @ : -, the first a letter or digit",
}


def problem(error: SlateError, request_id: str) -> Response[str]:
    """The answer that refuses a request."""
    headers: dict[str, str | list[str]] = {"Cache-Control": "no-store", "X-Request-Id": request_id}
    status = status_of(error)
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(error.data.get("retry_after", RETRY_AFTER_SECONDS))
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(error.data.get("allowed", ()))
    return Response(status.value, MEDIA_TYPE, to_json(problem_of(error, request_id)).decode(), headers)


def field_errors(error: ValidationError, whole: str) -> list[FieldError]:
    """What is wrong, field by field, in words that say what would be right; values are never repeated."""
    details = error.errors(include_url=False, include_input=False)
    # A list whose items are all wrong counts as too short beside; the items say it better.
    holding_errors = {detail["loc"][:i] for detail in details for i in range(len(detail["loc"]))}
    details = [d for d in details if d["type"] != "too_short" or d["loc"] not in holding_errors]
    return bounded([{"field": _place(detail["loc"]) or whole, "message": _words(detail)} for detail in details])


def bounded(errors: Sequence[FieldError]) -> list[FieldError]:
    """As many as fit an answer; how many are left off is said."""
    if len(errors) <= MAX_LISTED:
        return list(errors)
    left_off = len(errors) - MAX_LISTED
    return [*errors[:MAX_LISTED], {"field": "...", "message": f"and {left_off:,} more fields are wrong"}]


def _place(location: Sequence[int | str]) -> str:
    """``("tasks", 3, "priority")`` as ``tasks[3].priority``."""
    place = ""
    for step in location:
        if isinstance(step, int):
            place += f"[{step}]"
        else:
            place += f".{step}" if place else step
    return place if len(place) <= MAX_FIELD_LENGTH else place[:MAX_FIELD_LENGTH] + "..."


def _words(detail: ErrorDetails) -> str:
    own = _OWN_WORDS.get(detail["type"])
    if own is not None:
        return own
    message = detail["msg"]
    for pattern, replacement in _WORDING:
        message = pattern.sub(replacement, message)
    return message


def example_problem(status: HTTPStatus) -> dict[str, Any]:
    """A problem of this status as a caller may meet it, for the documentation."""
    return problem_of(_EXAMPLES[status], "8fdd4f6e0a1b4f0c")


_EXAMPLES: Final[Mapping[HTTPStatus, SlateError]] = {
    HTTPStatus.BAD_REQUEST: Malformed("the body is not sound JSON: EOF while parsing a value at line 1 column 9"),
    HTTPStatus.UNAUTHORIZED: Unauthenticated("this credential is not known; send `Authorization: Bearer <api key>`"),
    HTTPStatus.FORBIDDEN: ScopeMissing("tasks:write"),
    HTTPStatus.NOT_FOUND: NotFound("there is no graph 'refund-1042'"),
    HTTPStatus.CONFLICT: Conflict("the id is taken by a graph of other content; choose another"),
    HTTPStatus.GONE: SubjectErased("the data of this person was erased"),
    HTTPStatus.PRECONDITION_FAILED: VersionMismatch({"graph_id": "refund-1042", "state": "ACTIVE", "version": 4}),
    HTTPStatus.PRECONDITION_REQUIRED: IfMatchRequired("send If-Match with the version that the change is meant for"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TooLarge("the body has 1,100,000 bytes, at most 1,000,000 are taken"),
    HTTPStatus.UNPROCESSABLE_ENTITY: Invalid.field("tasks[3].priority", "must be less than or equal to 9"),
    HTTPStatus.INTERNAL_SERVER_ERROR: Internal("something went wrong on our side; quote the request id"),
    HTTPStatus.SERVICE_UNAVAILABLE: Unavailable("the table is busy; repeat the call"),
}
