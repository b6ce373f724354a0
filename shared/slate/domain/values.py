"""Shared values: JSON documents that a team reads and changes by small operations; each change is a version.

The rules are pure: what a change makes of a value, and why it does not fit. An operation on a value that is not there
begins with nothing: a counter at 0, a list empty, a document without members.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    Strict,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from slate.domain.errors import Conflict, NotFound, TooLarge, VersionMismatch
from slate.domain.graphs import GraphState
from slate.domain.instants import Instant
from slate.domain.names import Id

MAX_CHANGES: Final = 25
MAX_VALUE_BYTES: Final = 1_000_000
"""Of a value as JSON, whichever operation made it."""
KEPT_VERSIONS: Final = 20
"""Earlier versions that can still be read."""
EXACT: Final = 2**53 - 1
"""Whole numbers up to here read the same in every JSON reader (RFC 7493)."""
WRITABLE: Final = (GraphState.CREATING, GraphState.ACTIVE)
"""A graph in these states takes values, DONE and FAILED among them: both are ACTIVE, and may go on."""

Number = int | float
Version = Annotated[int, Strict(), Field(ge=0)]


class OwnerKind(StrEnum):
    """What values may belong to, and go with."""

    GRAPH = "graph"
    SESSION = "session"


class Owner(NamedTuple):
    """Whose values they are, and the ref of the person that they are about."""

    kind: OwnerKind
    id: str
    subject_ref: str | None
    subject: str | None = None
    """The person, where whoever found the owner knows."""


class Author(NamedTuple):
    """Who makes a change, and what tells this very change from every other one."""

    agent: str
    by: str


class Op(StrEnum):
    """What may be done to a value."""

    PUT = "put"
    DELETE = "delete"
    INCREMENT = "increment"
    APPEND = "append"
    MERGE = "merge"


class Change(BaseModel):
    """One change of one value; with a ``version`` only of that version, 0 being none there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Id
    op: Op
    value: JsonValue = Field(
        default_factory=lambda: _NOT_GIVEN, validate_default=True, description="for every operation but `delete`"
    )
    version: Version | None = Field(default=None, description="the version it is meant for; 0: only if there is none")

    @field_validator("value", mode="before")
    @classmethod
    def _fits(cls, value: Any, info: ValidationInfo) -> Any:
        op = info.data.get("op")
        given = value is not _NOT_GIVEN
        if op is not None and given is (op is Op.DELETE):
            wanted = "takes no value; leave it out" if given else "needs a value; give one"
            raise PydanticCustomError("value_for_op", "{op} {wanted}", {"op": op.value, "wanted": wanted})
        return check_operand(op, value) if given else None


_NOT_GIVEN: Final[Any] = object()


def check_operand(op: Op | None, value: Any) -> Any:
    """The value, if it may be an operation's; a number is increased by numbers only.

    Raises:
        PydanticCustomError: as a validator does.
    """
    if op is Op.INCREMENT and not is_number(value):
        raise PydanticCustomError("increment_by", "increment needs a number; give one")
    return value


def _each_key_once(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    seen: set[str] = set()
    for change in changes:
        if change.key in seen:
            raise PydanticCustomError(
                "duplicate_key", "{key} is changed twice; change each key once a call", {"key": change.key}
            )
        seen.add(change.key)
    return changes


Changes = Annotated[tuple[Change, ...], Field(max_length=MAX_CHANGES), AfterValidator(_each_key_once)]


class Value(BaseModel):
    """A value as it stands, or stood."""

    model_config = ConfigDict(frozen=True)

    key: str
    value: JsonValue
    version: int = Field(description="grows by one with each change, also over a delete")
    updated_at: Instant
    updated_by: str = Field(description="the agent that made this version")


class Changed(BaseModel):
    """What a change made of a value."""

    model_config = ConfigDict(frozen=True)

    key: str
    version: int
    deleted: bool = False
    value: JsonValue = None
    left_out: bool = Field(default=False, description="`value` would not fit this answer; read it by its key")


def is_number(value: JsonValue) -> bool:
    """Whether JSON calls it a number: Python's booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def admit(change: Change, version: int) -> bool:
    """Whether a change is meant for a value at this version; 0 is none there.

    Raises:
        NotFound: there is nothing to delete.
    """
    if change.op is Op.DELETE and version == 0:
        raise NotFound(f"there is no value {change.key!r}", key=change.key)
    return change.version in (None, version)


def mismatch(change: Change, current: Value | None) -> VersionMismatch:
    """The refusal of a change that is meant for another version, with the value as it is."""
    if current is None:
        return VersionMismatch({"key": change.key, "value": None, "version": 0})
    return VersionMismatch(current.model_dump(mode="json"))


def applied(change: Change, current: Value | None) -> JsonValue:
    """What the value becomes.

    Raises:
        Conflict: the operation does not fit what is there; ``current`` is the value as it is.
    """
    before = None if current is None else current.value
    match change.op:
        case Op.INCREMENT:
            return _increased(change, current)
        case Op.APPEND:
            if current is not None and not isinstance(before, list):
                raise _unfit(change, current, "a list")
            return [*(before if isinstance(before, list) else ()), change.value]
        case Op.MERGE:
            return merge_patch(before, change.value)
        case _:
            return change.value


def _increased(change: Change, current: Value | None) -> JsonValue:
    before: Any = 0 if current is None else current.value
    by: Any = change.value
    if not is_number(before):
        raise _unfit(change, current, "a number")
    if isinstance(before, int) and isinstance(by, int):
        total: Number = before + by
        fits = abs(total) <= EXACT
    else:
        # As decimals, which is how both are written: 0.1 and 0.2 are 0.3.
        total = float(Decimal(repr(before)) + Decimal(repr(by)))
        fits = math.isfinite(total)
    if fits:
        return total
    limit = f"whole numbers stay within {EXACT:,}" if isinstance(total, int) else "numbers stay within a double"
    raise Conflict(
        f"{change.key!r} would leave the range of its type: {limit}; put a new number", **_facts(change, current)
    )


def _unfit(change: Change, current: Value | None, wanted: str) -> Conflict:
    found = _kind(None if current is None else current.value)
    return Conflict(
        f"{change.key!r} holds {found}, and {change.op} needs {wanted}; put one first", **_facts(change, current)
    )


def _facts(change: Change, current: Value | None) -> dict[str, Any]:
    shown = None if current is None else current.model_dump(mode="json")
    return {"key": change.key, "op": change.op.value, "current": shown}


def _kind(value: JsonValue) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def merge_patch(target: JsonValue, patch: JsonValue) -> JsonValue:
    """A JSON merge patch (RFC 7396): members replace, null removes, anything but an object replaces the whole."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def check_size(key: str, size: int) -> None:
    """Refuse a value that has grown over the bound.

    Raises:
        TooLarge: it has.
    """
    if size > MAX_VALUE_BYTES:
        raise TooLarge(
            f"{key!r} would have {size:,} bytes as JSON, at most {MAX_VALUE_BYTES:,}; split it into several values",
            key=key,
            limit=MAX_VALUE_BYTES,
        )


def fitting(changed: Sequence[Changed], room: int) -> tuple[Changed, ...]:
    """Each with its value as long as all of them fit; of the others the version alone."""
    shown: list[Changed] = []
    for one in changed:
        room -= len(json.dumps(one.value, separators=(",", ":")))
        shown.append(one if room >= 0 else one.model_copy(update={"value": None, "left_out": True}))
    return tuple(shown)
