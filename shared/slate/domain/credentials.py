"""What a caller sends to be recognised: an API key, ``slate_<tenant>.<key_id>.<secret>``, or an issuer's token."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final, NamedTuple

from slate.domain.names import is_id, is_tenant

MAX_CREDENTIAL: Final = 8_192
"""Characters; API Gateway takes headers of 10,240 bytes in all."""
_PREFIX: Final = "slate_"
_PARTS: Final = 3


class ApiKeyParts(NamedTuple):
    """An API key taken apart; the secret is still to be checked."""

    tenant: str
    key_id: str
    secret: str


def is_api_key(credential: str) -> bool:
    """Whether it is meant as an API key, and not as a token: no token of JSON begins so."""
    return credential.startswith(_PREFIX)


def api_key_parts(credential: str) -> ApiKeyParts | None:
    """The parts; none where it has not the form of a key."""
    parts = credential.removeprefix(_PREFIX).split(".", _PARTS - 1)
    # A key id is "k-" and hexadecimal: it holds no dot, so the parts are told apart.
    if not is_api_key(credential) or len(parts) != _PARTS:
        return None
    tenant, key_id, secret = parts
    return ApiKeyParts(tenant, key_id, secret) if is_tenant(tenant) and is_id(key_id) else None


def key_credential(tenant: str, key_id: str, secret: str) -> str:
    """The key as its holder sends it."""
    return f"{_PREFIX}{tenant}.{key_id}.{secret}"


def secret_digest(salt: bytes, secret: str) -> bytes:
    """What is kept of a secret."""
    # The secret is 256 random bits: a slow hash would add nothing that guessing does not already lack.
    return hmac.digest(salt, secret.encode(errors="replace"), sha256)
