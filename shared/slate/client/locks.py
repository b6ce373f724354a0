"""The client's methods for named locks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from slate.client.answers import parse, segment
from slate.client.calls import Calls
from slate.contract.locks import DEFAULT_LEASE_SECONDS, LockBeat
from slate.domain.errors import LeaseLost
from slate.domain.locks import HeldLock, Lock


class NamedLocks:
    """Named locks: ``with client.locks.hold("ledger") as held: ledger.write(entry, epoch=held.epoch)``."""

    def __init__(self, calls: Calls, new_id: Callable[[], str]) -> None:
        self._calls = calls
        self._new_id = new_id

    def acquire(
        self,
        name: str,
        *,
        lease_seconds: int = DEFAULT_LEASE_SECONDS,
        wait_seconds: int = 0,
        idempotency_key: str | None = None,
    ) -> HeldLock:
        """Take a lock that is free or whose lease has lapsed; wait for it up to 20 seconds.

        Raises:
            ClaimLost: another holds it; ``data`` has ``holder`` and ``lease_until``.
        """
        body = {"lease_seconds": lease_seconds, "wait_seconds": wait_seconds}
        key = idempotency_key or self._new_id()
        answer = self._calls.call("POST", _path(name), body=body, idempotency_key=key, waits=wait_seconds)
        return parse(HeldLock, answer)

    def heartbeat(self, held: HeldLock, *, lease_seconds: int | None = None) -> LockBeat:
        """Say that the holder is alive: the lease is extended.

        Raises:
            LeaseLost: the lock is no longer this holder's; stop.
        """
        body = {"token": held.token} | ({} if lease_seconds is None else {"lease_seconds": lease_seconds})
        return parse(LockBeat, self._calls.call("POST", f"{_path(held.name)}/heartbeat", body=body))

    def release(self, held: HeldLock) -> Lock:
        """Give the lock back.

        Raises:
            LeaseLost: another has taken it over.
        """
        return parse(Lock, self._calls.call("POST", f"{_path(held.name)}/release", body={"token": held.token}))

    def get(self, name: str) -> Lock:
        """Who holds it, and until when."""
        return parse(Lock, self._calls.call("GET", _path(name)))

    @contextmanager
    def hold(
        self, name: str, *, lease_seconds: int = DEFAULT_LEASE_SECONDS, wait_seconds: int = 0
    ) -> Iterator[HeldLock]:
        """Hold a lock for as long as a ``with`` lasts, which must be shorter than the lease, or send heartbeats.

        Raises:
            ClaimLost: as in ``acquire``.
            LeaseLost: at the end: the lease lapsed, and another has taken the lock over meanwhile.
        """
        held = self.acquire(name, lease_seconds=lease_seconds, wait_seconds=wait_seconds)
        try:
            yield held
        except BaseException:
            with suppress(LeaseLost):  # what went wrong inside says more
                self.release(held)
            raise
        self.release(held)


def _path(name: str) -> str:
    return f"/v1/locks/{segment('name', name)}"
