"""Puts together what privacy officers work with: receipts, the ledger, holds."""

from __future__ import annotations

from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.hold_store import DynamoHoldStore
from slate.adapters.dynamodb.ledger_store import DynamoLedger
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.jose.receipts import JwsSigner
from slate.service.due_work import DueWork
from slate.service.erasing.proving import Proving
from slate.service.holding import Holding
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors
from slate.wiring.parts import Parts, Privacy

HOLDS_AGAIN_MS = 60_000
"""A hold that could not be looked at is looked at again after so long."""


def privacy_of(
    parts: Parts, storage: Storage, noted: Calls, fences: DynamoFences, idempotency: Idempotency, cursors: Cursors
) -> Privacy:
    """The use cases of privacy; ``noted`` is the ledger's table."""
    keyring, clock = storage.codec.keyring, parts.clock
    ledger, holds = DynamoLedger(storage.calls, noted), DynamoHoldStore(storage, noted)
    holding = Holding(holds, fences, keyring, idempotency, cursors, clock, ended=lambda _tenant, _ref: None)
    return Privacy(
        proving=Proving(ledger, JwsSigner(parts.signing_key)),
        holding=holding,
        holds=DueWork(holds, lambda due, _: holding.settle(*due), keyring.operation, clock, postpone_ms=HOLDS_AGAIN_MS),
    )
