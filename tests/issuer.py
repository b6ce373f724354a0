"""An OpenID Connect issuer on this machine: it publishes keys, signs tokens, and misbehaves as it is told to."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

AUDIENCE = "https://slate.test"
Answer = Callable[["_Request", "Issuer"], None]


@cache
def private_key(kind: str, nth: int = 0) -> Any:
    """A key of a kind; RSA keys take a while to make, so that tests share them."""
    del nth
    curves = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1()}
    if kind in curves:
        return ec.generate_private_key(curves[kind])
    if kind == "Ed25519":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(public_exponent=65537, key_size=int(kind.removeprefix("RSA-")))


KIND_OF = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA-2048"),
    "ES256": "P-256",
    "ES384": "P-384",
    "ES512": "P-521",
    "EdDSA": "Ed25519",
}


@dataclass(frozen=True)
class SigningKey:
    kid: str
    algorithm: str = "ES256"
    nth: int = 0
    kind: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """What its published form says differently; None leaves a member out."""

    @property
    def private(self) -> Any:
        return private_key(self.kind or KIND_OF[self.algorithm], self.nth)

    @property
    def published(self) -> dict[str, Any]:
        algorithm = get_default_algorithms()[self.algorithm]
        jwk = algorithm.to_jwk(self.private.public_key(), as_dict=True)
        jwk.pop("key_ops", None)
        made = {**jwk, "kid": self.kid, "alg": self.algorithm, "use": "sig", **self.more}
        return {name: value for name, value in made.items() if value is not None}

    def sign(self, claims: Any, **header: Any) -> str:
        """A token; ``header`` says differently what would stand in its head, None leaves it out."""
        head = {"kid": self.kid, "typ": "JWT", **header}
        payload = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
        return jwt.PyJWS().encode(
            payload, self.private, self.algorithm, headers={k: v for k, v in head.items() if v is not None}
        )


def forged(header: Mapping[str, Any], claims: Any, signature: bytes = b"") -> str:
    """A token put together by hand."""
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


@dataclass
class Issuer:
    url: str = ""
    keys: list[SigningKey] = field(default_factory=lambda: [SigningKey("first")])
    asked: list[str] = field(default_factory=list)
    """The paths, in order."""
    answer: Answer | None = None
    """Instead of what it would say."""
    over: Event = field(default_factory=Event)
    now: Callable[[], float] = time.time

    @property
    def read(self) -> int:
        """How often its keys were read."""
        return self.asked.count("/keys")

    def claims(self, **more: Any) -> dict[str, Any]:
        """Sound ones of acme's planner; None leaves a claim out."""
        made = {
            "iss": self.url,
            "aud": AUDIENCE,
            "exp": int(self.now()) + 600,
            "sub": "somebody",
            "tenant": "acme",
            "agent": "planner",
            "scope": "openid tasks:read tasks:write",
            **more,
        }
        return {name: value for name, value in made.items() if value is not None}

    def token(self, **claims: Any) -> str:
        return self.keys[0].sign(self.claims(**claims))

    def documents(self) -> dict[str, Any]:
        return {
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": f"{self.url}/keys"},
            "/keys": {"keys": [key.published for key in self.keys]},
        }


class _Request(BaseHTTPRequestHandler):
    issuer: Issuer

    def do_GET(self) -> None:  # as the base class calls it
        self.issuer.asked.append(self.path)
        with suppress(OSError):
            if self.issuer.answer is not None:
                self.issuer.answer(self, self.issuer)
                return
            document = self.issuer.documents().get(self.path)
            self.say(200, json.dumps(document).encode()) if document is not None else self.say(404, b"")

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def saying(status: int, body: bytes = b"{}", **headers: str) -> Answer:
    return lambda request, _: request.say(status, body, **headers)


def silent(_: _Request, issuer: Issuer) -> None:
    issuer.over.wait(10)


def dripping(request: _Request, issuer: Issuer) -> None:
    """A byte now and then: each read succeeds, the answer never ends."""
    request.send_response(200)
    request.send_header("Content-Length", "100000")
    request.end_headers()
    while not issuer.over.wait(0.02):
        request.wfile.write(b" ")


def endless(request: _Request, issuer: Issuer) -> None:
    request.send_response(200)
    request.end_headers()
    while not issuer.over.is_set():
        request.wfile.write(b" " * 65_536)


@contextmanager
def issuing(*keys: SigningKey) -> Iterator[Issuer]:
    issuer = Issuer()
    if keys:
        issuer.keys = list(keys)
    handler = type("Handler", (_Request,), {"issuer": issuer})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield issuer
        finally:
            issuer.over.set()
            server.shutdown()
