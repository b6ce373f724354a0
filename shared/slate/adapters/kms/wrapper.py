"""Data keys wrapped by a KMS key; tenant and ref are its encryption context, which policies and trails see."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from slate.adapters.kms.calls import translated
from slate.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient


class KmsKeyWrapper:
    """Wraps and unwraps by KMS."""

    def __init__(self, client: KMSClient, key_id: str, previous: Sequence[str] = ()) -> None:
        """Wraps by one key; until all is wrapped by it, ``previous`` ones still unwrap."""
        self._client = client
        self._key_id = key_id
        self._previous = previous

    def wrap(self, key: bytes, tenant: str, ref: str) -> bytes:
        """One Encrypt."""
        with translated():
            return self._client.encrypt(
                KeyId=self._key_id, Plaintext=key, EncryptionContext={"tenant": tenant, "ref": ref}
            )["CiphertextBlob"]

    def unwrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
        """One Decrypt, by this key; where it is refused, by a previous one, as long as there is one."""
        *earlier, last = (self._key_id, *self._previous)
        for key_id in earlier:
            with suppress(Unavailable):
                return self._unwrapped(wrapped, tenant, ref, key_id)
        return self._unwrapped(wrapped, tenant, ref, last)

    def _unwrapped(self, wrapped: bytes, tenant: str, ref: str, key_id: str) -> bytes:
        with translated():
            return self._client.decrypt(
                KeyId=key_id, CiphertextBlob=wrapped, EncryptionContext={"tenant": tenant, "ref": ref}
            )["Plaintext"]

    def rewrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
        """One ReEncrypt: the key is never in the clear outside KMS."""
        context = {"tenant": tenant, "ref": ref}
        with translated():
            return self._client.re_encrypt(
                CiphertextBlob=wrapped,
                SourceEncryptionContext=context,
                DestinationKeyId=self._key_id,
                DestinationEncryptionContext=context,
            )["CiphertextBlob"]
