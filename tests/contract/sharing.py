"""The few words in which tests speak of values and locks."""

from __future__ import annotations

from typing import Any

from contract.world import World
from slate.contract.locks import AcquireLock, BeatLock, LockBeat, ReleaseLock
from slate.contract.values import ChangedValues, ChangeValues, PatchValue, PutValue
from slate.domain.access import Principal
from slate.domain.locks import HeldLock, Lock
from slate.domain.values import Changed, OwnerKind, Value

GRAPH = OwnerKind.GRAPH


def put(w: World, key: str, value: Any, version: int | None = None, graph_id: str = "g") -> Changed:
    return w.slate.values.put(w.me, GRAPH, graph_id, key, PutValue(value=value), version)


def patch(
    w: World,
    op: str,
    key: str,
    value: Any,
    version: int | None = None,
    *,
    once: str | None = None,
    by: Principal | None = None,
    graph_id: str = "g",
) -> Changed:
    body = PatchValue.model_validate({"op": op, "value": value})
    return w.slate.values.patch(by or w.me, GRAPH, graph_id, key, body, version, once)


def remove(w: World, key: str, version: int | None = None) -> None:
    w.slate.values.delete(w.me, GRAPH, "g", key, version)


def change(w: World, *changes: dict[str, Any], once: str | None = None) -> ChangedValues:
    body = ChangeValues.model_validate({"changes": changes})
    return w.slate.values.change(w.me, GRAPH, "g", body, once)


def get(w: World, key: str, by: Principal | None = None, graph_id: str = "g") -> Value:
    return w.slate.values.get(by or w.me, GRAPH, graph_id, key)


def listed(w: World, prefix: str = "", limit: int = 100) -> dict[str, Any]:
    """Every value by key, page after page."""
    found: dict[str, Any] = {}
    cursor = None
    while True:
        page = w.slate.values.list(w.me, GRAPH, "g", prefix, limit, cursor)
        assert len(page.items) <= limit
        found |= {value.key: value.value for value in page.items}
        if (cursor := page.next_cursor) is None:
            return found


def versions(w: World, key: str, limit: int = 100) -> list[tuple[int, Any]]:
    """Every version that can still be read, the newest first, page after page."""
    found: list[tuple[int, Any]] = []
    cursor = None
    while True:
        page = w.slate.values.history(w.me, GRAPH, "g", key, limit, cursor)
        assert len(page.items) <= limit
        found += [(value.version, value.value) for value in page.items]
        if (cursor := page.next_cursor) is None:
            return found


def acquire(
    w: World, name: str = "l", by: Principal | None = None, *, seconds: int = 30, wait: int = 0, once: str | None = None
) -> HeldLock:
    return w.slate.locks.acquire(by or w.me, name, AcquireLock(lease_seconds=seconds, wait_seconds=wait), once)


def beat(w: World, held: HeldLock, seconds: int | None = None, by: Principal | None = None) -> LockBeat:
    return w.slate.locks.heartbeat(by or w.me, held.name, BeatLock(token=held.token, lease_seconds=seconds))


def free(w: World, held: HeldLock, by: Principal | None = None) -> Lock:
    return w.slate.locks.release(by or w.me, held.name, ReleaseLock(token=held.token))


def look(w: World, name: str = "l") -> Lock:
    return w.slate.locks.get(w.me, name)
