"""Data keys wrapped by a KMS key; tenant and ref are its encryption context, which policies and trails see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from slate.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient


class KmsKeyWrapper:
    """Wraps and unwraps by KMS."""

    def __init__(self, client: KMSClient, key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def wrap(self, key: bytes, tenant: str, ref: str) -> bytes:
        """One Encrypt."""
        with _translated():
            return self._client.encrypt(
                KeyId=self._key_id, Plaintext=key, EncryptionContext={"tenant": tenant, "ref": ref}
            )["CiphertextBlob"]

    def unwrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
        """One Decrypt, by this key alone."""
        with _translated():
            return self._client.decrypt(
                KeyId=self._key_id, CiphertextBlob=wrapped, EncryptionContext={"tenant": tenant, "ref": ref}
            )["Plaintext"]


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise Unavailable("the key service did not answer, or refused; repeat the call") from error
