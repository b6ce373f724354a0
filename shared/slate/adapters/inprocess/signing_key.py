"""An Ed25519 key in a file, or in memory alone: what KMS does on AWS, for a laptop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)


class LocalSigningKey:
    """Signs in this process."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def generate(cls) -> Self:
        """A key that lives in memory alone: what it signed is checked while the process runs, or by its kept JWKS."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """The key in a file (PKCS #8, PEM), which is made, readable by its owner alone, where there is none.

        Raises:
            ValueError: the file holds no such key.
        """
        made = Ed25519PrivateKey.generate()
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return cls(_read(path))
        with os.fdopen(descriptor, "wb") as file:
            file.write(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return cls(made)

    def sign(self, message: bytes) -> bytes:
        """At once."""
        return self._key.sign(message)

    def public_key(self) -> bytes:
        """At once."""
        return self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def _read(path: Path) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{path} holds no Ed25519 key as PEM (PKCS #8) without a password; take it away or mend it")  # noqa: TRY004  # of a file's content
    return key
