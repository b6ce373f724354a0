"""The client's methods for shared values: none of them makes a change twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from pydantic import JsonValue, ValidationError

from slate.client.answers import graph_path, pages, parse, segment
from slate.client.calls import Calls
from slate.contract.values import ChangedValues, ValuePage
from slate.domain.errors import Invalid
from slate.domain.values import Change, Changed, Op, Value

AnyChange = Change | Mapping[str, Any]
NOT_THERE: Final = 0
"""The version of a value that is not there: put with it, and only a new value is made."""


class OwnedValues:
    """The values of a graph: ``client.values.increment("g", "visits", 1)``, or of a session.

    A change under a version, or that adds to what is there, carries an Idempotency-Key: sent again after a lost
    answer it is made once, and answered again.
    """

    def __init__(self, calls: Calls, new_id: Callable[[], str], path: Callable[[str], str] = graph_path) -> None:
        """``path`` is that of whatever they belong to."""
        self._calls = calls
        self._new_id = new_id
        self._owner_path = path

    def get(self, owner_id: str, key: str) -> Value:
        """The value as it stands.

        Raises:
            NotFound: there is none.
        """
        return parse(Value, self._calls.call("GET", self._path(owner_id, key)))

    def list(self, owner_id: str, *, prefix: str = "") -> Iterator[Value]:
        """Values by key, of those that start so, page after page as they are asked for."""
        params = {"prefix": prefix} if prefix else {}
        return pages(self._calls, self._path(owner_id), partial(parse, ValuePage), params)

    def history(self, owner_id: str, key: str) -> Iterator[Value]:
        """The version that stands and up to 20 before it, the newest first."""
        return pages(self._calls, f"{self._path(owner_id, key)}/history", partial(parse, ValuePage), {})

    def put(self, owner_id: str, key: str, value: JsonValue, *, version: int | None = None) -> Changed:
        """The value is this from now on; with a ``version`` only over that one, 0 being none there.

        Raises:
            VersionMismatch: it is at another version; ``data["current"]`` is the value.
        """
        if version is None:
            return parse(Changed, self._calls.call("PUT", self._path(owner_id, key), body={"value": value}))
        return self._one(owner_id, Op.PUT, key, value, version)

    def increment(self, owner_id: str, key: str, by: float = 1, *, version: int | None = None) -> Changed:
        """Add to a number; one that is not there begins at 0.

        Raises:
            Conflict: it is no number.
        """
        return self._one(owner_id, Op.INCREMENT, key, by, version)

    def append(self, owner_id: str, key: str, item: JsonValue, *, version: int | None = None) -> Changed:
        """Add an item to the end of a list; one that is not there begins empty.

        Raises:
            Conflict: it is no list.
        """
        return self._one(owner_id, Op.APPEND, key, item, version)

    def merge(self, owner_id: str, key: str, patch: JsonValue, *, version: int | None = None) -> Changed:
        """Merge a patch into an object (RFC 7396): members replace, null removes."""
        return self._one(owner_id, Op.MERGE, key, patch, version)

    def delete(self, owner_id: str, key: str, *, version: int | None = None) -> None:
        """The value and its history go.

        Raises:
            NotFound: there is none.
        """
        if version is None:
            self._calls.call("DELETE", self._path(owner_id, key))
        else:
            self.change(owner_id, [Change(key=key, op=Op.DELETE, version=version)])

    def change(
        self, owner_id: str, changes: Iterable[AnyChange], *, idempotency_key: str | None = None
    ) -> tuple[Changed, ...]:
        """Up to 25 changes, each of another value: all of them, or none.

        Raises:
            VersionMismatch, Conflict, NotFound, TooLarge: one cannot be made; none was.
        """
        body = {"changes": changes_of(changes)}
        key = idempotency_key or self._new_id()
        return parse(
            ChangedValues, self._calls.call("POST", self._path(owner_id), body=body, idempotency_key=key)
        ).items

    def _one(self, owner_id: str, op: Op, key: str, value: JsonValue, version: int | None) -> Changed:
        (changed,) = self.change(owner_id, [{"key": key, "op": op.value, "value": value, "version": version}])
        return changed

    def _path(self, owner_id: str, key: str | None = None) -> str:
        return f"{self._owner_path(owner_id)}/values" + ("" if key is None else f"/{segment('key', key)}")


def changes_of(changes: Iterable[AnyChange]) -> list[dict[str, Any]]:
    """Changes as a body carries them.

    Raises:
        Invalid: one makes no sense; nothing was sent.
    """
    made: list[dict[str, Any]] = []
    for i, given in enumerate(changes):
        try:
            change = given if isinstance(given, Change) else Change.model_validate(given)
        except ValidationError as error:
            where, message = error.errors()[0]["loc"], error.errors()[0]["msg"]
            raise Invalid.field(".".join(map(str, (f"changes[{i}]", *where))), message) from None
        body: dict[str, Any] = {"key": change.key, "op": change.op.value}
        if change.op is not Op.DELETE:
            body["value"] = change.value
        if change.version is not None:
            body["version"] = change.version
        made.append(body)
    return made
