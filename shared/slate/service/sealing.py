"""Opaque, authenticated texts for callers: tokens and cursors. Who holds one can neither read nor change it.

AES-SIV (RFC 5297) under a key of the tenant for the purpose: deterministic, so that the same content is the same
text, and bound to the tenant, so that another tenant's text does not open.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from slate.ports.keyring import Keyring


class Opaque:
    """Seals texts for one purpose."""

    def __init__(self, keyring: Keyring, purpose: str) -> None:
        self._keyring = keyring
        self._purpose = purpose

    def seal(self, tenant: str, content: bytes) -> str:
        """The content as an opaque text that is valid in a URL."""
        sealed = self._cipher(tenant).encrypt(content, [tenant.encode()])
        return urlsafe_b64encode(sealed).decode().rstrip("=")

    def open(self, tenant: str, text: str) -> bytes | None:
        """The content again, or None where the text is not one that this tenant was given for this purpose."""
        try:
            sealed = urlsafe_b64decode(text + "=" * (-len(text) % 4))
            return self._cipher(tenant).decrypt(sealed, [tenant.encode()])
        except (NotBase64, ValueError, InvalidTag):
            return None

    def _cipher(self, tenant: str) -> AESSIV:
        halves = (self._keyring.purpose_key(tenant, f"{self._purpose} {half}") for half in ("mac", "cipher"))
        return AESSIV(b"".join(halves))
