"""The routes of a graph's shared values, and of named locks."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from slate.contract.locks import AcquireLock, BeatLock, LockBeat, ReleaseLock
from slate.contract.values import ChangedValues, ChangeValues, PatchValue, PutValue, ValuePage
from slate.domain.access import Principal, Scope
from slate.domain.locks import HeldLock, Lock
from slate.domain.values import Changed, OwnerKind, Value
from slate.service.locks import Locks
from slate.service.values import Values
from slate_functions.http.dependencies import IdempotencyKey, IfMatch, KeyPaging, Paging, PathId
from slate_functions.http.routes import delete, get, patch, post, put
from slate_functions.tasks_api import values_examples as examples

READ: Final = Scope.TASKS_READ
WRITE: Final = Scope.TASKS_WRITE
CONFLICT: Final = (HTTPStatus.CONFLICT,)
GRAPH: Final = OwnerKind.GRAPH

VALUES: Final = "/v1/graphs/{graph_id}/values"
VALUE: Final = "/v1/graphs/{graph_id}/values/{key}"
LOCK: Final = "/v1/locks/{name}"


class ValueRoutes:
    """Values: JSON documents that a graph's agents share."""

    def __init__(self, values: Values) -> None:
        self._values = values

    @get(VALUES, scope=READ, gives=examples.VALUE_PAGE)
    def list_values(self, principal: Principal, graph_id: PathId, query: KeyPaging) -> ValuePage:
        """List values by key; fewer than `limit` where more would not fit an answer."""
        return self._values.list(principal, GRAPH, graph_id, query.prefix, query.limit, query.cursor)

    @post(
        VALUES,
        scope=WRITE,
        refusals=(*CONFLICT, HTTPStatus.PRECONDITION_FAILED),
        sends=examples.CHANGES,
        gives=examples.CHANGED,
    )
    def change_values(
        self, principal: Principal, graph_id: PathId, body: ChangeValues, idempotency_key: IdempotencyKey
    ) -> ChangedValues:
        """Change up to 25 values: all of them, or none."""
        return self._values.change(principal, GRAPH, graph_id, body, idempotency_key)

    @get(VALUE, scope=READ, gives=examples.VALUE)
    def get_value(self, principal: Principal, graph_id: PathId, key: PathId) -> Value:
        """Read a value."""
        return self._values.get(principal, GRAPH, graph_id, key)

    @put(VALUE, scope=WRITE, refusals=CONFLICT, sends=examples.PUT, gives=examples.PUT_VALUE)
    def put_value(
        self, principal: Principal, graph_id: PathId, key: PathId, body: PutValue, if_match: IfMatch
    ) -> Changed:
        """Create or replace a value; with `If-Match: "0"` only where there is none."""
        return self._values.put(principal, GRAPH, graph_id, key, body, if_match)

    @patch(VALUE, scope=WRITE, refusals=CONFLICT, sends=examples.PATCH, gives=examples.PATCHED_VALUE)
    def patch_value(
        self,
        principal: Principal,
        graph_id: PathId,
        key: PathId,
        body: PatchValue,
        if_match: IfMatch,
        idempotency_key: IdempotencyKey,
    ) -> Changed:
        """Increment, append or merge; a value that is not there begins at 0, as an empty list, as an empty object."""
        return self._values.patch(principal, GRAPH, graph_id, key, body, if_match, idempotency_key)

    @delete(VALUE, scope=WRITE, status=HTTPStatus.NO_CONTENT, refusals=CONFLICT)
    def delete_value(self, principal: Principal, graph_id: PathId, key: PathId, if_match: IfMatch) -> None:
        """Delete a value and its history; made again, its versions go on."""
        self._values.delete(principal, GRAPH, graph_id, key, if_match)

    @get(f"{VALUE}/history", scope=READ, gives=examples.HISTORY_PAGE)
    def list_versions(self, principal: Principal, graph_id: PathId, key: PathId, query: Paging) -> ValuePage:
        """List the version that stands and up to 20 before it, the newest first."""
        return self._values.history(principal, GRAPH, graph_id, key, query.limit, query.cursor)


class LockRoutes:
    """Locks: one holder of a name at a time, for whatever lies outside."""

    def __init__(self, locks: Locks) -> None:
        self._locks = locks

    @post(LOCK, scope=WRITE, waits=True, refusals=CONFLICT, sends=examples.ACQUIRE, gives=examples.HELD)
    def acquire_lock(
        self, principal: Principal, name: PathId, body: AcquireLock, idempotency_key: IdempotencyKey
    ) -> HeldLock:
        """Acquire a lock that is free or whose lease has lapsed; with `wait_seconds`, wait for it so long."""
        return self._locks.acquire(principal, name, body, idempotency_key)

    @get(LOCK, scope=READ, gives=examples.LOCK)
    def get_lock(self, principal: Principal, name: PathId) -> Lock:
        """Look who holds a lock, and until when."""
        return self._locks.get(principal, name)

    @post(f"{LOCK}/heartbeat", scope=WRITE, refusals=CONFLICT, sends=examples.BEAT, gives=examples.BEATEN)
    def extend_lock(self, principal: Principal, name: PathId, body: BeatLock) -> LockBeat:
        """Say that the holder is alive: the lease is extended."""
        return self._locks.heartbeat(principal, name, body)

    @post(f"{LOCK}/release", scope=WRITE, refusals=CONFLICT, sends=examples.RELEASE, gives=examples.FREE)
    def release_lock(self, principal: Principal, name: PathId, body: ReleaseLock) -> Lock:
        """Give a lock back; its epoch stays, so that the next holder's is higher."""
        return self._locks.release(principal, name, body)
