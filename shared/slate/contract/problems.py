"""Errors on the wire: RFC 9457 problems. The one place that maps a code to its HTTP status, and back to its class."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from slate.domain.errors import SlateError, error_classes

MEDIA_TYPE: Final = "application/problem+json"

STATUS: Final[Mapping[str, HTTPStatus]] = {
    "malformed": HTTPStatus.BAD_REQUEST,
    "unauthenticated": HTTPStatus.UNAUTHORIZED,
    "forbidden": HTTPStatus.FORBIDDEN,
    "scope_missing": HTTPStatus.FORBIDDEN,
    "role_missing": HTTPStatus.FORBIDDEN,
    "not_found": HTTPStatus.NOT_FOUND,
    "method_not_allowed": HTTPStatus.METHOD_NOT_ALLOWED,
    "conflict": HTTPStatus.CONFLICT,
    "lease_lost": HTTPStatus.CONFLICT,
    "claim_lost": HTTPStatus.CONFLICT,
    "already_terminal": HTTPStatus.CONFLICT,
    "cycle": HTTPStatus.CONFLICT,
    "subject_erased": HTTPStatus.GONE,
    "subject_held": HTTPStatus.LOCKED,
    "version_mismatch": HTTPStatus.PRECONDITION_FAILED,
    "if_match_required": HTTPStatus.PRECONDITION_REQUIRED,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "invalid": HTTPStatus.UNPROCESSABLE_ENTITY,
    "throttled": HTTPStatus.TOO_MANY_REQUESTS,
    "retry": HTTPStatus.SERVICE_UNAVAILABLE,
    "internal": HTTPStatus.INTERNAL_SERVER_ERROR,
}

_MEMBERS: Final = frozenset({"type", "title", "status", "code", "detail", "retryable", "request_id"})


def status_of(error: SlateError) -> HTTPStatus:
    """The HTTP status of an error; every code has one."""
    return STATUS[error.code]


def problem_of(error: SlateError, request_id: str) -> dict[str, Any]:
    """An error as a problem: its data stands beside the standard members."""
    status = status_of(error)
    return {
        **error.data,
        "type": f"urn:slate:problem:{error.code}",
        # By its code: Python renames the phrases of HTTP's statuses from one version to the next.
        "title": error.code.replace("_", " ").capitalize(),
        "status": status.value,
        "code": error.code,
        "detail": error.detail,
        "retryable": error.retryable,
        "request_id": request_id,
    }


def error_of(problem: Mapping[str, Any]) -> SlateError:
    """The error that a problem was made from: the same class, detail and data; an unknown code is the root class."""
    cls = _CLASSES.get(str(problem.get("code")), SlateError)
    error = cls.__new__(cls)
    data = {k: v for k, v in problem.items() if k not in _MEMBERS or k == "request_id"}
    SlateError.__init__(error, str(problem.get("detail", "")), **data)
    return error


# Where classes share a code (a retryable conflict is a conflict), the wire carries the more general one.
_CLASSES: Final[Mapping[str, type[SlateError]]] = {cls.code: cls for cls in reversed(list(error_classes()))}
