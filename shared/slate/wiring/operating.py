"""Puts together what an operator does by hand: it scans, and stands outside the quarantine; no function does either."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from slate import __version__
from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.key_rewrapping import KeyRewrapping
from slate.adapters.dynamodb.ledger_store import DynamoLedger
from slate.adapters.dynamodb.tenant_places import (
    TenantObjects,
    TenantTable,
    TenantVectors,
    store_of_item,
    tells_copies,
    tenants_in,
)
from slate.adapters.jose.late import LateSigner
from slate.adapters.s3.blob_store import S3BlobStore
from slate.service.erasing.offboarding import Offboarding
from slate.service.erasing.replaying import Replaying
from slate.settings import Settings
from slate.wiring.assembling import assemble
from slate.wiring.parts import Parts
from slate.wiring.privacy import COPIES


def rewrapping_of(settings: Settings, parts: Parts) -> KeyRewrapping:
    """Wraps every data key by the wrapping key in use."""
    table = settings.keys_table
    calls = Calls(parts.dynamodb, table, parts.rng, parts.sleep)
    return KeyRewrapping(parts.dynamodb, table, calls, parts.wrapper, parts.executor)


def tenants_of(settings: Settings, parts: Parts) -> list[str]:
    """Every tenant that the ledger knows of."""
    return list(tenants_in(parts.dynamodb, settings.ledger_table))


def replaying_of(settings: Settings, parts: Parts) -> Replaying:
    """Replays the ledger over the main table and the keys table."""
    return assemble(settings, replace(parts, quarantine=False)).privacy.replaying


def offboarding_of(settings: Settings, parts: Parts) -> Offboarding:
    """Erases a tenant."""
    calls = partial(Calls, parts.dynamodb, rng=parts.rng, sleep=parts.sleep)
    main, noted = calls(settings.table), calls(settings.ledger_table)
    items = TenantTable(parts.dynamodb, settings.table, main, store_of_item, tells_copies)
    keys = TenantTable(parts.dynamodb, settings.keys_table, calls(settings.keys_table), lambda _: "keys")
    objects = TenantObjects(S3BlobStore(parts.s3, settings.bucket))
    vectors = [] if parts.index is None else [TenantVectors(items, parts.index)]
    return Offboarding(
        keys,
        [*vectors, objects, items],
        parts.index,
        assemble(settings, parts).privacy.holding,
        DynamoLedger(main, noted),
        LateSigner(parts.signing_key),
        parts.clock,
        parts.ids,
        sleep=parts.sleep,
        days=COPIES,
        release=__version__,
    )
