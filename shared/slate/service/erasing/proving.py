"""Receipts as they are asked for, and the keys that anybody checks them by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slate.domain.access import Principal
from slate.domain.errors import Forbidden
from slate.ports.ledger import Ledger
from slate.ports.receipts import Signer


class Proving:
    """Gives receipts and public keys."""

    def __init__(self, ledger: Ledger, signer: Signer) -> None:
        self._ledger = ledger
        self._signer = signer

    def receipt(self, principal: Principal, erasure_id: str) -> str:
        """The receipt of an erasure: the same for ever.

        Raises:
            Forbidden: the caller is bound to a subject.
            NotFound: there is no such erasure, or it is not so far.
        """
        if principal.subject is not None:
            raise Forbidden("this key is bound to one subject; receipts are given to whoever answers for all data")
        return self._ledger.receipt(principal.tenant, erasure_id)

    def public_keys(self) -> Mapping[str, Any]:
        """A JWK Set."""
        return self._signer.public_keys()
