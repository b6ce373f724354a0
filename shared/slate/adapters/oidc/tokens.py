"""Reads signed tokens (RFC 7515, 7519): by the algorithms of ``keys`` alone, never by what a token would like."""

from __future__ import annotations

import json
from typing import Final

from jwt import PyJWS
from jwt.exceptions import PyJWTError

from slate.adapters.oidc.keys import ALGORITHMS, IssuerKeys
from slate.domain.claims import Claims
from slate.domain.errors import Unauthenticated

_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""A token may leave its type out (RFC 8725, 3.11); a logout token or a receipt of an event is none to call with."""


class JwtReader:
    """Checks signatures by PyJWT."""

    def __init__(self, keys: IssuerKeys) -> None:
        self._keys = keys
        # RSA keys below 2048 bits are refused too.
        self._jws = PyJWS(sorted(ALGORITHMS), {"verify_signature": True, "enforce_minimum_key_length": True})

    def read(self, token: str) -> Claims:
        """The header says which key and which algorithm; both must be the issuer's, and of one another."""
        try:
            header = self._jws.get_unverified_header(token)
            algorithm = header.get("alg")
            if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
                raise Unauthenticated("the token is not signed by an algorithm that is taken here")
            if str(header.get("typ", "jwt")).lower() not in _TYPES:
                raise Unauthenticated("the token is of a type that opens nothing here")
            key = self._keys.find(header.get("kid"), algorithm)
            if key is None:
                raise Unauthenticated("the token is not signed by a key of its issuer's")
            payload = self._jws.decode(token, key, [algorithm])
            claims = json.loads(payload)
        except (PyJWTError, ValueError, RecursionError):
            # Whatever is wrong with it: a reason may quote the token.
            raise Unauthenticated("the token is not sound, or not signed by its issuer") from None
        if not isinstance(claims, dict):
            raise Unauthenticated("the token holds no claims")
        return claims
