"""What routes answer with, as Powertools' responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Generic, TypeVar

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel

from slate.domain.errors import TooLarge

Model = TypeVar("Model", bound=BaseModel)

MAX_ANSWER_BYTES: Final = 6_000_000
"""A Lambda's whole answer may have 6 MB, in which the body stands as an escaped text."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[Model]):
    """A model with a status other than the route's usual one."""

    content: Model
    status: HTTPStatus


@dataclass(frozen=True, slots=True)
class Page:
    """A text that is no model: a document for people or tools."""

    media_type: str
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Beside those of every answer."""


def respond(result: Answer[Any] | BaseModel | Page | None, status: HTTPStatus, request_id: str) -> Response[str]:
    """The answer: a model as JSON, with its version as ETag; nothing as an empty body.

    Raises:
        TooLarge: it is over what a Lambda may answer.
    """
    headers: dict[str, str | list[str]] = {"Cache-Control": "no-store", "X-Request-Id": request_id}
    if result is None:
        return Response(status.value, None, "", headers)
    if isinstance(result, Page):
        return Response(status.value, result.media_type, result.text, {**headers, **result.headers})
    if isinstance(result, Answer):
        status = result.status
    model: BaseModel = result.content if isinstance(result, Answer) else result
    version = getattr(model, "version", None)
    if isinstance(version, int):
        headers["ETag"] = f'"{version}"'
    body = model.model_dump_json()
    _refuse_over_limit(body)
    return Response(status.value, "application/json", body, headers)


def _refuse_over_limit(body: str) -> None:
    if 2 * len(body) < MAX_ANSWER_BYTES and body.isascii():
        return
    escaped = len(body.encode()) + body.count('"') + body.count("\\")
    if escaped > MAX_ANSWER_BYTES:
        raise TooLarge("the answer is over 6 MB; ask for fewer items with `limit`", limit=MAX_ANSWER_BYTES)
