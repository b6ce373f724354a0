"""The keys that content is sealed under: one for each tenant, one for each person a tenant holds data about."""

from __future__ import annotations

from typing import Protocol


class Keyring(Protocol):
    """Gives keys. A key that is gone stays gone: that is what erasing a person rests on."""

    def sealing_key(self, tenant: str, ref: str | None) -> bytes:
        """32 bytes to seal new content under, made and kept at the first call; the tenant's own without a ref.

        Raises:
            Unavailable: the keys cannot be read or unwrapped now.
        """
        ...

    def opening_key(self, tenant: str, ref: str | None) -> bytes:
        """The 32 bytes that content was sealed under; never makes one.

        Raises:
            SubjectErased: there is no such key (any more).
            Unavailable: the keys cannot be read or unwrapped now.
        """
        ...

    def purpose_key(self, tenant: str, purpose: str) -> bytes:
        """32 bytes derived from the tenant's key for one purpose (HKDF-SHA256, RFC 5869), always the same."""
        ...

    def ref(self, tenant: str, subject: str) -> str:
        """What stands for a person in keys and logs: an HMAC of the subject's id under the tenant's key."""
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
