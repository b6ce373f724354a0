"""Receipts as compact JWS (RFC 7515), signed by Ed25519 (RFC 8037): any library checks them, without Slate and offline.

One algorithm, which the header names and no header chooses. A text is a receipt in its one form alone: base64 leaves
four bits of a signature's last letter open, and a letter that differs in these is refused as any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt import InvalidTokenError, PyJWS
from jwt.algorithms import OKPAlgorithm
from jwt.utils import base64url_decode, base64url_encode
from pydantic import ValidationError

from slate.domain.erasing.receipts import ReceiptClaims
from slate.ports.receipts import SigningKey

ALGORITHM: Final = "EdDSA"
TYPE: Final = "slate-receipt+jws"


class BadReceipt(ValueError):
    """This text is no receipt, or none that these keys have signed."""


class BadKey(ValueError):
    """This is no Ed25519 public key."""


class JwsSigner:
    """Signs by a key that may be elsewhere."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key
        self._jws = PyJWS(algorithms=[])
        self._jws.register_algorithm(ALGORITHM, _Elsewhere(key))

    def sign(self, claims: ReceiptClaims) -> str:
        """One signature, and the public key at the first call."""
        headers = {"typ": TYPE, "kid": key_id(self._key.public_key())}
        payload = json.dumps(claims.model_dump(mode="json", exclude_none=True), separators=(",", ":")).encode()
        return self._jws.encode(payload, b"", ALGORITHM, headers)

    def public_keys(self) -> Mapping[str, Any]:
        """The one key."""
        public = self._key.public_key()
        return {"keys": [{**_jwk(public), "kid": key_id(public), "alg": ALGORITHM, "use": "sig"}]}


class _Elsewhere(OKPAlgorithm):
    """The algorithm with a private key that stays where it is."""

    def __init__(self, key: SigningKey) -> None:
        super().__init__()
        self._key = key

    def prepare_key(self, key: Any) -> Any:
        return key  # there is none to prepare

    def sign(self, msg: str | bytes, key: Any) -> bytes:
        del key
        return self._key.sign(msg.encode() if isinstance(msg, str) else msg)


def verified(text: str, keys: Iterable[Ed25519PublicKey]) -> ReceiptClaims:
    """What a receipt claims, if one of the keys has signed it, letter for letter.

    Raises:
        BadReceipt: it is none, or was signed by another key, or altered.
    """
    parts = text.split(".")
    try:
        canonical = [base64url_encode(base64url_decode(part)).decode() for part in parts]
    except ValueError:
        raise BadReceipt("this is no compact JWS") from None
    if canonical != parts:
        raise BadReceipt("a letter was altered: this is not the form in which it was signed")
    return _claims(_payload(text, keys))


def _payload(text: str, keys: Iterable[Ed25519PublicKey]) -> bytes:
    jws, reasons = PyJWS(algorithms=[ALGORITHM]), ["there is no key to check it by"]
    for key in keys:
        try:
            found = jws.decode_complete(text, key, [ALGORITHM])
        except InvalidTokenError as error:
            reasons.append(str(error))
            continue
        if found["header"].get("typ") != TYPE:
            raise BadReceipt(f"it is signed, but is no receipt: its type is {found['header'].get('typ')!r}")
        payload: bytes = found["payload"]
        return payload
    raise BadReceipt(reasons[-1])


def _claims(payload: bytes) -> ReceiptClaims:
    try:
        return ReceiptClaims.model_validate_json(payload)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadReceipt(f"it is signed, but is no receipt of this format: {where}: {first['msg']}") from None


def keys_of(content: bytes) -> list[Ed25519PublicKey]:
    """The public keys in a file: one as PEM, or a JWK Set as ``/.well-known/jwks.json`` answers it.

    Raises:
        BadKey: it holds no such key.
    """
    try:
        if content.lstrip().startswith(b"{"):
            found: list[Any] = [_from_jwk(each) for each in json.loads(content)["keys"]]
        else:
            found = [load_pem_public_key(content)]
    except (ValueError, KeyError, TypeError, UnsupportedAlgorithm):
        raise BadKey("this is neither a public key as PEM nor a JWK Set") from None
    keys = [key for key in found if isinstance(key, Ed25519PublicKey)]
    if not keys:
        raise BadKey("there is no Ed25519 key in it: receipts are signed by Ed25519 alone")
    return keys


def _from_jwk(jwk: Mapping[str, Any]) -> Ed25519PublicKey | None:
    if (jwk["kty"], jwk.get("crv")) != ("OKP", "Ed25519"):
        return None
    return Ed25519PublicKey.from_public_bytes(base64url_decode(jwk["x"]))


def key_id(public: bytes) -> str:
    """A key's name: its thumbprint (RFC 7638)."""
    canonical = json.dumps(_jwk(public), separators=(",", ":"), sort_keys=True)
    return base64url_encode(sha256(canonical.encode()).digest()).decode()


def _jwk(public: bytes) -> dict[str, str]:
    return {"kty": "OKP", "crv": "Ed25519", "x": base64url_encode(public).decode()}
