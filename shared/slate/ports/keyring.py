"""The keys that content is sealed under: one for each tenant, one for each person a tenant holds data about.

A person's key belongs to an epoch, which ends when they are erased. No content is sealed or opened without its key, so
the keys are where the fence stands: every use of a person's key asks it first.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from slate.domain.fences import Intent


class Operate(Protocol):
    """``Keyring.operation``, for whoever needs no key."""

    def __call__(self, intent: Intent, tenant: str | None = None) -> AbstractContextManager[None]:
        """Begin an operation."""
        ...


class DataKey(NamedTuple):
    """A key, and the epoch of the person that it seals for; 0 for a tenant's."""

    epoch: int
    secret: bytes
    """32 bytes."""


class Keyring(Protocol):
    """Gives keys. A key that is gone stays gone: that is what erasing a person rests on."""

    def operation(self, intent: Intent, tenant: str | None = None) -> AbstractContextManager[None]:
        """One request, message or due entry: it reaches one tenant's data, and reads each person's fence once.

        It ends with reading the fence of everybody for whom something was sealed once more. So what it acknowledges
        was written before any erasure's fence; what it wrote behind one it never acknowledges, and that is sealed
        under a dead key. Outside an operation every use of a key reads the fence. One within another has its own look.

        Raises:
            SubjectErased: at its end, the fence of somebody it wrote about has moved.
        """
        ...

    def sealing_key(self, tenant: str, ref: str | None) -> DataKey:
        """What to seal new content under, made and kept at the first call; the tenant's own without a ref.

        Raises:
            SubjectErased: the person is being erased.
            SubjectHeld: the operation would serve or delete what is on hold.
            Unavailable: the keys cannot be read or unwrapped now.
        """
        ...

    def digest_key(self, tenant: str, ref: str | None) -> DataKey:
        """The same key, to tell content by: asking for it writes nothing about anybody. Raises as ``sealing_key``."""
        ...

    def opening_key(self, tenant: str, ref: str | None, epoch: int) -> DataKey:
        """What content of this epoch was sealed under; never makes one.

        Raises:
            SubjectErased: the person is being or was erased, or there is no such key (any more).
            SubjectHeld: the operation would serve or delete what is on hold.
            Unavailable: the keys cannot be read or unwrapped now.
        """
        ...

    def purpose_key(self, tenant: str, purpose: str) -> bytes:
        """32 bytes derived from the tenant's key for one purpose (HKDF-SHA256, RFC 5869), always the same."""
        ...

    def ref(self, tenant: str, subject: str) -> str:
        """What stands for a person in keys and logs, where their data may be reached.

        Raises:
            SubjectErased: the person is being erased.
            SubjectHeld: the operation would serve or delete what is on hold.
        """
        ...

    def name(self, tenant: str, subject: str) -> str:
        """The same, whatever is going on with the person: an HMAC of the subject's id under the tenant's key."""
        ...

    def admit(self, tenant: str, ref: str | None) -> None:
        """Let the operation reach somebody's data, or say why not. Raises as ``ref``; nothing where it is nobody's."""
        ...

    def confirm(self, tenant: str, ref: str) -> None:
        """Read the fence anew, for what was written outside the storage.

        Raises:
            SubjectErased: it is closed, or has moved since this operation first looked.
        """
        ...

    def count(self, tenant: str, ref: str, before: int) -> int:
        """How many keys a person has of epochs before this one."""
        ...

    def shred(self, tenant: str, ref: str, before: int) -> int:
        """Destroy a person's keys of all epochs before this one, for good; how many were there."""
        ...


class KeyWrapper(Protocol):
    """Wraps a data key so that it can be stored; the tenant and the ref are bound to it and must be given again."""

    def wrap(self, key: bytes, tenant: str, ref: str) -> bytes:
        """The wrapped form."""
        ...

    def unwrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
        """The key itself.

        Raises:
            Unavailable: the wrapping service is out of reach, or refuses.
        """
        ...

    def rewrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
        """The same key, wrapped by the wrapping key in use now, whichever wrapped it.

        Raises:
            Unavailable: as ``unwrap``.
        """
        ...
