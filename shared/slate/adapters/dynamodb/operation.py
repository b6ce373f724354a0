"""The operation under way: what it is about to do, which fences it has seen, and for whom it has sealed something.

It is found by context and not handed down, since every store would have to hand it through for the keyring's sake.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

from slate.domain.fences import Fence, Intent


class Person(NamedTuple):
    """Somebody a tenant holds data about."""

    tenant: str
    ref: str


class Operation:
    """One request, message or due entry, in however many threads."""

    def __init__(self, intent: Intent) -> None:
        self.intent = intent
        self.seen: dict[Person, Fence] = {}
        self.sealed: set[Person] = set()


_UNDER_WAY: Final[ContextVar[Operation | None]] = ContextVar("slate_operation", default=None)


def under_way() -> Operation | None:
    """The operation that this thread works on."""
    return _UNDER_WAY.get()


@contextmanager
def begun(intent: Intent) -> Iterator[Operation]:
    """An operation of its own, also within another."""
    operation = Operation(intent)
    token = _UNDER_WAY.set(operation)
    try:
        yield operation
    finally:
        _UNDER_WAY.reset(token)
