"""An Ed25519 key in KMS: it signs there, and never leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from slate.adapters.kms.calls import translated
from slate.domain.errors import Internal

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

MAX_MESSAGE: Final = 4096
"""What KMS signs at most at once; Ed25519 signs messages themselves and no digests of them (RFC 8032, PureEdDSA)."""


class KmsSigningKey:
    """Signs by KMS."""

    def __init__(self, client: Callable[[], KMSClient], key_id: str) -> None:
        self._client = client
        self._key_id = key_id
        self._public: bytes | None = None

    def sign(self, message: bytes) -> bytes:
        """One Sign."""
        with translated():
            return self._client().sign(
                KeyId=self._key_id, Message=message, MessageType="RAW", SigningAlgorithm="ED25519_SHA_512"
            )["Signature"]

    def public_key(self) -> bytes:
        """One GetPublicKey, once: a KMS key's public half never changes.

        Raises:
            Internal: it is no Ed25519 key.
        """
        if self._public is None:
            # Every function has such a key, and hardly one asks for its public half.
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
            from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

            with translated():
                der = self._client().get_public_key(KeyId=self._key_id)["PublicKey"]
            key = load_der_public_key(der)
            if not isinstance(key, Ed25519PublicKey):
                raise Internal("the KMS key that signs receipts is to be of ECC_NIST_EDWARDS25519")
            self._public = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        return self._public
