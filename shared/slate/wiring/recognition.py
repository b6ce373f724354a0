"""Puts together what recognises callers: the part of Slate that the authorizer needs, and it alone."""

from __future__ import annotations

from typing import Final

from slate.domain.claims import ClaimNames, TokenRules
from slate.ports.access_store import ApiKeyStore
from slate.ports.clock import Clock
from slate.ports.keyring import Operate
from slate.ports.token_reader import TokenReader
from slate.service.recognising import Issuer, Recognising
from slate.settings import Settings

FETCH_SECONDS: Final = 3
"""For each of the two documents that lead to an issuer's keys: the gateway gives an authorizer 10 s in all."""


def recognising_of(settings: Settings, keys: ApiKeyStore, operate: Operate, clock: Clock) -> Recognising:
    """What recognises keys, and tokens where an issuer is set."""
    issuer = Issuer(token_reader(settings, clock), token_rules(settings)) if settings.oidc_issuer else None
    return Recognising(keys, issuer, operate, clock, cache_seconds=settings.decision_cache_seconds)


def token_rules(settings: Settings) -> TokenRules:
    """What a token must say, as it is set."""

    def names(setting: str) -> tuple[str, ...]:
        return tuple(setting.split())

    return TokenRules(
        issuer=settings.oidc_issuer,
        audiences=frozenset(settings.oidc_audience.split()),
        names=ClaimNames(
            tenant=names(settings.oidc_tenant_claim),
            agent=names(settings.oidc_agent_claim),
            roles=names(settings.oidc_roles_claim),
            scopes=names(settings.oidc_scopes_claim),
            subject=names(settings.oidc_subject_claim),
        ),
        scope_prefix=settings.oidc_scope_prefix,
        required=frozenset(settings.oidc_required_bounds.split()),
        leeway_seconds=settings.oidc_leeway_seconds,
    )


def token_reader(settings: Settings, clock: Clock) -> TokenReader:
    """What checks signatures against the issuer's keys."""
    # Who takes API keys alone starts without it: 20 ms of a cold start, measured.
    from slate.adapters.oidc.fetching import HttpsFetch
    from slate.adapters.oidc.keys import IssuerKeys, at_address, discovered
    from slate.adapters.oidc.tokens import JwtReader

    fetch, url = HttpsFetch(timeout_seconds=FETCH_SECONDS), settings.oidc_jwks_url
    keys = IssuerKeys(
        at_address(fetch, url) if url else discovered(fetch, settings.oidc_issuer),
        clock,
        fresh_seconds=settings.oidc_keys_fresh_seconds,
        stale_seconds=settings.oidc_keys_stale_seconds,
    )
    return JwtReader(keys)
