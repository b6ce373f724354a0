"""Shared values: changed in optimistic transactions, read by consistent queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import CONSTANTS, put
from slate.adapters.dynamodb.keys import (
    END,
    VALUE,
    once_key,
    owner_pk,
    prefix,
    subject_attributes,
    value_key,
    version_key,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.value_items import ValueItems, is_live, unknown, within
from slate.adapters.dynamodb.value_writes import VALUE_TRIES, Plan, ValueWrites, busy
from slate.domain.errors import Conflict, NotFound, TooLarge, VersionMismatch
from slate.domain.values import Author, Change, Changed, Owner, Value
from slate.ports.graph_store import Page

ROOM: Final = 1_000_000
"""Bytes of values in one answer."""
_REMEMBERED_MS: Final = 24 * 3_600 * 1000


class DynamoValueStore:
    """Keeps values in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._items = ValueItems(storage)
        self._writes = ValueWrites(storage)

    # ---- changes

    def change(
        self, tenant: str, owner: Owner, changes: Sequence[Change], author: Author, *, remembered: bool
    ) -> list[Changed]:
        """A read and a transaction; both again where a value moved in between."""
        for attempt in range(VALUE_TRIES):
            try:
                plan = self._writes.plan(tenant, owner, changes, author)
            except (Conflict, NotFound, TooLarge, VersionMismatch):
                # Where it was made before, it may well not fit what it has made.
                known = self._known(tenant, owner, author) if remembered else None
                if known is None:
                    raise
                return self._as_made(tenant, owner, known)
            writes = [*plan.writes, self._memory(tenant, owner, plan, author)] if remembered else plan.writes
            try:
                self._storage.calls.transact(tenant, writes, plan.token)
            except TransactionRefused as refused:
                if not self._writes.own(tenant, plan, refused):
                    self._writes.undo(plan)
                    if remembered and (known := refused.failed.get(len(plan.writes))) is not None:
                        return self._as_made(tenant, owner, known)
                    self._writes.rest(attempt)
                    continue
            self._writes.settle(plan)
            self._forget(tenant, owner, plan)
            return plan.results
        raise busy()

    def _memory(self, tenant: str, owner: Owner, plan: Plan, author: Author) -> Write:
        key, until = once_key(owner_pk(tenant, owner), author.by), self._storage.clock.now() + _REMEMBERED_MS
        versions = {change.key: change.version for change in plan.results}
        about = subject_attributes(tenant, owner.subject_ref)
        return put({**key.attributes, **about, "versions": versions, "ttl": until // 1000})

    def _known(self, tenant: str, owner: Owner, author: Author) -> Item | None:
        return self._storage.calls.get(tenant, once_key(owner_pk(tenant, owner), author.by))

    def _as_made(self, tenant: str, owner: Owner, known: Item) -> list[Changed]:
        return self.as_of(tenant, owner, {key: int(version) for key, version in known["versions"].items()})

    def _forget(self, tenant: str, owner: Owner, plan: Plan) -> None:
        """What deleted values held goes from the history, where nothing reaches it any more."""
        pk = owner_pk(tenant, owner)
        for change in plan.results:
            if not change.deleted:
                continue
            condition = "attribute_exists(#size) AND #version < :since"
            for item in list(self._ring(tenant, pk, change.key, names=("pk", "sk", "size"))):
                if "size" in item:
                    values = {**CONSTANTS, ":since": change.version}
                    self._quietly(tenant, Write(Key(pk, item["sk"]), condition, values, delete=True))

    def _quietly(self, tenant: str, write: Write) -> None:
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed:
            return  # gone, or the place of a newer version by now

    # ---- reads

    def get(self, tenant: str, owner: Owner, key: str) -> Value:
        """One read; one more where it is an object."""
        return self._items.value(tenant, self._live(tenant, owner, key))

    def _live(self, tenant: str, owner: Owner, key: str) -> Item:
        item = self._storage.calls.get(tenant, value_key(owner_pk(tenant, owner), key))
        if item is None or not is_live(item):
            raise unknown(key)
        return item

    def page(self, tenant: str, owner: Owner, prefix: str, position: str | None, limit: int) -> Page[Value]:
        """A query from the position on; a page ends early where more would not fit an answer."""
        start = VALUE + (prefix if position is None else position + " ")  # sorts right after it, before any other
        between = (start, VALUE + prefix + END)
        items = self._storage.calls.query(tenant, owner_pk(tenant, owner), between=between, at_once=limit + 1)
        return self._page(tenant, filter(is_live, items), limit)

    def _page(self, tenant: str, items: Iterator[Item], limit: int) -> Page[Value]:
        found = list(islice(items, limit + 1))
        shown = within(found[:limit], ROOM)
        values = self._items.values(tenant, shown)
        return Page(values, values[-1].key if len(shown) < len(found) else None)

    def history(self, tenant: str, owner: Owner, key: str, position: int | None, limit: int) -> Page[Value]:
        """The value, and a query of its ring."""
        item = self._live(tenant, owner, key)
        earlier = self._ring(tenant, item["pk"], key)
        kept = [item, *(e for e in earlier if "size" in e and item["since"] <= e["version"] < item["version"])]
        kept.sort(key=lambda e: -int(e["version"]))
        after = [e for e in kept if position is None or e["version"] < position]
        shown = within(after[:limit], ROOM)
        more = len(shown) < len(after)
        return Page(self._items.values(tenant, shown), str(shown[-1]["version"]) if more else None)

    def _ring(self, tenant: str, pk: str, key: str, names: Sequence[str] = ()) -> Iterator[Item]:
        return self._storage.calls.query(tenant, pk, between=prefix(f"VH#{key}#"), names=names)

    def as_of(self, tenant: str, owner: Owner, versions: Mapping[str, int]) -> list[Changed]:
        """One read of the values and of the places that the versions have in the history."""
        pk = owner_pk(tenant, owner)
        now = {key: value_key(pk, key) for key in versions}
        then = {key: version_key(pk, key, version) for key, version in versions.items()}
        found = self._storage.calls.get_many(tenant, [*now.values(), *then.values()])
        answers: list[Changed] = []
        for key, version in versions.items():
            places = (found.get(place) for place in (now[key], then[key]))
            item = next((i for i in places if i is not None and i["version"] == version), None)
            answers.append(self._answer(tenant, key, version, item, found.get(now[key])))
        return answers

    def _answer(self, tenant: str, key: str, version: int, item: Item | None, now: Item | None) -> Changed:
        readable = now is not None and is_live(now) and now["since"] <= version
        if item is None or "size" not in item or not readable:
            deleted = item is not None and not is_live(item)
            return Changed(key=key, version=version, deleted=deleted, left_out=not deleted)
        return Changed(key=key, version=version, value=self._items.value(tenant, item).value)
