"""The ledger in its own table, and how many of its erasures the main table knows of.

::

    ledger  <t>#N#erasures  ERASURE#<id>   an entry, with its receipt once there is one
                            HEAD           how many entries there are; since when the tenant is offboarded
    main    <t>#N#erasures  KNOWN#<id>     that an erasure's fence was closed in this table
                            KNOWN          how many of these there are

The main table is written first, so that it never knows of fewer erasures than the ledger, unless it is an older copy
of itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item, Key, TransactionRefused
from slate.adapters.dynamodb.changes import Change, put
from slate.adapters.dynamodb.keys import list_pk, prefix
from slate.domain.errors import NotFound
from slate.ports.ledger import LedgerEntry, Receipt

ENTRY: Final = "ERASURE#"
KNOWN: Final = "KNOWN"
_ERASURES: Final = "erasures"
_ALWAYS: Final = "attribute_exists(#pk) OR attribute_not_exists(#pk)"


class DynamoLedger:
    """Keeps the ledger in DynamoDB."""

    def __init__(self, main: Calls, ledger: Calls) -> None:
        self._main = main
        self._ledger = ledger

    def fenced(self, entry: LedgerEntry) -> None:
        """Two transactions, the main table's first; each puts an item and counts it, or finds that done."""
        tenant = entry.tenant
        mark = Key(list_pk(tenant, _ERASURES), f"{KNOWN}#{entry.erasure_id}").attributes
        _counted(self._main, tenant, mark, known_key(tenant), Change())
        noted = entry.model_dump(exclude_none=True, exclude_defaults=True)
        item = {**entry_key(tenant, entry.erasure_id).attributes, **noted}
        change = Change() if entry.ref is not None else Change().set(offboarded_at=entry.fenced_at)
        _counted(self._ledger, tenant, item, ledger_head_key(tenant), change)

    def receipted(self, entry: LedgerEntry, receipt: str) -> str:
        """One update, of an entry without a receipt."""
        write = (
            Change()
            .set(receipt=receipt)
            .on(entry_key(entry.tenant, entry.erasure_id), "attribute_exists(#pk) AND attribute_not_exists(#receipt)")
        )
        try:
            self._ledger.write(entry.tenant, write)
        except ConditionFailed as failed:
            if failed.old is None:
                raise _unknown(entry.erasure_id) from None
            return str(failed.old["receipt"])
        return receipt

    def receipt(self, tenant: str, erasure_id: str) -> Receipt:
        """One read."""
        item = self._ledger.get(tenant, entry_key(tenant, erasure_id))
        if item is None or "receipt" not in item:
            raise _unknown(erasure_id)
        return Receipt(item.get("ref"), item["receipt"])

    def entries(self, tenant: str) -> Iterator[LedgerEntry]:
        """One query."""
        found = self._ledger.query(tenant, list_pk(tenant, _ERASURES), between=prefix(ENTRY))
        return (_entry(item) for item in found)


def entry_key(tenant: str, erasure_id: str) -> Key:
    """An entry of the ledger."""
    return Key(list_pk(tenant, _ERASURES), ENTRY + erasure_id)


def ledger_head_key(tenant: str) -> Key:
    """How many entries a tenant has."""
    return Key(list_pk(tenant, _ERASURES), "HEAD")


def known_key(tenant: str) -> Key:
    """How many of them the main table knows of."""
    return Key(list_pk(tenant, _ERASURES), KNOWN)


def _counted(calls: Calls, tenant: str, item: Item, counter: Key, change: Change) -> None:
    """Put an item that is not there yet, and count it, together."""
    count = change.let(count="if_not_exists(#count, :zero) + :one").on(counter, _ALWAYS)
    try:
        calls.transact(tenant, [put(item), count])
    except TransactionRefused:
        return  # counted already


def _entry(item: Item) -> LedgerEntry:
    return LedgerEntry.model_validate({"ref": None, **{n: item[n] for n in LedgerEntry.model_fields if n in item}})


def _unknown(erasure_id: str) -> NotFound:
    return NotFound(f"there is no receipt of an erasure {erasure_id!r} (yet)")
