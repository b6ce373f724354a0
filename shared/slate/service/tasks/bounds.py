"""What is said about a task stands on its item, which DynamoDB bounds at 400 KB: so each saying is bounded too."""

from __future__ import annotations

import json
from typing import Final

from pydantic import JsonValue

from slate.domain.errors import TooLarge

SAID_BYTES: Final = 64 * 1024
"""Of an error, a question, an answer and a progress each, as JSON; inputs and results may be as large as a body."""


def bounded(field: str, value: JsonValue) -> JsonValue:
    """The value, if it is short enough to stand on a task's item.

    Raises:
        TooLarge: it is not, and the error says by how much.
    """
    size = len(_text(value).encode(errors="surrogatepass"))
    if size > SAID_BYTES:
        raise TooLarge(f"`{field}` has {size} bytes as JSON, at most {SAID_BYTES}; long content belongs into a result")
    return value


def same_json(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are one JSON text: for Python ``1 == True``, for JSON they differ."""
    return _text(one) == _text(other)


def _text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
