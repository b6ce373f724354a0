"""Finds what has fallen due of memory in the timer index."""

from __future__ import annotations

from collections.abc import Iterator

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.keys import (
    AUDIT_DAY,
    CONTENT_OF_TURN,
    EXPORT,
    LIVING_FACT,
    PAST_FACT,
    SCRUB,
    audit_day_key,
    content_key,
    export_key,
    session_key,
    session_pk,
    subject_pk,
    timer_attributes,
    timer_pk,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import TIMER, TIMER_PK, TIMER_SK
from slate.ports.memory_timer import DueMemory, MemoryKind


class DynamoMemoryTimer:
    """Reads and moves entries; what is done about each is the use cases'."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def due(self, shard: int, at_once: int, *, by: int | None = None) -> Iterator[DueMemory]:
        """A query of one shard for each ``at_once`` of them."""
        last = self._storage.clock.now() if by is None else by
        pk, sk = (TIMER_PK, timer_pk("memory", shard)), (TIMER_SK, "<", f"{last + 1:015d}")
        return map(_due, self._storage.calls.walk_index(TIMER, pk, sk, at_once=at_once))

    def postpone(self, due: DueMemory, ms: int) -> None:
        """Move the entry, if the item is still in the timer."""
        key = _key(due)
        change = Change().set(**timer_attributes(key, self._storage.clock.now() + ms, "memory"))
        try:
            self._storage.calls.write(due.tenant, change.on(key, "attribute_exists(#timer_pk)"))
        except ConditionFailed:
            return  # nothing is due on it any more


def _due(item: Item) -> DueMemory:
    tenant, _, owner = str(item["pk"]).split("#")
    sk = str(item["sk"])
    if sk.startswith(CONTENT_OF_TURN):
        return DueMemory(tenant, MemoryKind.CONTENT, owner, sk.removeprefix(CONTENT_OF_TURN))
    if sk.startswith(PAST_FACT):
        return DueMemory(tenant, MemoryKind.FACT, owner, sk.removeprefix(PAST_FACT))
    if sk.startswith(LIVING_FACT):
        return DueMemory(tenant, MemoryKind.LIVING, owner, sk.removeprefix(LIVING_FACT))
    if sk.startswith(AUDIT_DAY):
        return DueMemory(tenant, MemoryKind.AUDIT, sk.removeprefix(AUDIT_DAY))
    if sk == SCRUB:
        return DueMemory(tenant, MemoryKind.SCRUB, owner)
    if sk == EXPORT:
        return DueMemory(tenant, MemoryKind.EXPORT, owner)
    return DueMemory(tenant, MemoryKind.SESSION, owner)


def _key(due: DueMemory) -> Key:
    if due.kind is MemoryKind.CONTENT:
        return content_key(session_pk(due.tenant, due.owner), due.name)
    if due.kind is MemoryKind.SCRUB:
        return Key(subject_pk(due.tenant, due.owner), SCRUB)
    if due.kind is MemoryKind.FACT:
        return Key(subject_pk(due.tenant, due.owner), PAST_FACT + due.name)
    if due.kind is MemoryKind.LIVING:
        return Key(subject_pk(due.tenant, due.owner), LIVING_FACT + due.name)
    if due.kind is MemoryKind.AUDIT:
        return audit_day_key(due.tenant, due.owner)
    if due.kind is MemoryKind.EXPORT:
        return export_key(due.tenant, due.owner)
    return session_key(due.tenant, due.owner)
