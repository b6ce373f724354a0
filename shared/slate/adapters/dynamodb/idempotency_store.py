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
from slate.adapters.dynamodb.changes import Change, put, removal
from slate.adapters.dynamodb.keys import ref_of, subject_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import InProgress, Invalid
from slate.ports.access_store import Call, Remembered

KEPT_MS: Final = 24 * 3_600 * 1000
AT_WORK_MS: Final = 30_000
"""A request lives no longer."""


class DynamoIdempotencyStore:
    """Keeps the records in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def begin(self, call: Call, request: JsonValue, seed: str) -> Remembered:
        """A put that wins only where nothing, or only an expired record, is there."""
        tenant, place, now = call.tenant, self._place(call), self._storage.clock.now()
        ref = self._ref(call)
        digest = self._storage.codec.digest(tenant, ref, request)
        item: Item = {
            **place.attributes,
            **subject_attributes(tenant, ref),
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
            answer = self._storage.codec.open(tenant, ref_of(old), place, "answer", old["answer"])
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

    def finish(self, call: Call, answer: JsonValue) -> None:
        """Keep the answer, unless one is there."""
        place = self._place(call)
        sealed = self._storage.codec.seal(call.tenant, self._ref(call), place, "answer", answer)
        change = Change().set(answer=sealed)
        self._quietly(call, change.on(place, "attribute_exists(#pk) AND attribute_not_exists(#answer)"))

    def reopen(self, call: Call) -> None:
        """The next try may begin at once."""
        change = Change().set(at_work_until=0)
        self._quietly(call, change.on(self._place(call), "attribute_exists(#pk) AND attribute_not_exists(#answer)"))

    def forget(self, call: Call) -> None:
        """Remove a record that has no answer."""
        self._quietly(call, removal(self._place(call), "attribute_not_exists(#answer)"))

    def _ref(self, call: Call) -> str | None:
        return None if call.subject is None else self._storage.codec.keyring.ref(call.tenant, call.subject)

    def _place(self, call: Call) -> Key:
        bound = "" if call.bound is None else self._storage.codec.keyring.name(call.tenant, call.bound)
        # A caller's key may hold anything that is printable: its hash cannot break the form of a key.
        digest = sha256(f"{call.key_id} {bound} {call.key}".encode()).hexdigest()
        return Key(f"{call.tenant}#I#{digest}", "CALL")

    def _quietly(self, call: Call, write: Write) -> None:
        try:
            self._storage.calls.write(call.tenant, write)
        except ConditionFailed:
            return  # another try of the same call has answered: its answer stands
