"""Records of calls by Idempotency-Key, one small item each, gone after 24 h.

::

    begin ──put IF new──────────────► at work ──finish──► answered (24 h) ──ttl──► gone
              │ there, same request      │ refused: forgotten    ▲
              │   at work under 30 s: InProgress                 │ repeat: the answer
              └───at work longer, or reopened: taken over ───────┘ with the same seed
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from pydantic import JsonValue

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.changes import CONSTANTS, Change, put
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import InProgress, Invalid
from slate.ports.access_store import Remembered

KEPT_MS: Final = 24 * 3_600 * 1000
AT_WORK_MS: Final = 30_000
"""A request lives no longer."""


class DynamoIdempotencyStore:
    """Keeps the records in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def begin(self, tenant: str, agent: str, key: str, request: JsonValue, seed: str) -> Remembered:
        """A put that wins only where nothing, or only an expired record, is there."""
        place, now = _place(tenant, agent, key), self._storage.clock.now()
        digest = self._storage.codec.digest(tenant, None, request)
        item: Item = {
            **place.attributes,
            "digest": digest,
            "seed": seed,
            "by": seed,
            "at_work_until": now + AT_WORK_MS,
            "expires_at": now + KEPT_MS,
            "ttl": (now + KEPT_MS) // 1000,
        }
        # An expired record may still be there: TTL is garbage collection, up to days late.
        free = put(item, "attribute_not_exists(#pk) OR #expires_at <= :now")
        try:
            self._storage.calls.write(tenant, Write(place, free.condition, {**free.values, ":now": now}, item=item))
        except ConditionFailed as failed:
            if failed.old is None:
                raise InProgress("the first call under this Idempotency-Key is just ending; repeat it") from None
            return self._found(tenant, place, failed.old, digest, seed)
        return Remembered(None, seed)

    def _found(self, tenant: str, place: Key, old: Item, digest: bytes, by: str) -> Remembered:
        if old["digest"] != digest:
            message = "this key was used with another request; use a new key for a new request"
            raise Invalid.field("Idempotency-Key", message)
        if "answer" in old:
            answer = self._storage.codec.open(tenant, None, place, "answer", old["answer"])
            return Remembered(answer, old["seed"])
        now = self._storage.clock.now()
        change = Change().set(at_work_until=now + AT_WORK_MS, by=by)
        idle = "attribute_not_exists(#answer) AND #at_work_until = :seen AND #at_work_until <= :now"
        try:
            self._storage.calls.write(tenant, change.on(place, idle, seen=old["at_work_until"], now=now))
        except ConditionFailed as failed:
            # At work by this very call: it opened the record, or took it over, and the reply was lost.
            if failed.old is None or failed.old["by"] != by:
                raise InProgress("the first call under this Idempotency-Key is still at work; repeat it soon") from None
        return Remembered(None, old["seed"])

    def finish(self, tenant: str, agent: str, key: str, answer: JsonValue) -> None:
        """Keep the answer, sealed under the tenant's key, unless one is there."""
        place = _place(tenant, agent, key)
        sealed = self._storage.codec.seal(tenant, None, place, "answer", answer)
        change = Change().set(answer=sealed)
        self._quietly(tenant, change.on(place, "attribute_exists(#pk) AND attribute_not_exists(#answer)"))

    def reopen(self, tenant: str, agent: str, key: str) -> None:
        """The next try may begin at once."""
        place = _place(tenant, agent, key)
        change = Change().set(at_work_until=0)
        self._quietly(tenant, change.on(place, "attribute_exists(#pk) AND attribute_not_exists(#answer)"))

    def forget(self, tenant: str, agent: str, key: str) -> None:
        """Remove a record that has no answer."""
        place = _place(tenant, agent, key)
        self._quietly(tenant, Write(place, "attribute_not_exists(#answer)", dict(CONSTANTS), delete=True))

    def _quietly(self, tenant: str, write: Write) -> None:
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed:
            return  # another try of the same call has answered: its answer stands


def _place(tenant: str, agent: str, key: str) -> Key:
    # A caller's key may hold anything that is printable: its hash cannot break the form of a key.
    digest = sha256(f"{agent} {key}".encode()).hexdigest()
    return Key(f"{tenant}#I#{digest}", "CALL")
