"""Shared values on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from slate.contract.tasks import Request
from slate.domain.values import Changed, Changes, Op, Value, check_operand


class PutValue(Request):
    """The value to be."""

    value: JsonValue


class PatchValue(Request):
    """A change by what it does: it needs no version, since none is lost whoever else changes the value."""

    op: Literal[Op.INCREMENT, Op.APPEND, Op.MERGE]
    value: JsonValue = Field(description="the number to add, the item to append, the merge patch (RFC 7396)")

    @field_validator("value", mode="before")
    @classmethod
    def _fits(cls, value: Any, info: ValidationInfo) -> Any:
        return check_operand(info.data.get("op"), value)


class ChangeValues(Request):
    """Up to 25 changes, each of another value: all of them, or none."""

    changes: Annotated[Changes, Field(min_length=1)]


class ChangedValues(BaseModel):
    """What the changes made, in their order."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Changed, ...]


class ValuePage(BaseModel):
    """Some values, by key or by version; ``next_cursor`` goes on."""

    model_config = ConfigDict(frozen=True)

    items: tuple[Value, ...]
    next_cursor: str | None
