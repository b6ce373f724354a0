"""Puts together the audit: what watches the storage, what writes deeds down, what reads and proves them."""

from __future__ import annotations

from slate.adapters.dynamodb import audited_writes
from slate.adapters.dynamodb.audit_store import DynamoAuditStore
from slate.adapters.dynamodb.calls import Calls, Item, Write
from slate.adapters.dynamodb.session_store import DynamoSessionStore
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.telling import ReadyTelling
from slate.service.audit.reading import AuditReading
from slate.service.audit.writing import Auditing
from slate.service.paging import Cursors
from slate.wiring.parts import Audit, Parts


def watched(parts: Parts, table: str, ready: ReadyTelling) -> Calls:
    """The calls on the main table: the deed under way is told of each change, before it is made and once it is."""

    def written(write: Write, now: Item | None) -> None:
        ready(write, now)
        audited_writes.after(write, now)

    return Calls(parts.dynamodb, table, parts.rng, parts.sleep, written, audited_writes.before)


def audit_of(parts: Parts, storage: Storage, noted: Calls, cursors: Cursors) -> Audit:
    """The use cases; ``noted`` is the ledger's table."""
    keyring = storage.codec.keyring
    store = DynamoAuditStore(storage, noted, parts.rng)
    return Audit(
        writing=Auditing(store, keyring, keyring.operation, parts.clock, parts.ids),
        reading=AuditReading(store, DynamoSessionStore(storage), keyring, cursors, parts.clock),
    )
