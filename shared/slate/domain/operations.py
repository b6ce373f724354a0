"""The operation under way: for which tenant, with what intent, and whose fences it has seen.

It is found by context and not handed down: every store would have to hand it through, and one that forgot would be
let in everywhere. No storage is reached for a tenant but the one that is being worked for.
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

    def __init__(self, intent: Intent, tenant: str | None) -> None:
        self.intent = intent
        self.tenant = tenant
        """None: it is not known yet, or it is nobody's; what is done has no tenant's credentials."""
        self.seen: dict[Person, Fence] = {}
        self.sealed: set[Person] = set()


_UNDER_WAY: Final[ContextVar[Operation | None]] = ContextVar("slate_operation", default=None)


def under_way() -> Operation | None:
    """The operation that this thread works on."""
    return _UNDER_WAY.get()


def working_for() -> str | None:
    """The tenant of the operation under way; None where there is no operation, or it has none."""
    operation = _UNDER_WAY.get()
    return None if operation is None else operation.tenant


def only_for(tenant: str) -> None:
    """Let somebody's storage be reached, unless it is another's than who is being worked for.

    Raises:
        PermissionError: it is: a fault of ours, loud in every environment and under -O.
    """
    if working_for() not in (None, tenant):
        raise PermissionError(f"data of the tenant {tenant} in an operation of another's")


@contextmanager
def begun(intent: Intent, tenant: str | None) -> Iterator[Operation]:
    """An operation of its own, also within another; it works for that one's tenant if it names none.

    Raises:
        PermissionError: it names another tenant than the one that is being worked for.
    """
    if tenant is not None:
        only_for(tenant)
    operation = Operation(intent, tenant or working_for())
    token = _UNDER_WAY.set(operation)
    try:
        yield operation
    finally:
        _UNDER_WAY.reset(token)
