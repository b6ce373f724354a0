"""What routes take besides a body: pages of lists, and the headers If-Match and Idempotency-Key.

Types stand at module scope, since a route's signature is read by name when the app starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.domain.errors import IfMatchRequired, Invalid
from slate.domain.names import Id

DEFAULT_PAGE: Final = 50
MAX_PAGE: Final = 200
MAX_IDEMPOTENCY_KEY: Final = 200

_VERSION: Final = re.compile(r'"?([0-9]{1,15})"?')

PathId = Annotated[Id, Field(description="1 to 128 of `A-Z a-z 0-9 . _ @ : -`, the first a letter or digit")]
Cursor = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class Query(BaseModel):
    """The parameters of a query; one that is not known is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Paging(Query):
    """Which page of a list, and how long."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="items of a page, at most")] = DEFAULT_PAGE
    cursor: Cursor | None = Field(default=None, description="`next_cursor` of the page before; without it the first")


class KeyPaging(Paging):
    """Which values to list, by the beginning of their keys."""

    prefix: Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9][A-Za-z0-9._@:\-]{0,127})?$")] = Field(
        default="", description="only those whose key starts so"
    )


@dataclass(frozen=True, slots=True)
class FromHeader:
    """Marks an argument that is read from a header."""

    name: str
    read: Callable[[str | None], Any]
    description: str
    schema: Mapping[str, Any]
    required: bool = False


def read_if_match(value: str | None) -> int | None:
    """The version a write is meant for: of ``"3"`` or ``3``; ``*`` and no header mean any.

    Raises:
        Invalid: it is neither.
    """
    if value is None or value.strip() == "*":
        return None
    version = _VERSION.fullmatch(value.strip())
    if version is None:
        raise Invalid.field("If-Match", 'send one version as the ETag gave it, such as "3", or *')
    return int(version[1])


def read_needed_if_match(value: str | None) -> int | None:
    """The same, of a write that must say which version it is meant for; ``*`` says that any will do.

    Raises:
        IfMatchRequired: there is no such header.
    """
    if value is None:
        raise IfMatchRequired("send If-Match with the version that the change is meant for, as the ETag gave it, or *")
    return read_if_match(value)


def read_idempotency_key(value: str | None) -> str | None:
    """The key under which this call happens once.

    Raises:
        Invalid: it is empty, too long, or holds anything but printable ASCII.
    """
    if value is None:
        return None
    key = value.strip()
    if not (1 <= len(key) <= MAX_IDEMPOTENCY_KEY and key.isascii() and key.isprintable()):
        raise Invalid.field("Idempotency-Key", f"send 1 to {MAX_IDEMPOTENCY_KEY} printable ASCII characters")
    return key


IfMatch = Annotated[
    int | None,
    FromHeader(
        "If-Match",
        read_if_match,
        'the version that the change is meant for, as the ETag gave it (`"3"`); `*` or none: any',
        {"type": "string", "examples": ['"3"']},
    ),
]
"""The version to write over, or None for any."""

NeededIfMatch = Annotated[
    int | None,
    FromHeader(
        "If-Match",
        read_needed_if_match,
        'the version that the change is meant for, as the ETag gave it (`"3"`); `*`: any. Without it: 428',
        {"type": "string", "examples": ['"3"']},
        required=True,
    ),
]
"""The version to write over, which must be said; None for any."""

IdempotencyKey = Annotated[
    str | None,
    FromHeader(
        "Idempotency-Key",
        read_idempotency_key,
        "the same call under the same key happens once and is answered again, for 24 hours",
        {"type": "string", "minLength": 1, "maxLength": MAX_IDEMPOTENCY_KEY},
    ),
]
"""The key of a call that may be repeated, or None."""
