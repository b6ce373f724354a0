"""Holds: what outlives a restored table is in the ledger, what is content is sealed as the person's own.

::

    ledger  <t>#N#holds   HOLD#<hold>   that it stands, whose data it holds (a ref), until when
    main    <t>#N#holds   HOLD#<hold>   subject and reason, sealed; in the timer while there is something to look at
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item, Key
from slate.adapters.dynamodb.changes import Change, put, removal
from slate.adapters.dynamodb.keys import (
    HOLD,
    hold_key,
    list_pk,
    partition_of,
    prefix,
    ref_of,
    subject_attributes,
    timer_attributes,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import SUBJECT_PK
from slate.adapters.dynamodb.task_store import IN_TIMER, take
from slate.adapters.dynamodb.timer_entries import TimerEntries
from slate.domain.errors import WITHHELD
from slate.domain.fences import Intent
from slate.domain.holds import Hold
from slate.ports.graph_store import Page
from slate.ports.hold_store import DueHold, HeldPerson, Kept

LOOK_MS: Final = 900_000
"""Longer than any request lives: what is looked at then is not under way any more."""
_HOLDS: Final = "holds"
_SAID: Final = "said"
_NOTED: Final = ("hold_id", "until", "created_at", "created_by")
_TIMER_KIND: Final = "hold"


class DynamoHoldStore:
    """Keeps holds in DynamoDB."""

    def __init__(self, storage: Storage, ledger: Calls) -> None:
        self._storage = storage
        self._entries = TimerEntries(storage, _TIMER_KIND)
        self._ledger = ledger

    def put(self, tenant: str, ref: str, hold: Hold) -> HeldPerson:
        """Two conditional puts: what is in the timer first."""
        key = hold_key(tenant, hold.hold_id)
        said = {"subject": hold.subject, "reason": hold.reason}
        sealed = self._storage.codec.seal(tenant, ref, key, _SAID, said)
        self._keep(tenant, ref, key, {_SAID: sealed})
        noted = {**key.attributes, "ref": ref, **hold.model_dump(include=set(_NOTED), exclude_none=True)}
        try:
            self._ledger.write(tenant, put(noted))
        except ConditionFailed as failed:
            noted = failed.old or noted
        return _held(noted)

    def get(self, tenant: str, hold_id: str) -> HeldPerson | None:
        """One read of the ledger."""
        item = self._ledger.get(tenant, hold_key(tenant, hold_id))
        return None if item is None else _held(item)

    def page(self, tenant: str, position: str | None, limit: int) -> Page[Hold]:
        """One query of the ledger, and a read of what names the persons."""
        first, last = prefix(HOLD)
        start = first if position is None else HOLD + position + " "
        items = self._ledger.query(tenant, list_pk(tenant, _HOLDS), between=(start, last), at_once=limit + 1)
        found = [_held(item) for item in take(items, lambda _: True, limit + 1)]
        shown = found[:limit]
        said = self._said(tenant, shown)
        holds = [held.hold.model_copy(update=said.get(held.hold.hold_id, {})) for held in shown]
        return Page(holds, shown[-1].hold.hold_id if len(found) > limit else None)

    def lift(self, tenant: str, hold_id: str) -> None:
        """An update in the main table, and a delete in the ledger."""
        key = hold_key(tenant, hold_id)
        with suppress(ConditionFailed):  # a table from before the hold knows nothing of it
            self._storage.calls.write(tenant, Change().set(**self._soon(key)).on(key, "attribute_exists(#pk)"))
        _delete(self._ledger, tenant, key)

    def kept(self, tenant: str, hold_id: str) -> Kept | None:
        """One read."""
        item = self._storage.calls.get(tenant, hold_key(tenant, hold_id))
        return None if item is None else _kept(item)

    def drop(self, tenant: str, hold_id: str) -> None:
        """One delete."""
        _delete(self._storage.calls, tenant, hold_key(tenant, hold_id))

    def look_at(self, tenant: str, hold: Hold) -> None:
        """One update."""
        key = hold_key(tenant, hold.hold_id)
        change = Change().remove(*IN_TIMER) if hold.until is None else Change().set(**_due(key, hold.until))
        with suppress(ConditionFailed):  # as in ``lift``
            self._storage.calls.write(tenant, change.on(key, "attribute_exists(#pk)"))

    def all_noted(self, tenant: str) -> list[HeldPerson]:
        """One query of the ledger."""
        return [_held(item) for item in self._ledger.query(tenant, list_pk(tenant, _HOLDS), between=prefix(HOLD))]

    def all_kept(self, tenant: str) -> list[Kept]:
        """One query of the main table."""
        names = (SUBJECT_PK, "sk")
        items = self._storage.calls.query(tenant, list_pk(tenant, _HOLDS), between=prefix(HOLD), names=names)
        return [_kept(item) for item in items]

    def restore(self, tenant: str, held: HeldPerson) -> None:
        """One conditional put."""
        self._keep(tenant, held.ref, hold_key(tenant, held.hold.hold_id), {})

    # ---- what is due

    def due(self, shard: int, at_once: int) -> Iterator[DueHold]:
        """A query of one shard for each ``at_once`` of them."""
        for key in self._entries.due(shard, at_once):
            yield DueHold(partition_of(key.pk).tenant, key.sk.removeprefix(HOLD))

    def postpone(self, due: DueHold, ms: int) -> None:
        """One update."""
        self._entries.postpone(due.tenant, hold_key(due.tenant, due.hold_id), ms)

    def _keep(self, tenant: str, ref: str, key: Key, said: Item) -> None:
        item = {**key.attributes, **subject_attributes(tenant, ref), **self._soon(key), **said}
        with suppress(ConditionFailed):  # there already
            self._storage.calls.write(tenant, put(item))

    def _said(self, tenant: str, shown: list[HeldPerson]) -> dict[str, dict[str, Any]]:
        """Subjects and reasons, by hold. Whoever may see holds sees them, though the person's data is held."""
        codec, said = self._storage.codec, {}
        keys = [hold_key(tenant, held.hold.hold_id) for held in shown]
        with codec.keyring.operation(Intent.WRITE):
            for key, item in self._storage.calls.get_many(tenant, keys).items():
                if _SAID in item:
                    with suppress(*WITHHELD):
                        said[key.sk.removeprefix(HOLD)] = codec.open(tenant, ref_of(item), key, _SAID, item[_SAID])
        return said

    def _soon(self, key: Key) -> Item:
        return _due(key, self._storage.clock.now() + LOOK_MS)


def _delete(calls: Calls, tenant: str, key: Key) -> None:
    with suppress(ConditionFailed):  # gone already
        calls.write(tenant, removal(key))


def _due(key: Key, due: int) -> Item:
    return timer_attributes(key, due, _TIMER_KIND)


def _held(item: Item) -> HeldPerson:
    return HeldPerson(item["ref"], Hold.model_validate({name: item.get(name) for name in _NOTED}))


def _kept(item: Item) -> Kept:
    return Kept(str(item["sk"]).removeprefix(HOLD), ref_of(item) or "")
