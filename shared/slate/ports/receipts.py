"""Signs what a receipt claims, and gives the keys that anybody can check it by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from slate.domain.erasing.receipts import ReceiptClaims


class Signer(Protocol):
    """Makes receipts."""

    def sign(self, claims: ReceiptClaims) -> str:
        """A compact JWS (RFC 7515) over the claims, by Ed25519: the same claims give the same text.

        Raises:
            Unavailable: the key cannot be asked now.
        """
        ...

    def public_keys(self) -> Mapping[str, Any]:
        """A JWK Set (RFC 7517) of the public keys that receipts are checked by, each with its ``kid`` and ``alg``.

        Raises:
            Unavailable: the key cannot be asked now.
        """
        ...


class SigningKey(Protocol):
    """An Ed25519 key (RFC 8032) that signs and is never shown."""

    def sign(self, message: bytes) -> bytes:
        """The signature: 64 bytes.

        Raises:
            Unavailable: the key cannot be asked now.
        """
        ...

    def public_key(self) -> bytes:
        """The public key: 32 bytes.

        Raises:
            Unavailable: the key cannot be asked now.
        """
        ...
