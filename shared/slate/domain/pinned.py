"""The pinned state as a model reads it, as a caller changes it, and how large it may be."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

from pydantic import Field, JsonValue, ValidationError

from slate.domain.errors import Invalid, TooLarge
from slate.domain.sessions import Pinned
from slate.domain.values import merge_patch
from slate.domain.wording import field_errors

ADVISED_TOKENS: Final = 250
"""It is rendered whole on every call: above this, it costs more than it helps."""
MAX_PINNED_BYTES: Final = 100_000
"""As JSON."""


class PinnedState(Pinned):
    """The pinned state, what it costs on every call, and how a model reads it."""

    text: str = Field(description="as a model reads it; empty parts are left out")
    tokens: int = Field(description="of the text")
    warnings: tuple[str, ...] = ()
    version: int


def text_of(pinned: Pinned) -> str:
    """The pinned state as text: a line or a list for each part that says something, in one order."""
    parts = [
        f"Goal: {pinned.goal}" if pinned.goal.strip() else "",
        _listed("Constraints", pinned.constraints),
        _listed("Entities", [f"{name}: {_plain(value)}" for name, value in pinned.entities.items() if _says(value)]),
        _listed("Decisions", pinned.decisions),
        _listed("Plan", [f"[{'x' if step.done else ' '}] {step.step}" for step in pinned.plan if step.step.strip()]),
    ]
    return "\n".join(part for part in parts if part)


def _listed(title: str, lines: Sequence[str]) -> str:
    said = [f"- {line}" for line in lines if line.strip()]
    return "\n".join([f"{title}:", *said]) if said else ""


def _says(value: JsonValue) -> bool:
    """False and 0 say something; an entity without a value does not."""
    return value not in (None, [], {}) and not (isinstance(value, str) and not value.strip())


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def warnings_of(tokens: int) -> tuple[str, ...]:
    """What is unwise about a pinned state of so many tokens."""
    if tokens <= ADVISED_TOKENS:
        return ()
    return (f"the pinned state has {tokens} tokens and is in every context; keep it below {ADVISED_TOKENS}",)


def patched(pinned: Pinned, patch: Mapping[str, JsonValue]) -> Pinned:
    """The pinned state after a JSON merge patch (RFC 7396): null empties a part, lists are replaced whole.

    Raises:
        Invalid: it does not fit what a pinned state is; lists every field.
        TooLarge: it grew over the bound.
    """
    before = cast("JsonValue", pinned.model_dump(mode="json"))
    try:
        after = Pinned.model_validate(merge_patch(before, dict(patch)))
    except ValidationError as error:
        raise Invalid(field_errors(error, "body")) from None
    check_size(after)
    return after


def check_size(pinned: Pinned) -> None:
    """Refuse a pinned state over the bound.

    Raises:
        TooLarge: it is.
    """
    size = len(pinned.model_dump_json().encode())
    if size > MAX_PINNED_BYTES:
        raise TooLarge(
            f"the pinned state would have {size:,} bytes, at most {MAX_PINNED_BYTES:,} are kept; pin less, and put the "
            "rest into values or turns",
            limit=MAX_PINNED_BYTES,
        )
