"""Puts together what recognises callers. The authorizer is made of this and no more: callers wait for its start."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.codec import Codec
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.key_store import DynamoApiKeyStore
from slate.adapters.dynamodb.keyring import DynamoKeyring
from slate.adapters.dynamodb.quarantine import DynamoQuarantine, QuarantinedFences
from slate.adapters.inprocess.clocks import SystemClock
from slate.adapters.kms.wrapper import KmsKeyWrapper
from slate.domain.claims import ClaimNames, TokenRules
from slate.ports.access_store import ApiKeyStore
from slate.ports.clock import Clock
from slate.ports.fences import FenceReader
from slate.ports.keyring import KeyWrapper, Operate
from slate.ports.token_reader import TokenReader
from slate.service.recognising import Issuer, Recognising
from slate.settings import Settings

if TYPE_CHECKING:
    import boto3

FETCH_SECONDS: Final = 3
"""For each of the two documents that lead to an issuer's keys: the gateway gives an authorizer 10 s in all."""


def build_recognising(settings: Settings, session: boto3.Session) -> Recognising:
    """What recognises callers over AWS, with this session's credentials."""
    from botocore.config import Config

    config = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 3})
    dynamodb, kms = session.client("dynamodb", config=config), session.client("kms", config=config)
    calls = partial(Calls, dynamodb, rng=random.SystemRandom(), sleep=time.sleep)
    main, clock = calls(settings.table), SystemClock()
    wrapper = KmsKeyWrapper(kms, settings.kms_key_id, settings.previous_kms_key_ids.split())
    keyring = keyring_of(settings, calls, DynamoFences(main), wrapper, clock)
    return recognising_of(settings, DynamoApiKeyStore(main, Codec(keyring), clock), keyring.operation, clock)


def keyring_of(
    settings: Settings,
    calls: Callable[[str], Calls],
    fences: FenceReader,
    wrapper: KeyWrapper,
    clock: Clock,
    *,
    quarantine: bool = True,
) -> DynamoKeyring:
    """The keys, whose fences are asked; with ``quarantine`` none of a table that is a copy and misses erasures."""
    compared = DynamoQuarantine(calls(settings.table), calls(settings.ledger_table), clock)
    return DynamoKeyring(
        calls(settings.keys_table),
        wrapper,
        clock,
        QuarantinedFences(fences, compared) if quarantine else fences,
        cache_seconds=settings.key_cache_seconds,
    )


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
