"""Seals what callers say and opens it again: the one place where content meets storage.

A sealed value says of which epoch of the person it is, so that what an erasure left behind is told from what does not
open. AES-256-GCM (NIST SP 800-38D) under a key that is derived (HKDF-Expand, RFC 5869) from the person's data key, or
the tenant's, for the item's partition: so the 2^32 random nonces that one key may see are counted a partition, not a
tenant. Tenant, partition key, sort key and attribute are authenticated with it: a sealed value that is moved to
another place does not open.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from pydantic_core import from_json

from slate.adapters.dynamodb.calls import Key
from slate.domain.errors import Internal
from slate.ports.keyring import Keyring

_FORMAT: Final = b"\x01"
_NONCE_BYTES: Final = 12
_DIGEST_BYTES: Final = 16
_EPOCH_BYTES: Final = 4
_HEADER_BYTES: Final = len(_FORMAT) + _EPOCH_BYTES
OVERHEAD_BYTES: Final = _HEADER_BYTES + _NONCE_BYTES + 16
"""What sealing adds to a value."""


def to_json(value: Any) -> bytes:
    """A JSON value in its one canonical form: no spaces, sorted names, UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def _derive(key: bytes, purpose: str) -> bytes:
    """A key for one purpose; it takes 3 microseconds, and is kept nowhere, where it would outlive the one it is of."""
    return HKDFExpand(SHA256(), 32, purpose.encode()).derive(key)


class Codec:
    """Seals, opens and digests under the keys of a keyring."""

    def __init__(self, keyring: Keyring, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self.keyring = keyring
        self._entropy = entropy

    def seal(self, tenant: str, ref: str | None, key: Key, attribute: str, value: Any) -> bytes:
        """A JSON value as sealed bytes for this attribute of this item."""
        nonce = self._entropy(_NONCE_BYTES)
        epoch, secret = self.keyring.sealing_key(tenant, ref)
        cipher = AESGCM(_derive(secret, f"seal {key[0]}"))
        header = _FORMAT + epoch.to_bytes(_EPOCH_BYTES)
        return header + nonce + cipher.encrypt(nonce, to_json(value), _place(tenant, key, attribute))

    def open(self, tenant: str, ref: str | None, key: Key, attribute: str, sealed: bytes) -> Any:
        """The JSON value again.

        Raises:
            SubjectErased: the key is gone, or is of an epoch that is over.
            SubjectHeld: the person's data is on hold, and this is a read or a deletion.
            Internal: these bytes were not sealed for this place under this key.
        """
        epoch = int.from_bytes(sealed[len(_FORMAT) : _HEADER_BYTES])
        cipher = AESGCM(_derive(self.keyring.opening_key(tenant, ref, epoch).secret, f"seal {key[0]}"))
        end = _HEADER_BYTES + _NONCE_BYTES
        nonce, body = sealed[_HEADER_BYTES:end], sealed[end:]
        try:
            plain = cipher.decrypt(nonce, body, _place(tenant, key, attribute))
        except InvalidTag:
            raise Internal(f"the sealed attribute {attribute} does not open where it stands") from None
        return from_json(plain)

    def digest(self, tenant: str, ref: str | None, value: Any) -> bytes:
        """What tells equal content from other content, and tells nothing to who lacks the key."""
        key = _derive(self.keyring.digest_key(tenant, ref).secret, "digest")
        return hmac.digest(key, to_json(value), sha256)[:_DIGEST_BYTES]


def _place(tenant: str, key: Key, attribute: str) -> bytes:
    # A NUL cannot stand in an id, so that no two places read alike.
    return "\0".join((tenant, *key, attribute)).encode()
