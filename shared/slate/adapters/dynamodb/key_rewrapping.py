"""Wraps every data key anew, after the wrapping key was changed: an operator's, who may scan; no function does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item, Key, from_wire
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.keys import partition_of
from slate.adapters.dynamodb.table import PK, SK
from slate.ports.keyring import KeyWrapper

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

AT_ONCE: Final = 256
"""Keys under way side by side; as many as the executor has threads are asked about at a time."""


class Rewrapped(NamedTuple):
    """What one run did."""

    keys: int = 0
    gone: int = 0
    """Of them were shredded meanwhile, and stay so."""


class KeyRewrapping:
    """Goes through the keys table. It may be stopped and begun again at any time: a key wrapped twice is the same."""

    def __init__(
        self, client: DynamoDBClient, table: str, calls: Calls, wrapper: KeyWrapper, executor: Executor
    ) -> None:
        self._client = client
        self._table = table
        self._calls = calls
        self._wrapper = wrapper
        self._executor = executor

    def run(self, progress: Callable[[Rewrapped], object] = lambda _: None) -> Rewrapped:
        """One scan; for each key one call of the wrapping service and one conditional update.

        Raises:
            Unavailable: the wrapping service refuses, such as for a key that is wrapped by one it may not use.
        """
        done = Rewrapped()
        for batch in _batched(self._items(), AT_ONCE):
            kept = list(self._executor.map(self._rewrap, batch))
            done = Rewrapped(done.keys + len(kept), done.gone + kept.count(False))
            progress(done)
        return done

    def _items(self) -> Iterator[Item]:
        pages: Any = self._client.get_paginator("scan").paginate(TableName=self._table, ConsistentRead=True)
        for page in pages:
            for raw in page["Items"]:
                yield from_wire(raw) or {}

    def _rewrap(self, item: Item) -> bool:
        """Whether the key is there still. One that was shredded after it was read must not come back."""
        tenant, _, name = partition_of(item[PK])
        wrapped = self._wrapper.rewrap(item["wrapped"], tenant, name)
        change = Change().set(wrapped=wrapped).on(Key(item[PK], item[SK]), "#wrapped = :before", before=item["wrapped"])
        try:
            self._calls.write(tenant, change)
        except ConditionFailed as failed:
            return failed.old is not None  # another run has wrapped it
        return True


def _batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
