"""Named locks: one holder at a time across a tenant, for whatever lies outside of Slate.

A lock holds nothing about a person, and its holders are agents of the whole tenant: so a key that is bound to one
subject, which may learn of nobody else, reaches none.
"""

from __future__ import annotations

import json
from typing import Any, Final, cast

from pydantic import JsonValue

from slate.contract.locks import AcquireLock, BeatLock, LockBeat, ReleaseLock
from slate.domain.access import Principal
from slate.domain.errors import ClaimLost, Forbidden, Invalid, LeaseLost
from slate.domain.locks import HeldLock, Lock, LockLease
from slate.ports.clock import Clock
from slate.ports.keyring import Keyring
from slate.ports.lock_store import LockStore
from slate.ports.wakeups import Wakeups, lock_topic
from slate.service.idempotency import Idempotency
from slate.service.sealing import Opaque
from slate.service.waiting import Waiting

SOON_SECONDS: Final = 0.1
"""Nobody looks more often, however near the end of the lease is."""
_FIELDS: Final = tuple(LockLease.model_fields)


class Locks:
    """The use cases of locks."""

    def __init__(
        self,
        locks: LockStore,
        keyring: Keyring,
        idempotency: Idempotency,
        waiting: Waiting,
        wakeups: Wakeups,
        clock: Clock,
    ) -> None:
        self._locks = locks
        self._opaque = Opaque(keyring, "lock")
        self._idempotency = idempotency
        self._waiting = waiting
        self._wakeups = wakeups
        self._clock = clock

    def acquire(self, principal: Principal, name: str, body: AcquireLock, idempotency_key: str | None) -> HeldLock:
        """Take a lock that is free or whose lease has lapsed; with ``wait_seconds``, once it is.

        Raises:
            ClaimLost: another has it, or this very agent by another call: who, and until when.
            Forbidden: the key is bound to a subject.
        """
        _unbound(principal)

        def do(seed: str) -> tuple[HeldLock, JsonValue]:
            held = self._acquire(principal, name, body, seed)
            return held, cast("JsonValue", held.model_dump())

        request: JsonValue = [f"POST /v1/locks/{name}", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, _again)

    def _acquire(self, principal: Principal, name: str, body: AcquireLock, nonce: str) -> HeldLock:
        tenant = principal.tenant
        seen = Lock(name=name, held=False)

        def look() -> HeldLock | None:
            nonlocal seen
            answer = self._locks.acquire(tenant, name, principal.agent, nonce, body.lease_seconds)
            if isinstance(answer, Lock):
                seen = answer
                return None
            lease, until = answer
            return HeldLock(name=name, token=self._token(tenant, lease), epoch=lease.epoch, lease_until=until)

        def lapses() -> float | None:
            if seen.lease_until is None:
                return None
            return max((seen.lease_until - self._clock.now()) / 1000, SOON_SECONDS)

        topics = [lock_topic(tenant, name)]
        held = self._waiting.until(look, topics=topics, seconds=body.wait_seconds, within=lapses)
        if held is None:
            raise _lost(seen)
        return held

    def heartbeat(self, principal: Principal, name: str, body: BeatLock) -> LockBeat:
        """The lease goes on.

        Raises:
            LeaseLost: another has taken the lock over, or it was released.
        """
        lease = self._lease(principal, name, body.token)
        until = self._locks.heartbeat(principal.tenant, lease, body.lease_seconds or lease.lease_seconds)
        return LockBeat(epoch=lease.epoch, lease_until=until)

    def release(self, principal: Principal, name: str, body: ReleaseLock) -> Lock:
        """The lock is free for whoever comes, and who waits for it is told; a repeat answers the same.

        Raises:
            LeaseLost: another has taken it over.
        """
        lock = self._locks.release(principal.tenant, self._lease(principal, name, body.token))
        self._wakeups.tell(lock_topic(principal.tenant, name))
        return lock

    def get(self, principal: Principal, name: str) -> Lock:
        """Who holds it, and until when."""
        _unbound(principal)
        return self._locks.get(principal.tenant, name)

    def _token(self, tenant: str, lease: LockLease) -> str:
        values = [getattr(lease, field) for field in _FIELDS]
        return self._opaque.seal(tenant, json.dumps(values, separators=(",", ":")).encode())

    def _lease(self, principal: Principal, name: str, token: str) -> LockLease:
        _unbound(principal)
        content = self._opaque.open(principal.tenant, token)
        if content is None:
            raise Invalid.field("token", "this is not a token of a lock; send the one that acquiring answered with")
        lease = LockLease(**dict(zip(_FIELDS, json.loads(content), strict=True)))
        if lease.name != name:
            raise LeaseLost("this token is another lock's; send the one that acquiring this lock answered with")
        return lease


def _unbound(principal: Principal) -> None:
    if principal.subject is not None:
        raise Forbidden("locks are the whole tenant's, and this key is bound to one subject; use a key that is not")


def _again(kept: JsonValue) -> HeldLock:
    return HeldLock(**cast("dict[str, Any]", kept))


def _lost(lock: Lock) -> ClaimLost:
    shown = lock.model_dump(mode="json")
    return ClaimLost(
        f"{lock.holder} holds the lock {lock.name!r} until {shown['lease_until']}; wait for it with `wait_seconds`, "
        "or come again then",
        **shown,
    )
