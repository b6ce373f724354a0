"""Receipts of contexts in DynamoDB: one sealed item each, until its time is over.

::

    <t>#C#<context>    RECEIPT#<part>, one part unless the context is very large

They are packed before they are sealed: a context repeats its own words. Nothing of one is ever changed, but for what
it shows of what is deleted since.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from contextlib import suppress
from typing import Final

from slate.adapters.dynamodb.calls import Item, Key, TransactionRefused
from slate.adapters.dynamodb.changes import put, removal
from slate.adapters.dynamodb.keys import context_part_key, prefix, ref_of, subject_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.domain.context import Context
from slate.domain.errors import Conflict, NotFound

PART_BYTES: Final = 350_000
"""Of sealed bytes on one item, below DynamoDB's 400 KB."""
_RECEIPT: Final = "RECEIPT#"


class DynamoContextStore:
    """Keeps receipts in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def keep(self, tenant: str, context: Context, until: int) -> None:
        """One put; a transaction of puts where one item does not hold it."""
        items = self._items(tenant, context, until)
        try:
            self._storage.calls.together(tenant, [put(item) for item in items])
        except TransactionRefused as refused:
            there = refused.failed.get(0)
        else:
            return
        if there is None or there["said"] != items[0]["said"]:  # otherwise this very write, whose reply was lost
            raise Conflict("a context of this id is there already")

    def replace(self, tenant: str, context: Context) -> None:
        """One transaction over the parts that are there; one that is gone meanwhile stays gone."""
        first = context_part_key(tenant, context.context_id, 0)
        before = list(self._storage.calls.query(tenant, first.pk, between=prefix(_RECEIPT)))
        if not before:
            return
        items = self._items(tenant, context, before[0]["expires_at"])
        writes = [put(item, "attribute_exists(#pk)") for item in items]
        kept = {item["sk"] for item in items}
        gone = [Key(item["pk"], item["sk"]) for item in before if item["sk"] not in kept]
        writes += [removal(key) for key in gone]
        with suppress(TransactionRefused):
            self._storage.calls.transact(tenant, writes)

    def _items(self, tenant: str, context: Context, until: int) -> list[Item]:
        ref = None if context.subject is None else self._storage.codec.keyring.ref(tenant, context.subject)
        first = context_part_key(tenant, context.context_id, 0)
        packed = b64encode(zlib.compress(context.model_dump_json().encode())).decode()
        sealed = self._storage.codec.seal(tenant, ref, first, "said", packed)
        cuts = range(0, len(sealed), PART_BYTES)
        return [
            {
                **context_part_key(tenant, context.context_id, number).attributes,
                **subject_attributes(tenant, ref),
                "said": sealed[start : start + PART_BYTES],
                "parts": len(cuts),
                "agent": context.agent,
                "created_at": context.created_at,
                "expires_at": until,
                "ttl": until // 1000,
            }
            for number, start in enumerate(cuts)
        ]

    def get(self, tenant: str, context_id: str) -> Context:
        """One query."""
        first = context_part_key(tenant, context_id, 0)
        items = list(self._storage.calls.query(tenant, first.pk, between=prefix(_RECEIPT)))
        if not items or len(items) < items[0]["parts"] or items[0]["expires_at"] <= self._storage.clock.now():
            raise NotFound(f"there is no context {context_id!r} (any more); receipts are kept for a bounded time")
        sealed = b"".join(bytes(item["said"]) for item in items)
        packed = self._storage.codec.open(tenant, ref_of(items[0]), Key(*first), "said", sealed)
        return Context.model_validate_json(zlib.decompress(b64decode(packed)))
