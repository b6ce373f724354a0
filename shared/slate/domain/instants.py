"""An instant is a whole number of milliseconds since 1970 UTC; on the wire it is RFC 3339 with milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo, WithJsonSchema

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
FIRST_INSTANT: Final = -62_135_596_800_000
"""The beginning of the year 1."""
LAST_INSTANT: Final = 253_402_300_799_999
"""The end of the year 9999."""
FROM_OUTSIDE: Final = {"from": "outside"}
"""The context in which JSON that was read already is validated: what names an instant there is text."""


def format_instant(ms: int) -> str:
    """Write an instant as ``2026-11-30T12:00:00.000Z``; the year has four digits, whichever it is."""
    moment = _EPOCH + ms * _MILLISECOND
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_instant(text: str) -> int:
    """Read an RFC 3339 time of any offset; a time without an offset is refused, since it names no instant.

    What is finer than a millisecond is cut off. Whatever is read can be written.

    Raises:
        ValueError: it is not such a time, or is none between the years 1 and 9999 of UTC.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a time such as 2026-11-30T12:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("a time needs its offset, such as Z")
    ms = (moment - _EPOCH) // _MILLISECOND
    if not FIRST_INSTANT <= ms <= LAST_INSTANT:
        raise ValueError("must be a time between the years 1 and 9999 of UTC")
    return ms


def _read(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        return parse_instant(value)
    if info.mode == "json" or info.context == FROM_OUTSIDE:
        raise ValueError("must be a time such as 2026-11-30T12:00:00Z")
    return value


Instant = Annotated[
    int,
    Field(ge=FIRST_INSTANT, le=LAST_INSTANT),
    BeforeValidator(_read),
    PlainSerializer(format_instant, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-11-30T12:00:00.000Z"]}),
]
