"""A signer that loads its libraries when it is first asked: every function is put together with one, and one signs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from slate.domain.erasing.receipts import ReceiptClaims
from slate.ports.receipts import SigningKey

if TYPE_CHECKING:
    from slate.adapters.jose.receipts import JwsSigner


class LateSigner:
    """Signs as ``JwsSigner`` does."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def sign(self, claims: ReceiptClaims) -> str:
        """One signature."""
        return self._signer.sign(claims)

    def public_keys(self) -> Mapping[str, Any]:
        """The one key."""
        return self._signer.public_keys()

    @cached_property
    def _signer(self) -> JwsSigner:
        from slate.adapters.jose.receipts import JwsSigner  # PyJWT and what it loads: a tenth of a cold start

        return JwsSigner(self._key)
