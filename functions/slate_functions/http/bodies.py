"""Reads a body as JSON, strictly: what two readers could understand differently, or a store not keep, is refused."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

from pydantic_core import from_json

from slate.domain.errors import Malformed

MAX_DEPTH: Final = 100
"""Levels of lists and objects in a body; far below what any reader behind this one gives up at."""

SHOWN_NAME: Final = 100
_MAY_OVERFLOW: Final = re.compile(rb"[0-9][eE]\+?[0-9]|[0-9]{309}")


def read_json(raw: bytes) -> dict[str, Any]:
    """The object that a body holds; an empty body is an empty object, for requests that need nothing said.

    Raises:
        Malformed: it is broken, not UTF-8, half of a surrogate pair, NaN or infinite, nested over 100 levels, not an
            object, or gives a name twice in one.
    """
    if not raw.strip():
        return {}
    try:
        value = from_json(raw, allow_inf_nan=False, cache_strings="none")
    except ValueError as error:
        # The parser says what and where, and quotes nothing of the body.
        raise Malformed(f"the body is not sound JSON: {error}") from None
    if not isinstance(value, dict):
        raise Malformed("the body must be a JSON object: `{...}`")
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        _refuse_deep(value)
    if _MAY_OVERFLOW.search(raw):
        _refuse_infinite(value)
    json.loads(raw.decode(), object_pairs_hook=_refuse_twins, parse_int=len, parse_float=len)  # for its names alone
    return value


def _refuse_twins(pairs: list[tuple[str, Any]]) -> None:
    """Of two members of one name, one reader takes the first and another the last."""
    names = {name for name, _ in pairs}
    if len(names) < len(pairs):
        twin = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise Malformed(f"the body gives {twin[:SHOWN_NAME]!r} twice in one object; give each name once")


def _refuse_deep(value: dict[str, Any]) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for container in level:
            items = container.values() if isinstance(container, dict) else container
            below += [item for item in items if isinstance(item, dict | list)]
        if not below:
            return
        level = below
    raise Malformed(f"the body is nested over {MAX_DEPTH} levels deep; flatten it, or send the inner part as text")


def _refuse_infinite(value: dict[str, Any]) -> None:
    # 1e400 is JSON, and reads as infinity.
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise Malformed("the body holds a number beyond the range of a double; send it as text") from None
