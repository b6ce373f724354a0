"""What a person was asked and has answered: one sealed item in the person's own partition.

::

    ANSWERED    the last questions by their words, and where they and their answers stand
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.changes import CONSTANTS
from slate.adapters.dynamodb.fact_items import FactItems
from slate.adapters.dynamodb.keys import subject_pk
from slate.adapters.dynamodb.storage import Storage
from slate.domain.repeats import Answered

KEPT: Final = 100
"""Questions; some 8 KB of them."""
_PLACE: Final = "ANSWERED"
_TRIES: Final = 5


class DynamoAnsweredStore:
    """Keeps it in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._items = FactItems(storage)

    def note(self, tenant: str, ref: str, answered: Sequence[Answered]) -> None:
        """A read, and a put over what was read where that changes anything."""
        now = self._storage.clock.now()

        def noted(kept: list[Answered]) -> list[Answered]:
            again = {_what(each) for each in answered}
            live = [each for each in kept if each.until > now and _what(each) not in again]
            return [*live, *answered][-KEPT:]

        self._change(tenant, ref, noted)

    def read(self, tenant: str, ref: str) -> list[Answered]:
        """One read."""
        item, now = self._storage.calls.get(tenant, _key(tenant, ref)), self._storage.clock.now()
        return [each for each in self._opened(tenant, item) if each.until > now]

    def drop(self, tenant: str, ref: str, which: Callable[[Answered], bool]) -> None:
        """As ``note``."""
        self._change(tenant, ref, lambda kept: [each for each in kept if not which(each)])

    def _change(self, tenant: str, ref: str, change: Callable[[list[Answered]], list[Answered]]) -> None:
        key = _key(tenant, ref)
        for _ in range(_TRIES):
            item = self._storage.calls.get(tenant, key)
            before = self._opened(tenant, item)
            after = change(before)
            if after == before:
                return
            try:
                self._storage.calls.write(tenant, self._over(tenant, ref, item, after))
            except ConditionFailed:
                continue
            return

    def _over(self, tenant: str, ref: str, item: Item | None, after: list[Answered]) -> Write:
        key, version = _key(tenant, ref), 0 if item is None else item["version"]
        seen = {**CONSTANTS, ":seen": version}
        if not after:
            return Write(key, "#version = :seen", seen, delete=True)
        ttl = max(each.until for each in after) // 1000 + 1
        said = self._items.sealed(tenant, ref, key, [list(each) for each in after], version=version + 1, ttl=ttl)
        return Write(key, "#version = :seen" if version else "attribute_not_exists(#pk)", seen, item=said)

    def _opened(self, tenant: str, item: Item | None) -> list[Answered]:
        if item is None:
            return []
        return [
            Answered(session_id, seq, answer, tuple(terms), until)
            for session_id, seq, answer, terms, until in self._items.opened(tenant, item)
        ]


def _what(answered: Answered) -> tuple[object, ...]:
    return answered.session_id, answered.seq, answered.terms


def _key(tenant: str, ref: str) -> Key:
    return Key(subject_pk(tenant, ref), _PLACE)
