"""The few words of JSON Schema that the schemas of events use; another word is a fault of the test."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

TYPES = {"object": dict, "string": str, "integer": int, "null": type(None)}
SAID = {"$schema", "$id", "title", "description"}


def _is_a(kinds: Any, value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(
        value, tuple(TYPES[k] for k in ([kinds] if isinstance(kinds, str) else kinds))
    )


def _is_instant(_: Any, value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "type": _is_a,
    "const": lambda wanted, value: value == wanted and type(value) is type(wanted),
    "enum": lambda wanted, value: value in wanted,
    "pattern": lambda wanted, value: not isinstance(value, str) or re.search(wanted, value) is not None,
    "minimum": lambda wanted, value: not isinstance(value, int) or value >= wanted,
    "format": _is_instant,
    "required": lambda wanted, value: set(wanted) <= value.keys(),
}


def faults(schema: dict[str, Any], value: Any, where: str = "") -> list[str]:
    found: list[str] = []
    for word, wanted in schema.items():
        if word == "properties":
            for name in wanted.keys() & value.keys():
                found += faults(wanted[name], value[name], f"{where}.{name}")
        elif word not in SAID and not HOLDS[word](wanted, value):
            found.append(f"{where or 'it'}: {word} {wanted!r} does not hold of {value!r}")
    return found
