"""Holds: what outlives a restored table is in the ledger, what is content is with the person's own items.

::

    ledger  <t>#N#holds   HOLD#<hold>   that it stands, whose data it holds (a ref), until when
    main    <t>#U#<ref>   HOLD#<hold>   subject and reason, sealed; in the timer while there is something to look at
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.changes import CONSTANTS, Change, put
from slate.adapters.dynamodb.keys import (
    HOLD,
    hold_key,
    list_pk,
    prefix,
    subject_attributes,
    timer_attributes,
    timer_pk,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import TIMER, TIMER_PK, TIMER_SK
from slate.adapters.dynamodb.task_store import IN_TIMER, take
from slate.domain.errors import WITHHELD, Internal
from slate.domain.fences import Intent
from slate.domain.holds import Hold
from slate.ports.graph_store import Page
from slate.ports.hold_store import DueHold, HeldPerson

LOOK_MS: Final = 900_000
"""Longer than any request lives: what is looked at then is not under way any more."""
_SAID: Final = "said"
_TIMER_KIND: Final = "hold"
_NOTED: Final = ("hold_id", "until", "created_at", "created_by")


class DynamoHoldStore:
    """Keeps holds in DynamoDB."""

    def __init__(self, storage: Storage, ledger: Calls) -> None:
        self._storage = storage
        self._ledger = ledger

    def put(self, tenant: str, ref: str, hold: Hold) -> HeldPerson:
        """Two conditional puts: the person's item, which is in the timer, first."""
        key = hold_key(tenant, ref, hold.hold_id)
        said = {"subject": hold.subject, "reason": hold.reason}
        item: Item = {
            **key.attributes,
            **subject_attributes(tenant, ref),
            **self._soon(key),
            _SAID: self._storage.codec.seal(tenant, ref, key, _SAID, said),
        }
        with suppress(ConditionFailed):  # there already
            self._storage.calls.write(tenant, put(item))
        noted = {**_noted(tenant, hold.hold_id).attributes, "ref": ref}
        noted |= hold.model_dump(include=set(_NOTED), exclude_none=True)
        try:
            self._ledger.write(tenant, put(noted))
        except ConditionFailed as failed:
            noted = failed.old or noted
        return _held(noted)

    def get(self, tenant: str, hold_id: str) -> HeldPerson | None:
        """One read of the ledger."""
        item = self._ledger.get(tenant, _noted(tenant, hold_id))
        return None if item is None else _held(item)

    def page(self, tenant: str, position: str | None, limit: int) -> Page[Hold]:
        """One query of the ledger, and a read of the persons' items: nobody else's business is opened for it."""
        first, last = prefix(HOLD)
        start = first if position is None else HOLD + position + " "
        items = self._ledger.query(tenant, list_pk(tenant, "holds"), between=(start, last), at_once=limit + 1)
        found = [_held(item) for item in take(items, lambda _: True, limit + 1)]
        shown = found[:limit]
        said = self._said(tenant, shown)
        holds = [held.hold.model_copy(update=said.get(held.hold.hold_id, {})) for held in shown]
        return Page(holds, shown[-1].hold.hold_id if len(found) > limit else None)

    def of(self, tenant: str) -> list[HeldPerson]:
        """One query of the ledger."""
        return [_held(item) for item in self._ledger.query(tenant, list_pk(tenant, "holds"), between=prefix(HOLD))]

    def lift(self, tenant: str, held: HeldPerson) -> None:
        """An update of the person's item, and a delete in the ledger."""
        key = hold_key(tenant, held.ref, held.hold.hold_id)
        with suppress(ConditionFailed):  # a table from before the hold has no such item
            self._storage.calls.write(tenant, Change().set(**self._soon(key)).on(key, "attribute_exists(#pk)"))
        self._delete(self._ledger, tenant, _noted(tenant, held.hold.hold_id))

    def drop(self, tenant: str, ref: str, hold_id: str) -> None:
        """One delete."""
        self._delete(self._storage.calls, tenant, hold_key(tenant, ref, hold_id))

    def look_at(self, tenant: str, held: HeldPerson) -> None:
        """One update of the person's item."""
        key, until = hold_key(tenant, held.ref, held.hold.hold_id), held.hold.until
        change = Change().remove(*IN_TIMER) if until is None else Change().set(**_due(key, until))
        with suppress(ConditionFailed):  # as in ``lift``
            self._storage.calls.write(tenant, change.on(key, "attribute_exists(#pk)"))

    # ---- what is due

    def due(self, shard: int, at_once: int) -> Iterator[DueHold]:
        """A query of one shard for each ``at_once`` of them."""
        now = self._storage.clock.now()
        pk, sk = (TIMER_PK, timer_pk(_TIMER_KIND, shard)), (TIMER_SK, "<", f"{now + 1:015d}")
        for item in self._storage.calls.walk_index(TIMER, pk, sk, at_once=at_once):
            tenant, _, ref = str(item["pk"]).split("#")
            yield DueHold(tenant, ref, str(item["sk"]).removeprefix(HOLD))

    def postpone(self, due: DueHold, ms: int) -> None:
        """Move the entry, if it is still in the timer."""
        key = hold_key(due.tenant, due.ref, due.hold_id)
        change = Change().set(**_due(key, self._storage.clock.now() + ms))
        with suppress(ConditionFailed):  # nothing is due on it any more
            self._storage.calls.write(due.tenant, change.on(key, "attribute_exists(#timer_pk)"))

    def _said(self, tenant: str, shown: list[HeldPerson]) -> dict[str, dict[str, Any]]:
        """Subjects and reasons, by hold. Whoever may see holds sees them, though the person's data is held."""
        codec = self._storage.codec
        refs = {hold_key(tenant, held.ref, held.hold.hold_id): held.ref for held in shown}
        said = {}
        with codec.keyring.operation(Intent.WRITE):
            for key, item in self._storage.calls.get_many(tenant, list(refs)).items():
                with suppress(*WITHHELD):
                    said[key.sk.removeprefix(HOLD)] = codec.open(tenant, refs[key], key, _SAID, item[_SAID])
        return said

    def _soon(self, key: Key) -> Item:
        return _due(key, self._storage.clock.now() + LOOK_MS)

    @staticmethod
    def _delete(calls: Calls, tenant: str, key: Key) -> None:
        with suppress(ConditionFailed):  # gone already
            calls.write(tenant, Write(key, "attribute_exists(#pk)", dict(CONSTANTS), delete=True))


def _due(key: Key, due: int) -> Item:
    return timer_attributes(key, due, _TIMER_KIND)


def _noted(tenant: str, hold_id: str) -> Key:
    return Key(list_pk(tenant, "holds"), HOLD + hold_id)


def _held(item: Item) -> HeldPerson:
    if "ref" not in item:
        raise Internal("a hold in the ledger names nobody")
    return HeldPerson(item["ref"], Hold.model_validate({name: item.get(name) for name in _NOTED}))
