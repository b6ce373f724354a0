"""An update, put together clause by clause, so that a step of the protocol reads as its row in the table.

Values named after a state (``:RUNNING``) are known everywhere; ``:one`` and ``:zero`` too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

from slate.adapters.dynamodb.calls import Item, Key, Write
from slate.domain.graphs import GraphState
from slate.domain.tasks import OPEN, TaskState

CONSTANTS: Final[Mapping[str, Any]] = {
    **{f":{state}": state.value for state in (*TaskState, *GraphState)},
    ":zero": 0,
    ":one": 1,
    ":yes": True,
}
IS_OPEN: Final = f"#state IN ({', '.join(f':{state}' for state in OPEN)})"


class Change:
    """The SET and REMOVE clauses of one update, and their values."""

    def __init__(self, **values: Any) -> None:
        self._sets: list[str] = []
        self._removes: list[str] = []
        self._deletes: list[str] = []
        self._values: dict[str, Any] = {**CONSTANTS, **{f":{name}": value for name, value in values.items()}}

    def set(self, **values: Any) -> Self:
        """Each attribute becomes the value."""
        for name, value in values.items():
            self._sets.append(f"#{name} = :{name}")
            self._values[f":{name}"] = value
        return self

    def let(self, **expressions: str) -> Self:
        """Each attribute becomes what the expression says of the item as it was."""
        self._sets += [f"#{name} = {expression}" for name, expression in expressions.items()]
        return self

    def grow(self, *names: str) -> Self:
        """Each counter grows by one."""
        return self.let(**{name: f"#{name} + :one" for name in names})

    def remove(self, *names: str) -> Self:
        """The attributes go."""
        self._removes += [f"#{name}" for name in names]
        return self

    def take(self, name: str, *members: int) -> Self:
        """The members leave a set."""
        self._deletes.append(f"#{name} :{name}_members")
        self._values[f":{name}_members"] = set(members)
        return self

    def note(self, line: str) -> Self:
        """A line joins the history, and the version grows: one a change of state."""
        self._values[":line"] = [line]
        return self.let(history="list_append(#history, :line)").grow("version")

    def on(self, key: Key, condition: str, **values: Any) -> Write:
        """The update of this item, if the condition holds."""
        clauses = (("SET", self._sets), ("REMOVE", self._removes), ("DELETE", self._deletes))
        expression = " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts)
        named = {f":{name}": value for name, value in values.items()}
        return Write(key, condition, {**self._values, **named}, expression)


def check(key: Key, condition: str, **values: Any) -> Write:
    """A condition on an item that is not itself changed."""
    return Write(key, condition, {**CONSTANTS, **{f":{name}": value for name, value in values.items()}})


def removal(key: Key, condition: str = "attribute_exists(#pk)") -> Write:
    """A delete, by default of something that is there."""
    return Write(key, condition, dict(CONSTANTS), delete=True)


def put(item: Item, condition: str = "attribute_not_exists(#pk)") -> Write:
    """A put, by default of something new."""
    return Write(Key(item["pk"], item["sk"]), condition, dict(CONSTANTS), item=item)
