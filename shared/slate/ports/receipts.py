"""Signs what a receipt claims, and gives the keys that anybody can check it by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from slate.domain.erasing.receipts import ReceiptClaims


class Signer(Protocol):
    """Makes receipts."""

    def sign(self, claims: ReceiptClaims) -> str:
        """A compact JWS (RFC 7515) over the claims. Signing twice may give two texts; both hold.

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
    """A private key that signs and is never shown."""

    @property
    def algorithm(self) -> str:
        """What it signs by, as RFC 7518 and RFC 8037 name it: ``EdDSA``, ``ES256``."""
        ...

    def sign(self, message: bytes) -> bytes:
        """The signature in the form that a JWS has: of ES256 the two numbers, 32 bytes each, one after the other.

        Raises:
            Unavailable: the key cannot be asked now.
        """
        ...

    def public_pem(self) -> bytes:
        """The public key as PEM (SubjectPublicKeyInfo).

        Raises:
            Unavailable: the key cannot be asked now.
        """
        ...
