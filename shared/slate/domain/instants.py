"""An instant is a whole number of milliseconds since 1970 UTC; on the wire it is RFC 3339 with milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema


def format_instant(ms: int) -> str:
    """Write an instant as ``2026-11-30T12:00:00.000Z``."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def parse_instant(text: str) -> int:
    """Read an RFC 3339 time of any offset; a time without an offset is refused, since it names no instant.

    Raises:
        ValueError: it is not such a time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a time such as 2026-11-30T12:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("a time needs its offset, such as Z")
    return round(moment.timestamp() * 1000)


def _read(value: object) -> object:
    return parse_instant(value) if isinstance(value, str) else value


Instant = Annotated[
    int,
    BeforeValidator(_read),
    PlainSerializer(format_instant, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-11-30T12:00:00.000Z"]}),
]
