"""Who sends a credential: the holder of an API key that stands, or of a token that the issuer signed."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final, NamedTuple

from slate.domain.access import Principal
from slate.domain.claims import TokenRules
from slate.domain.credentials import MAX_CREDENTIAL, api_key_parts, is_api_key, secret_digest
from slate.domain.errors import NotFound, SubjectErased, Unauthenticated
from slate.domain.fences import Intent
from slate.domain.lapsing import Lapsing
from slate.ports.access_store import ApiKeyStore
from slate.ports.clock import Clock
from slate.ports.keyring import Operate
from slate.ports.token_reader import TokenReader

_CACHE_SIZE: Final = 10_000


class Issuer(NamedTuple):
    """Whose tokens are taken."""

    reader: TokenReader
    rules: TokenRules


class Recognising:
    """Tells who calls. What was found is kept for ``cache_seconds``, a token's no longer than the token stands.

    What nobody was found for is not kept: a key that is made a moment later opens at once.
    """

    def __init__(
        self, keys: ApiKeyStore, issuer: Issuer | None, operate: Operate, clock: Clock, *, cache_seconds: int
    ) -> None:
        self._keys = keys
        self._operate = operate
        self._issuer = issuer
        self._clock = clock
        self._cache_ms = cache_seconds * 1000
        self._decisions = Lapsing[bytes, Principal](_CACHE_SIZE)

    def authenticate(self, credential: str) -> Principal:
        """Who holds this credential.

        Raises:
            Unauthenticated: nobody: it is not of ours, was revoked, or has expired.
            Unavailable: that cannot be found out now.
        """
        if len(credential) > MAX_CREDENTIAL:
            raise Unauthenticated(
                f"the credential is over {MAX_CREDENTIAL:,} characters; none that is taken is so long"
            )
        fingerprint = sha256(credential.encode(errors="replace")).digest()
        known = self._decisions.get(fingerprint, self._clock.now())
        if known is not None:
            return known
        principal = self._by_key(credential) if is_api_key(credential) else self._by_token(credential)
        now = self._clock.now()
        until = now + self._cache_ms
        if principal.expires_at is not None:
            until = min(until, principal.expires_at)
        return self._decisions.keep(fingerprint, principal, until, now)

    def _by_token(self, token: str) -> Principal:
        if self._issuer is None:
            raise _unknown()
        claims = self._issuer.reader.read(token)
        return self._issuer.rules.principal(claims, self._clock.now())

    def _by_key(self, credential: str) -> Principal:
        parts = api_key_parts(credential)
        if parts is None:
            raise _unknown()
        try:
            # Whose data is on hold may still write: which calls are refused is for the calls to say.
            with self._operate(Intent.WRITE, parts.tenant):
                stored = self._keys.get(parts.tenant, parts.key_id)
        except (NotFound, SubjectErased):
            raise _unknown() from None
        sound = hmac.compare_digest(secret_digest(stored.salt, parts.secret), stored.digest)
        if not sound or stored.key.revoked_at is not None:
            raise _unknown()
        return Principal(
            tenant=parts.tenant,
            agent=stored.key.agent,
            key_id=parts.key_id,
            scopes=frozenset(stored.key.scopes),
            roles=frozenset(stored.key.roles),
            subject=stored.key.subject,
        )


def _unknown() -> Unauthenticated:
    return Unauthenticated("this credential is not known; send `Authorization: Bearer <api key or token>`")
