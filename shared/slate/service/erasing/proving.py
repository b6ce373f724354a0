"""Receipts as they are asked for, and the keys that anybody checks them by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slate.domain.access import Principal
from slate.domain.errors import NotFound
from slate.ports.keyring import Keyring
from slate.ports.ledger import Ledger
from slate.ports.receipts import Signer


class Proving:
    """Gives receipts and public keys."""

    def __init__(self, ledger: Ledger, signer: Signer, keyring: Keyring) -> None:
        self._ledger = ledger
        self._signer = signer
        self._keyring = keyring

    def receipt(self, principal: Principal, erasure_id: str) -> str:
        """The receipt of an erasure: the same for ever.

        Raises:
            NotFound: there is no such erasure, it is not so far, or it is of somebody out of the credential's reach.
        """
        tenant, subject = principal.tenant, principal.subject
        receipt = self._ledger.receipt(tenant, erasure_id)
        if subject is not None and receipt.ref != self._keyring.name(tenant, subject):
            raise NotFound(f"there is no receipt of an erasure {erasure_id!r} (yet)")
        return receipt.text

    def public_keys(self) -> Mapping[str, Any]:
        """A JWK Set."""
        return self._signer.public_keys()
