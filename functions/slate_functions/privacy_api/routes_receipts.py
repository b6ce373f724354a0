"""The routes of receipts."""

from __future__ import annotations

import json
from typing import Final

from slate.domain.access import Principal, Scope
from slate.service.erasing.proving import Proving
from slate_functions.http.answers import Page
from slate_functions.http.dependencies import PathId
from slate_functions.http.routes import get

JOSE: Final = "application/jose"
JWK_SET: Final = "application/jwk-set+json"


class ReceiptRoutes:
    """Receipts: what proves to anybody, offline, that an erasure was done."""

    def __init__(self, proving: Proving) -> None:
        self._proving = proving

    @get("/v1/erasures/{erasure_id}/receipt", scope=Scope.PRIVACY_READ, media=(JOSE,))
    def get_receipt(self, principal: Principal, erasure_id: PathId) -> Page:
        """Fetch the receipt of an erasure: a compact JWS, signed by Ed25519.

        It says what was found in every store, what was erased, that nothing was left, and when the last backup goes.
        It names nobody. 404 until the erasure is so far.
        """
        return Page(JOSE, self._proving.receipt(principal, erasure_id))

    @get("/.well-known/jwks.json", public=True, media=(JWK_SET,))
    def get_public_keys(self) -> Page:
        """Fetch the public keys that receipts are signed by."""
        return Page(JWK_SET, json.dumps(self._proving.public_keys()))
