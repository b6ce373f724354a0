"""What a token's claims make of its bearer: the rules of RFC 7519 on issuer, audience and time, then Slate's own.

The signature is somebody else's to check, before. Where a claim is wrong the whole token is refused: to leave out a
bound that cannot be read would widen what the token opens. No refusal quotes what a token says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from slate.domain.access import Principal, Scope
from slate.domain.errors import Unauthenticated
from slate.domain.names import is_id, is_tenant

Claims = Mapping[str, Any]

MAX_ROLES: Final = 50
"""As many as an API key may have."""
SUBJECT: Final = "subject"
ROLES: Final = "roles"
BOUNDS: Final = frozenset({SUBJECT, ROLES})
"""What narrows a credential; where it is left out, the credential is not narrowed."""
_LATEST: Final = 10**11
"""Instants are in seconds; one beyond the year 5000 is in milliseconds, or nonsense."""
_COGNITO_KINDS: Final = frozenset({"access", "id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimNames:
    """Which claims are read; of several names, the first that the token has."""

    tenant: tuple[str, ...] = ("tenant",)
    agent: tuple[str, ...] = ("agent", "client_id", "azp")
    roles: tuple[str, ...] = ("roles",)
    scopes: tuple[str, ...] = ("scope", "scp")
    subject: tuple[str, ...] = ("subject",)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRules:
    """Whose tokens are taken, for whom, and what they say."""

    issuer: str
    audiences: frozenset[str]
    names: ClaimNames = field(default_factory=ClaimNames)
    scope_prefix: str = ""
    """What some issuers put before the name of a scope; taken off where it stands."""
    required: frozenset[str] = frozenset()
    """Of ``BOUNDS``, those without which a token is refused."""
    leeway_seconds: int = 60
    """So far may the issuer's clock be off."""

    def principal(self, claims: Claims, now: int) -> Principal:
        """Who holds a token of these claims at this instant.

        Raises:
            Unauthenticated: it is of another issuer, for another audience, not of this time, or a claim of it is
                missing or wrong; the detail says which.
        """
        if claims.get("iss") != self.issuer:
            raise Unauthenticated("the token is of another issuer")
        self._check_audience(claims)
        expires_at = self._check_time(claims, now)
        agent = self._text(claims, self.names.agent, "agent")
        if agent is None or not is_id(agent):
            raise _wrong(self.names.agent, "names no agent: 1 to 128 of A-Z a-z 0-9 . _ @ : -")
        tenant = self._text(claims, self.names.tenant, "tenant")
        if tenant is None or not is_tenant(tenant):
            raise _wrong(self.names.tenant, "names no tenant: 1 to 63 of a-z 0-9 -")
        scopes, roles = self._scopes(claims), self._roles(claims)
        return Principal(
            tenant=tenant,
            agent=agent,
            key_id=_alike(self.issuer, agent, scopes, roles),
            scopes=scopes,
            roles=roles,
            subject=self._subject(claims),
            expires_at=expires_at,
        )

    def _check_audience(self, claims: Claims) -> None:
        meant = claims.get("aud")
        kind = claims.get("token_use")
        if kind is not None and kind not in _COGNITO_KINDS:
            raise Unauthenticated("the token is of a kind that opens nothing here (`token_use`)")
        # Cognito's access tokens have no audience: they name the client that they were given to instead.
        if meant is None and kind == "access":
            meant = claims.get("client_id")
        if isinstance(meant, str):
            meant = [meant]
        if not isinstance(meant, list) or not any(isinstance(one, str) and one in self.audiences for one in meant):
            raise Unauthenticated("the token is for another audience")

    def _check_time(self, claims: Claims, now: int) -> int:
        leeway = self.leeway_seconds * 1000
        expires = _instant(claims, "exp")
        if expires is None:
            raise Unauthenticated("the token does not say when it expires (`exp`)")
        if now >= expires + leeway:
            raise Unauthenticated("the token has expired; get a new one")
        begins = _instant(claims, "nbf")
        if begins is not None and now + leeway < begins:
            raise Unauthenticated("the token is not valid yet (`nbf`)")
        return expires + leeway

    def _scopes(self, claims: Claims) -> frozenset[Scope]:
        given = {scope.removeprefix(self.scope_prefix) for scope in self._texts(claims, self.names.scopes)}
        # An issuer has scopes of other services, and of its own, such as `openid`.
        return frozenset(scope for scope in Scope if scope.value in given)

    def _roles(self, claims: Claims) -> frozenset[str]:
        name, value = _first(claims, self.names.roles)
        if value is None:
            self._need(ROLES, self.names.roles)
            return frozenset()
        roles = self._texts(claims, self.names.roles)
        if not 1 <= len(roles) <= MAX_ROLES:
            # No role at all would read as: any.
            raise _wrong((name,), f"must name 1 to {MAX_ROLES} roles; leave it out for any")
        if not all(map(is_id, roles)):
            raise _wrong((name,), "names what is no role: 1 to 128 of A-Z a-z 0-9 . _ @ : -")
        return frozenset(roles)

    def _subject(self, claims: Claims) -> str | None:
        subject = self._text(claims, self.names.subject, SUBJECT)
        if subject is None:
            self._need(SUBJECT, self.names.subject)
        elif not is_id(subject):
            raise _wrong(self.names.subject, "names no subject: 1 to 128 of A-Z a-z 0-9 . _ @ : -")
        return subject

    def _need(self, bound: str, names: tuple[str, ...]) -> None:
        if bound in self.required:
            raise _wrong(names, "is missing, and without it the token would reach more than it may")

    def _text(self, claims: Claims, names: tuple[str, ...], what: str) -> str | None:
        name, value = _first(claims, names)
        if value is not None and not isinstance(value, str):
            raise _wrong((name,), f"must be one text, the {what}")
        return value

    def _texts(self, claims: Claims, names: tuple[str, ...]) -> list[str]:
        """A list, or a text of words between spaces (RFC 8693, 4.2)."""
        name, value = _first(claims, names)
        if value is None:
            return []
        found = value.split() if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise _wrong((name,), "must be words between spaces, or a list of texts")
        return found


def _first(claims: Claims, names: tuple[str, ...]) -> tuple[str, Any]:
    return next(((name, claims[name]) for name in names if claims.get(name) is not None), (" ".join(names), None))


def _instant(claims: Claims, name: str) -> int | None:
    """A NumericDate in milliseconds."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LATEST:
        raise Unauthenticated(f"the claim `{name}` is no instant in seconds since 1970")
    return int(value * 1000)


def _alike(issuer: str, agent: str, scopes: frozenset[Scope], roles: frozenset[str]) -> str:
    """Tokens are renewed every hour: what is remembered of calls goes by what stays the same. It names no person."""
    same = json.dumps([issuer, agent, sorted(scopes), sorted(roles)])
    return f"jwt-{sha256(same.encode()).hexdigest()[:32]}"


def _wrong(names: tuple[str, ...], why: str) -> Unauthenticated:
    return Unauthenticated(f"the claim {' or '.join(f'`{name}`' for name in names)} {why}")
