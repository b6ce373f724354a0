"""What a digest consists of: a JSON Schema that a tenant sets, in a part of the language that every model keeps to.

Known keywords are those of ``KEYWORDS``; one that is not known is refused, since nothing would check it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import JsonValue

from slate.domain.errors import FieldError

Schema = Mapping[str, JsonValue]

MAX_FIELDS_UNWARNED: Final = 8
MAX_FIELDS: Final = 40
MAX_DEPTH: Final = 4
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}
_LIMITS: Final = frozenset({"maxLength", "minLength", "maxItems", "minItems", "minimum", "maximum"})
_COUNTS: Final = _LIMITS - {"minimum", "maximum"}
KEYWORDS: Final = frozenset(
    {"type", "properties", "required", "items", "enum", "description", "title", "additionalProperties"} | _LIMITS
)

DEFAULT_SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {
        "intent": {"type": "string", "description": "what the user wants, in one sentence"},
        "entities": {"type": "object", "description": "names, ids, amounts, dates, and what they are"},
        "confirmed": {"type": "array", "items": {"type": "string"}, "description": "facts that are established"},
        "outstanding": {"type": "array", "items": {"type": "string"}, "description": "what is open or unanswered"},
        "decisions": {"type": "array", "items": {"type": "string"}, "description": "what was decided"},
        "sentiment": {"type": "string", "enum": ["positive", "neutral", "negative"]},
    },
    "required": ["intent", "entities", "confirmed", "outstanding", "decisions", "sentiment"],
    "additionalProperties": False,
}


def faults(schema: Any, where: str = "summary_schema") -> list[FieldError]:
    """What is wrong with a schema, each with its place and what would be right."""
    return list(_faults(schema, where, top=True, depth=0))


def warnings(schema: Schema) -> list[str]:
    """What works and is unwise."""
    count = len(_properties(schema))
    if count <= MAX_FIELDS_UNWARNED:
        return []
    return [f"summary_schema has {count} fields; above {MAX_FIELDS_UNWARNED} models leave fields out or make them up"]


def mistakes(schema: Schema, value: Any, where: str = "") -> list[str]:
    """What a value does otherwise than the schema says, in words that a model can act on; nothing where it fits."""
    return list(_mistakes(schema, value, where or "the summary"))


def _properties(schema: Schema) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _faults(schema: Any, where: str, *, top: bool, depth: int) -> Iterator[FieldError]:
    if not isinstance(schema, dict):
        yield _fault(where, "must be a JSON Schema as an object")
        return
    if depth > MAX_DEPTH:
        yield _fault(where, f"may nest {MAX_DEPTH} deep at most")
        return
    for unknown in sorted(schema.keys() - KEYWORDS):
        yield _fault(f"{where}.{unknown}", f"is not a keyword known here; known are {', '.join(sorted(KEYWORDS))}")
    kind = schema.get("type")
    if top and kind != "object":
        yield _fault(f"{where}.type", 'must be "object"')
    elif not (isinstance(kind, str) and kind in _TYPES) and not (kind is None and "enum" in schema):
        yield _fault(f"{where}.type", f"must be one of {', '.join(_TYPES)}")
    yield from _limit_faults(schema, where)
    yield from _member_faults(schema, where, top=top, depth=depth)


def _limit_faults(schema: dict[str, Any], where: str) -> Iterator[FieldError]:
    for name in sorted(_LIMITS & schema.keys()):
        limit = schema[name]
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            yield _fault(f"{where}.{name}", "must be a number")
        elif name in _COUNTS and (limit < 0 or limit % 1):
            yield _fault(f"{where}.{name}", "must be a whole number, 0 or more")
    for least, most in (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum")):
        if _above(schema.get(least), schema.get(most)):
            yield _fault(f"{where}.{least}", f"must not be above {most}: no value would fit")
    options = schema.get("enum", [None])
    if not isinstance(options, list) or not options:
        yield _fault(f"{where}.enum", "must be a list of values, one at least")
    for name in ("title", "description"):
        if not isinstance(schema.get(name, ""), str):
            yield _fault(f"{where}.{name}", "must be a text")


def _above(least: Any, most: Any) -> bool:
    return isinstance(least, (int, float)) and isinstance(most, (int, float)) and least > most


def _member_faults(schema: dict[str, Any], where: str, *, top: bool, depth: int) -> Iterator[FieldError]:
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or (top and not properties) or len(properties) > MAX_FIELDS:
        yield _fault(f"{where}.properties", f"must name 1 to {MAX_FIELDS} fields, each with its schema")
        return
    for name, inner in properties.items():
        if _NAME.fullmatch(name) is None:
            yield _fault(f"{where}.properties.{name}", "must be named by 1 to 64 of A-Z a-z 0-9 _ -")
        yield from _faults(inner, f"{where}.properties.{name}", top=False, depth=depth + 1)
    required = schema.get("required", [])
    if not isinstance(required, list) or any(not isinstance(name, str) or name not in properties for name in required):
        yield _fault(f"{where}.required", "must list names of `properties`")
    if "items" in schema:
        yield from _faults(schema["items"], f"{where}.items", top=False, depth=depth + 1)
    more = schema.get("additionalProperties", True)
    if isinstance(more, dict):
        yield from _faults(more, f"{where}.additionalProperties", top=False, depth=depth + 1)
    elif not isinstance(more, bool):
        yield _fault(f"{where}.additionalProperties", "must be true, false or a schema")


def _fault(where: str, message: str) -> FieldError:
    return {"field": where, "message": message}


def _mistakes(schema: Schema, value: Any, where: str) -> Iterator[str]:
    options = schema.get("enum")
    if isinstance(options, list) and value not in options:
        yield f"{where} must be one of {options}"
        return
    kind = schema.get("type")
    if isinstance(kind, str) and not _is(kind, value):
        yield f"{where} must be of type {kind}"
        return
    yield from _size_mistakes(schema, value, where)
    if isinstance(value, dict):
        yield from _object_mistakes(schema, value, where)
    elif isinstance(value, (list, tuple)) and isinstance(items := schema.get("items"), dict):
        for place, each in enumerate(value):
            yield from _mistakes(items, each, f"{where}[{place}]")


def _is(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _size_mistakes(schema: Schema, value: Any, where: str) -> Iterator[str]:
    measured = _measured(value)
    if measured is None:
        return
    ending, size = measured
    least, most = schema.get(f"min{ending}"), schema.get(f"max{ending}")
    if isinstance(least, (int, float)) and size < least:
        yield f"{where} must be {least} or more (min{ending})"
    if isinstance(most, (int, float)) and size > most:
        yield f"{where} must be {most} or less (max{ending})"


def _measured(value: Any) -> tuple[str, float] | None:
    """How keywords that limit this value end, and what they limit."""
    if isinstance(value, str):
        return "Length", len(value)
    if isinstance(value, (list, tuple)):
        return "Items", len(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "imum", value
    return None


def _object_mistakes(schema: Schema, value: dict[str, Any], where: str) -> Iterator[str]:
    properties = _properties(schema)
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            yield f"{where} lacks the field {name}"
    more = schema.get("additionalProperties", True)
    for name, each in value.items():
        if name in properties:
            yield from _mistakes(properties[name], each, f"{where}.{name}")
        elif more is False:
            yield f"{where} has the field {name}, which the schema does not know"
        elif isinstance(more, dict):
            yield from _mistakes(more, each, f"{where}.{name}")
