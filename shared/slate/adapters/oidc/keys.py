"""The keys that an issuer signs by, as it publishes them (RFC 7517), kept for a while.

::

    age of the keys    0 ......... fresh ................. stale bound ......
    a known key        used        used; read again       Unavailable until
                                   first, if it is time   they can be read
    an unknown one     read again, if it is time; else it is nobody's

They are read at most once in ``REST_SECONDS``, whatever is asked for: nobody makes Slate press on an issuer by tokens
that name keys at random, nor wait for an issuer that does not answer more than once in that time. So a new key is
known at once as a rule, and a ``REST_SECONDS`` later at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final, NamedTuple

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from slate.adapters.oidc.fetching import Fetch, NotFetched
from slate.domain.errors import Unavailable
from slate.ports.clock import Clock

REST_SECONDS: Final = 30
MAX_KEYS: Final = 100
_RSA: Final = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_FAMILIES: Final[Mapping[tuple[str, str | None], frozenset[str]]] = {
    ("RSA", None): _RSA,
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}
"""By type and curve. There is no symmetric one: a published key that both sides share is nobody's secret."""
ALGORITHMS: Final = frozenset().union(*_FAMILIES.values())
_PRIVATE: Final = ("d", "k")


class _Known(NamedTuple):
    kid: str | None
    algorithm: str
    key: PyJWK


class _Read(NamedTuple):
    keys: tuple[_Known, ...]
    at: int


def at_address(fetch: Fetch, url: str) -> Callable[[], Mapping[str, Any]]:
    """Where the keys are is said."""
    return lambda: fetch(url)


def discovered(fetch: Fetch, issuer: str) -> Callable[[], Mapping[str, Any]]:
    """Where the keys are is in the issuer's own description (OpenID Connect Discovery 1.0, section 4)."""

    def read() -> Mapping[str, Any]:
        description = fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if description.get("issuer") != issuer:
            raise NotFetched("the description is of another issuer")
        address = description.get("jwks_uri")
        if not isinstance(address, str):
            raise NotFetched("the description does not say where the keys are (`jwks_uri`)")
        return fetch(address)

    return read


class IssuerKeys:
    """Finds the key that a token names, and reads the issuer's keys again when that is due."""

    def __init__(
        self,
        read: Callable[[], Mapping[str, Any]],
        clock: Clock,
        *,
        fresh_seconds: int,
        stale_seconds: int,
    ) -> None:
        """``fresh_seconds`` after they were read keys are read again, ``stale_seconds`` after they are used no more."""
        self._read = read
        self._clock = clock
        self._fresh_ms = fresh_seconds * 1000
        self._stale_ms = stale_seconds * 1000
        self._known: _Read | None = None
        self._tried_at: int | None = None
        self._failed: str | None = None
        self._lock = Lock()
        """Held while the keys are read."""

    def find(self, kid: str | None, algorithm: str) -> PyJWK | None:
        """The key for an algorithm by its id, or the only one for it where a token names none; none: it is nobody's.

        Raises:
            Unavailable: whether it is the issuer's cannot be known now.
        """
        known = self._known
        found = self._found(known, kid, algorithm)
        # Whoever knows the key goes on with it while another reads; who does not waits for what is read.
        if known is not None and found is not None and self._age(known) < self._stale_ms:
            if self._age(known) >= self._fresh_ms and self._lock.acquire(blocking=False):
                try:
                    self._refresh(known)
                finally:
                    self._lock.release()
                return self._found(self._known, kid, algorithm)
            return found
        with self._lock:
            self._refresh(known)
            return self._decided(kid, algorithm)

    def _refresh(self, seen: _Read | None) -> None:
        """Read the keys, unless somebody just did; what was known stays where they cannot be read."""
        now = self._clock.now()
        if self._known is not seen or (self._tried_at is not None and now - self._tried_at < REST_SECONDS * 1000):
            return
        self._tried_at = now
        try:
            self._known, self._failed = _Read(_usable(self._read()), now), None
        except NotFetched as failed:
            self._failed = str(failed)

    def _decided(self, kid: str | None, algorithm: str) -> PyJWK | None:
        known = self._known
        if known is not None and self._age(known) < self._stale_ms:
            found = self._found(known, kid, algorithm)
            if found is not None or self._failed is None:
                return found
        rest = REST_SECONDS * 1000 - (self._clock.now() - (self._tried_at or 0))
        raise Unavailable(
            f"the keys of the issuer cannot be read ({self._failed}); repeat the call",
            retry_after=max(math.ceil(rest / 1000), 1),
        )

    def _age(self, known: _Read) -> int:
        return self._clock.now() - known.at

    def _found(self, known: _Read | None, kid: str | None, algorithm: str) -> PyJWK | None:
        keys = () if known is None else known.keys
        fit = [each.key for each in keys if each.algorithm == algorithm and kid in (None, each.kid)]
        return fit[0] if fit and (kid is not None or len(fit) == 1) else None


def _usable(document: Mapping[str, Any]) -> tuple[_Known, ...]:
    """Those keys of a set that check signatures, each with each algorithm that it may be used by; others are passed by.

    Raises:
        NotFetched: it is no set of keys, or has none to use: an issuer without keys is one that is out of order.
    """
    keys = document.get("keys")
    if not isinstance(keys, list):
        raise NotFetched("the document is no set of keys")
    found = tuple(known for key in keys[:MAX_KEYS] if isinstance(key, dict) for known in _readings(key))
    if not found:
        raise NotFetched("the set has no key that signatures are checked by")
    return found


def _readings(key: Mapping[str, Any]) -> list[_Known]:
    """A key goes with the algorithm that it names, or with those of its family: no header chooses beyond."""
    kid, use, meant = key.get("kid"), key.get("use", "sig"), key.get("key_ops", ["verify"])
    kind, curve = key.get("kty"), key.get("crv")
    family = _FAMILIES.get((kind, curve), frozenset()) if isinstance(kind, str) and _is_text(curve) else frozenset()
    algorithms = family & {key["alg"]} if isinstance(key.get("alg"), str) else family
    sound = _is_text(kid) and use == "sig" and isinstance(meant, list) and "verify" in meant
    if not sound or any(part in key for part in _PRIVATE):
        return []
    try:
        return [_Known(kid, algorithm, PyJWK(dict(key), algorithm)) for algorithm in sorted(algorithms)]
    except (PyJWTError, ValueError, TypeError):
        return []


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)
