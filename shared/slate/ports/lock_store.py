"""Named locks under the lease protocol of tasks: each method is one conditional write, judged by its condition."""

from __future__ import annotations

from typing import Protocol

from slate.domain.locks import Lock, LockLease


class LockStore(Protocol):
    """Keeps locks. They hold no content and nothing about a person."""

    def acquire(
        self, tenant: str, name: str, agent: str, nonce: str, lease_seconds: int
    ) -> tuple[LockLease, int] | Lock:
        """Take a lock that is free, or whose lease has lapsed, under a new epoch: the lease, and when it ends.

        Answers the lock as it stands where another has it.
        """
        ...

    def heartbeat(self, tenant: str, lease: LockLease, lease_seconds: int) -> int:
        """The lease ends so much from now, never earlier than before; answer when.

        Raises:
            LeaseLost: another has taken it over, or it was released.
        """
        ...

    def release(self, tenant: str, lease: LockLease) -> Lock:
        """The lock is free, and keeps its epoch; one that this lease released before answers the same.

        Raises:
            LeaseLost: another has taken it over.
        """
        ...

    def get(self, tenant: str, name: str) -> Lock:
        """The lock as it stands, strongly consistent."""
        ...
