"""What the fuzzer is told about Slate: nobody comes while it waits, and what it may be told to repeat is no fault."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import schemathesis


@schemathesis.check
def no_fault(_: Any, response: Any, __: Any) -> None:
    """Nothing fails but what says that the same call may succeed later."""
    later = response.status_code == HTTPStatus.SERVICE_UNAVAILABLE and response.json()["retryable"]
    assert response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR or later, response.text


@schemathesis.hook
def map_query(_: Any, query: Any) -> Any:
    """Without ``wait_seconds``."""
    return _unwaited(query)


@schemathesis.hook
def map_body(_: Any, body: Any) -> Any:
    """Without ``wait_seconds``."""
    return _unwaited(body)


@schemathesis.hook
def before_call(_: Any, case: Any, **__: Any) -> None:
    """Examples and boundary values pass by the mappings above."""
    for part in (case.query, case.body):
        if isinstance(part, dict):
            part.pop("wait_seconds", None)


def _unwaited(given: Any) -> Any:
    return {k: v for k, v in given.items() if k != "wait_seconds"} if isinstance(given, dict) else given
