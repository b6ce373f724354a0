"""Named locks: one small item each, that stays when the lock is free, so that its epoch never starts again."""

from __future__ import annotations

from typing import Any, Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.keys import lock_key
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import LeaseLost
from slate.domain.locks import Lock, LockLease

_FREE: Final = "attribute_not_exists(#lease_until) OR #lease_until <= :now"
_MINE: Final = "#epoch = :epoch AND #token = :token AND attribute_exists(#lease_until)"


class DynamoLockStore:
    """Keeps locks in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def acquire(
        self, tenant: str, name: str, agent: str, nonce: str, lease_seconds: int
    ) -> tuple[LockLease, int] | Lock:
        """One update, which also makes the item; a lapsed lease is taken over by whoever comes, without a sweeper."""
        now = self._storage.clock.now()
        change = (
            Change()
            .set(token=nonce, agent=agent, lease_until=now + lease_seconds * 1000, updated_at=now)
            .let(epoch="if_not_exists(#epoch, :zero) + :one")
        )
        try:
            item = self._storage.calls.write(tenant, change.on(lock_key(tenant, name), _FREE, now=now))
        except ConditionFailed as failed:
            item = failed.old or {}
            if item.get("token") != nonce:
                return self._shown(name, item)
            # An earlier try of this very call applied, and its reply was lost.
        lease = LockLease(name=name, nonce=nonce, epoch=item["epoch"], agent=item["agent"], lease_seconds=lease_seconds)
        return lease, int(item["lease_until"])

    def heartbeat(self, tenant: str, lease: LockLease, lease_seconds: int) -> int:
        """One update. A lease that lapsed and that nobody took over goes on."""
        until = self._storage.clock.now() + lease_seconds * 1000
        change = Change().set(lease_until=until)
        write = change.on(lock_key(tenant, lease.name), f"{_MINE} AND #lease_until <= :lease_until", **_own(lease))
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed as failed:
            if failed.old is None or not _is_held(failed.old, lease):
                raise self._lost(lease, failed.old) from None
            return int(failed.old["lease_until"])  # later already
        return until

    def release(self, tenant: str, lease: LockLease) -> Lock:
        """One update; token and epoch stay, so that a repeat knows its own release."""
        change = Change().set(updated_at=self._storage.clock.now()).remove("lease_until")
        try:
            item = self._storage.calls.write(tenant, change.on(lock_key(tenant, lease.name), _MINE, **_own(lease)))
        except ConditionFailed as failed:
            if failed.old is None or not _is_own(failed.old, lease):
                raise self._lost(lease, failed.old) from None
            item = failed.old
        return self._shown(lease.name, item)

    def get(self, tenant: str, name: str) -> Lock:
        """One read."""
        return self._shown(name, self._storage.calls.get(tenant, lock_key(tenant, name)))

    def _shown(self, name: str, item: Item | None) -> Lock:
        if item is None:
            return Lock(name=name, held=False)
        until = item.get("lease_until")
        if until is None or until <= self._storage.clock.now():
            return Lock(name=name, held=False, epoch=item["epoch"])
        return Lock(name=name, held=True, holder=item["agent"], lease_until=until, epoch=item["epoch"])

    def _lost(self, lease: LockLease, old: Item | None) -> LeaseLost:
        now = self._shown(lease.name, old).model_dump(mode="json")
        return LeaseLost("this token no longer holds the lock; stop, and acquire it anew", **now)


def _own(lease: LockLease) -> dict[str, Any]:
    return {"epoch": lease.epoch, "token": lease.nonce}


def _is_own(item: Item, lease: LockLease) -> bool:
    return bool(item["epoch"] == lease.epoch and item["token"] == lease.nonce)


def _is_held(item: Item, lease: LockLease) -> bool:
    return _is_own(item, lease) and "lease_until" in item
