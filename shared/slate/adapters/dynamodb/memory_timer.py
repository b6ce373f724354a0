"""Finds what has fallen due of memory in the timer index."""

from __future__ import annotations

from collections.abc import Iterator

from slate.adapters.dynamodb.calls import Key
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
    partition_of,
    session_key,
    session_pk,
    subject_pk,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.timer_entries import TimerEntries
from slate.ports.memory_timer import DueMemory, MemoryKind


class DynamoMemoryTimer:
    """Reads and moves entries; what is done about each is the use cases'."""

    def __init__(self, storage: Storage) -> None:
        self._entries = TimerEntries(storage, "memory")

    def due(self, shard: int, at_once: int, *, by: int | None = None) -> Iterator[DueMemory]:
        """A query of one shard for each ``at_once`` of them."""
        return map(_due, self._entries.due(shard, at_once, by))

    def postpone(self, due: DueMemory, ms: int) -> None:
        """One update."""
        self._entries.postpone(due.tenant, _key(due), ms)


def _due(key: Key) -> DueMemory:
    tenant, _, owner = partition_of(key.pk)
    sk = key.sk
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
