"""Data keys wrapped by a master key in a file: what KMS does on AWS, for a laptop."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from slate.domain.errors import Unavailable

_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32


class MasterKeyWrapper:
    """Wraps by AES-256-GCM, with tenant and ref authenticated, as KMS does with its encryption context."""

    def __init__(self, master_key: bytes, previous: Sequence[bytes] = ()) -> None:
        """Wraps by one key; until all is wrapped by it, ``previous`` ones still unwrap."""
        self._ciphers = [AESGCM(key) for key in (master_key, *previous)]

    @classmethod
    def generate(cls) -> Self:
        """Under a key that lives in memory alone."""
        return cls(secrets.token_bytes(_KEY_BYTES))

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Under the key in a file, which is made, readable by its owner alone, where there is none.

        Raises:
            ValueError: the file does not hold 32 bytes.
        """
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            key = path.read_bytes()
        else:
            key = secrets.token_bytes(_KEY_BYTES)
            with os.fdopen(descriptor, "wb") as file:
                file.write(key)
        if len(key) != _KEY_BYTES:
            raise ValueError(f"{path} holds {len(key)} bytes, a master key has {_KEY_BYTES}; take it away or mend it")
        return cls(key)

    def wrap(self, key: bytes, tenant: str, ref: str) -> bytes:
        """Nonce and ciphertext."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._ciphers[0].encrypt(nonce, key, f"{tenant}#{ref}".encode())

    def unwrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
        """The key again; another master key does not open it."""
        for cipher in self._ciphers:
            with suppress(InvalidTag):
                return cipher.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], f"{tenant}#{ref}".encode())
        raise Unavailable("this key was wrapped under another master key; start with that key's file")

    def rewrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
        """Unwrapped and wrapped again."""
        return self.wrap(self.unwrap(wrapped, tenant, ref), tenant, ref)
