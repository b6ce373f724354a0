"""What is wrong with something given, field by field, in words that say what would be right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from slate.domain.errors import FieldError

MAX_LISTED: Final = 1_000
"""Fields listed one by one: what fits an answer, however many fields are wrong."""
MAX_FIELD_LENGTH: Final = 200

_WORDING: Final = (
    (re.compile(r"^(Input|String|List|Tuple|Value) should (be|have|match)"), r"must \2"),
    (re.compile(r"^Value error, "), ""),
    (re.compile(r" after validation"), ""),
    (re.compile(r"<[\w.]+: ('[^']*')>"), r"\1"),  # a member of an enumeration, as Python shows it
)
_OWN_WORDS: Final[Mapping[str, str]] = {
    "missing": "required, and not given",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "model_type": "must be an object",
    "extra_forbidden": "not a field of this request; leave it out",
    "string_pattern_mismatch": "must be 1 to 128 of A-Z a-z 0-9 . _ @ : -, the first a letter or digit",
}


def field_errors(error: ValidationError, whole: str) -> list[FieldError]:
    """What is wrong, field by field, in words that say what would be right; values are never repeated."""
    details = error.errors(include_url=False, include_input=False)
    # A list whose items are all wrong counts as too short beside; the items say it better.
    holding_errors = {detail["loc"][:i] for detail in details for i in range(len(detail["loc"]))}
    details = [d for d in details if d["type"] != "too_short" or d["loc"] not in holding_errors]
    return bounded([{"field": _place(detail["loc"]) or whole, "message": _words(detail)} for detail in details])


def bounded(errors: Sequence[FieldError]) -> list[FieldError]:
    """As many as fit an answer; how many are left off is said."""
    if len(errors) <= MAX_LISTED:
        return list(errors)
    left_off = len(errors) - MAX_LISTED
    return [*errors[:MAX_LISTED], {"field": "...", "message": f"and {left_off:,} more fields are wrong"}]


def _place(location: Sequence[int | str]) -> str:
    """``("tasks", 3, "priority")`` as ``tasks[3].priority``."""
    place = ""
    for step in location:
        if isinstance(step, int):
            place += f"[{step}]"
        else:
            place += f".{step}" if place else step
    return place if len(place) <= MAX_FIELD_LENGTH else place[:MAX_FIELD_LENGTH] + "..."


def _words(detail: ErrorDetails) -> str:
    own = _OWN_WORDS.get(detail["type"])
    if own is not None:
        return own
    message = detail["msg"]
    for pattern, replacement in _WORDING:
        message = pattern.sub(replacement, message)
    return message
