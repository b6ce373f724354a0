"""Puts together what privacy officers work with: receipts, the ledger, holds."""

from __future__ import annotations

from slate import __version__
from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.erasure_store import DynamoErasureStore
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.hold_store import DynamoHoldStore
from slate.adapters.dynamodb.ledger_store import DynamoLedger
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.subject_items import SubjectItems
from slate.adapters.dynamodb.subject_objects import SubjectObjects
from slate.adapters.dynamodb.subject_vectors import SubjectVectors
from slate.adapters.dynamodb.table import KEYS, MAIN
from slate.adapters.jose.late import LateSigner
from slate.domain.erasing.erasure import Days
from slate.service.due_work import DueWork
from slate.service.erasing.asking import Erasing
from slate.service.erasing.deadlines import Deadlines
from slate.service.erasing.proving import Proving
from slate.service.erasing.replaying import Replaying
from slate.service.erasing.running import Places, Running, Terms
from slate.service.holding import Holding
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors
from slate.settings import Settings
from slate.wiring.parts import Audit, Parts, Privacy

ERASURES_AGAIN_MS = 60_000
"""An erasure that could not be looked at is looked at again after so long."""
COPIES = Days(keys=KEYS.recovery_days, snapshots=14, backups=MAIN.recovery_days)
"""How long copies lie that nobody can reach into; an index on AWS keeps its automatic snapshots for 14 days."""
HOLDS_AGAIN_MS = 60_000
"""A hold that could not be looked at is looked at again after so long."""


def privacy_of(
    settings: Settings,
    parts: Parts,
    storage: Storage,
    noted: Calls,
    fences: DynamoFences,
    idempotency: Idempotency,
    cursors: Cursors,
    audit: Audit,
) -> Privacy:
    """The use cases of privacy; ``noted`` is the ledger's table."""
    keyring, clock = storage.codec.keyring, parts.clock
    ledger, holds = DynamoLedger(storage.calls, noted), DynamoHoldStore(storage, noted)
    erasures, signer = DynamoErasureStore(storage), LateSigner(parts.signing_key)
    running = Running(
        erasures,
        _places(parts, storage),
        fences,
        keyring,
        signer,
        ledger,
        clock,
        parts.counts,
        terms=Terms(queue_days=settings.queue_days, days=COPIES),
        release=__version__,
    )
    holding = Holding(holds, fences, keyring, idempotency, cursors, clock, ended=running.resume)
    return Privacy(
        erasing=Erasing(erasures, running, keyring, idempotency, cursors, clock, parts.start_eraser, days=COPIES),
        running=running,
        eraser=DueWork(erasures, running.work, audit.writing.jobs("eraser"), clock, postpone_ms=ERASURES_AGAIN_MS),
        deadlines=Deadlines(erasures, erasures, keyring.operation, clock, parts.counts),
        proving=Proving(ledger, signer, keyring),
        replaying=Replaying(ledger, erasures, running, fences, keyring, holds, holding, clock, sleep=parts.sleep),
        holding=holding,
        holds=DueWork(
            holds, lambda due, _: holding.settle(*due), audit.writing.jobs("holds"), clock, postpone_ms=HOLDS_AGAIN_MS
        ),
    )


def _places(parts: Parts, storage: Storage) -> Places:
    """Everywhere that data about a person may lie: an index is emptied by names that items give, items go last."""
    seeking = [] if parts.index is None else [SubjectVectors(storage, parts.index)]
    return Places(seeking, [SubjectObjects(storage), SubjectItems(storage)], parts.index)
