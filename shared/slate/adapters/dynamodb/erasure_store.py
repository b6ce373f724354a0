"""Erasures in the tenant's list of them, beside what says whose is open.

::

    <t>#N#erasures   ERASURE#<id>   an erasure: its step, counts, instants, versions; sealed: whose, and why
                     OF#<ref>       that one of this person is open

What is sealed is sealed under the person's own key, so that it opens no more once the keys are shredded, in no backup
either; then it goes. Ids begin with the instant of their making, so that erasures sort by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from slate.adapters.dynamodb.calls import Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import CONSTANTS, Change, put
from slate.adapters.dynamodb.keys import list_pk, partition_of, prefix, timer_attributes, timer_due
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import TIMER_PK, TIMER_SK
from slate.adapters.dynamodb.task_store import take
from slate.adapters.dynamodb.timer_entries import TimerEntries
from slate.domain.erasing.erasure import Erasure
from slate.domain.erasing.steps import Step
from slate.domain.errors import WITHHELD, NotFound
from slate.domain.fences import Intent
from slate.ports.erasure_store import DueErasure
from slate.ports.graph_store import Page

ERASURE: Final = "ERASURE#"
OF: Final = "OF#"
_SAID: Final = "said"
_SEALED: Final = ("subject", "reason")
_ELSEWHERE: Final = frozenset({*_SEALED, "erasure_id", "next_at"})
_TIMER_KIND: Final = "erasure"
_KEYS_STAND: Final = frozenset({Step.RECEIVED, Step.HELD, Step.FENCED})


class DynamoErasureStore:
    """Keeps erasures in DynamoDB, and finds those that are due."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._entries = TimerEntries(storage, _TIMER_KIND)

    # ---- records

    def begin(self, tenant: str, erasure: Erasure) -> Erasure:
        """One transaction of puts; what stands in its way is the one that is open."""
        key = _place(tenant, erasure.erasure_id)
        said = {name: getattr(erasure, name) for name in _SEALED}
        sealed = self._storage.codec.seal(tenant, erasure.ref, key, _SAID, said)
        item = {**key.attributes, **_clear(erasure), **_timed(key, erasure), _SAID: sealed}
        mark = {**_mark(tenant, erasure.ref).attributes, "erasure_id": erasure.erasure_id}
        try:
            self._storage.calls.transact(tenant, [put(item), put(mark)])
        except TransactionRefused:
            open_one = self.running(tenant, erasure.ref)
            return self.get(tenant, erasure.erasure_id) if open_one is None else open_one
        return erasure

    def running(self, tenant: str, ref: str) -> Erasure | None:
        """Two reads."""
        mark = self._storage.calls.get(tenant, _mark(tenant, ref))
        return None if mark is None else self.get(tenant, mark["erasure_id"])

    def get(self, tenant: str, erasure_id: str) -> Erasure:
        """One read."""
        item = self._storage.calls.get(tenant, _place(tenant, erasure_id))
        if item is None:
            raise NotFound(f"there is no erasure {erasure_id!r}")
        return self._erasure(tenant, item)

    def page(self, tenant: str, ref: str | None, position: str | None, limit: int) -> Page[Erasure]:
        """One query backward."""
        low, high = prefix(ERASURE)
        items = self._storage.calls.query(
            tenant, list_pk(tenant, "erasures"), between=(low, position or high), backward=True
        )
        found = take(items, lambda item: item["sk"] != position and ref in (None, item["ref"]), limit + 1)
        shown = [self._erasure(tenant, item) for item in found[:limit]]
        return Page(shown, str(found[limit - 1]["sk"]) if len(found) > limit else None)

    def save(self, tenant: str, erasure: Erasure) -> bool:
        """One update; in a transaction with the delete of the mark, in the step that frees the person."""
        key, clear = _place(tenant, erasure.erasure_id), _clear(erasure)
        timed = _timed(key, erasure)
        gone = [name for name in _OPTIONAL if name not in clear]
        gone += [] if timed else [TIMER_PK, TIMER_SK]
        gone += [] if erasure.state in _KEYS_STAND else [_SAID]
        change = Change().set(**clear, **timed).remove(*gone)
        writes = [change.on(key, "#version = :seen", seen=erasure.version - 1)]
        if erasure.state is Step.RECEIPTED:
            mine = {**CONSTANTS, ":mine": erasure.erasure_id}
            own = "attribute_not_exists(#pk) OR #erasure_id = :mine"
            writes.append(Write(_mark(tenant, erasure.ref), own, mine, delete=True))
        try:
            self._storage.calls.transact(tenant, writes)
        except TransactionRefused as refused:
            old = refused.failed.get(0)
            # By this very call, whose reply was lost.
            return old is not None and _clear(_read(old)) == clear
        return True

    def _erasure(self, tenant: str, item: Item) -> Erasure:
        """Whoever may see erasures sees whose one is that waits for a hold to end, though they are held."""
        codec, said = self._storage.codec, dict[str, Any]()
        if _SAID in item:
            with suppress(*WITHHELD), codec.keyring.operation(Intent.WRITE):
                said = codec.open(tenant, item["ref"], Key(item["pk"], item["sk"]), _SAID, item[_SAID])
        return _read({**item, **said})

    # ---- what is due

    def due(self, shard: int, at_once: int, *, by: int | None = None) -> Iterator[DueErasure]:
        """A query of one shard."""
        for key in self._entries.due(shard, at_once, by):
            yield DueErasure(partition_of(key.pk).tenant, key.sk.removeprefix(ERASURE))

    def postpone(self, due: DueErasure, ms: int) -> None:
        """One update."""
        self._entries.postpone(due.tenant, _place(due.tenant, due.erasure_id), ms)


_OPTIONAL: Final = ("progress", "expunging", "failure")


def _clear(erasure: Erasure) -> Item:
    return erasure.model_dump(exclude=set(_ELSEWHERE), exclude_none=True)


def _read(item: Item) -> Erasure:
    next_at = timer_due(item) if TIMER_SK in item else None
    plain = {name: item[name] for name in Erasure.model_fields if name in item}
    return Erasure.model_validate({**plain, "erasure_id": str(item["sk"]).removeprefix(ERASURE), "next_at": next_at})


def _timed(key: Key, erasure: Erasure) -> Item:
    return {} if erasure.next_at is None else timer_attributes(key, erasure.next_at, _TIMER_KIND)


def _place(tenant: str, erasure_id: str) -> Key:
    return Key(list_pk(tenant, "erasures"), ERASURE + erasure_id)


def _mark(tenant: str, ref: str) -> Key:
    return Key(list_pk(tenant, "erasures"), OF + ref)
