"""Counts what calls of DynamoDB cost: how many there are, and the capacity units that AWS would bill for them.

The units come from the items themselves: each is read, unmetered, before and after a write, and where an answer does
not show all that a query read, the query is asked once more. So the meter is meant for a local engine, whose own
ConsumedCapacity is made up. Measured calls go one at a time, whichever thread makes them.

Where AWS publishes no figure, the meter counts a cancelled transaction as much as a committed one, a change of an
index within a transaction once (the index takes no part in it), and a refused update by the item it met.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from slate.testing.capacity import Shape, WireItem, item_bytes, read_units, write_units

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Request = Mapping[str, Any]
Answer = Mapping[str, Any]
Call = Callable[[str, Request], Any]

_BILLED_REFUSALS: Final = frozenset({"ConditionalCheckFailedException", "TransactionCanceledException"})
_UNREADABLE: Final = (BotoCoreError, ClientError, LookupError, TypeError, AttributeError)
"""What a request of any form, for any table, may raise where it is looked at."""
_TRANSACTION: Final = 2
_NARROWING: Final = frozenset({"ProjectionExpression", "FilterExpression", "Select"})
_PLACEHOLDER: Final = re.compile(r"[#:]\w+")


@dataclass(slots=True)
class Usage:
    """Calls, and the units they used."""

    calls: int = 0
    reads: float = 0
    """Read units (RCU)."""
    writes: float = 0
    """Write units (WCU), of indexes too."""

    @property
    def units(self) -> float:
        """Both kinds together."""
        return self.reads + self.writes

    def add(self, reads: float, writes: float) -> None:
        """Count one call more."""
        self.calls += 1
        self.reads += reads
        self.writes += writes


@dataclass(slots=True)
class Cost(Usage):
    """What was measured, and the same for each operation by its name (``UpdateItem``)."""

    by_operation: dict[str, Usage] = field(default_factory=lambda: defaultdict(Usage))

    def count(self, operation: str, *, reads: float = 0, writes: float = 0) -> None:
        """Count one call of an operation."""
        self.add(reads, writes)
        self.by_operation[operation].add(reads, writes)


class Meter:
    """Every call that the client makes while it is measured is counted, those that are refused too.

    ::

        with Meter(client).measure() as cost:
            ...
        assert (cost.calls, cost.reads, cost.writes) == (2, 0.5, 3)

    Measurements may nest; each counts what is called within it. A call that is refused before it reads or writes (a
    missing table, a malformed expression) counts as a call without units, and so does one that touches no item.
    PartiQL is not priced: ValueError.
    """

    def __init__(self, client: DynamoDBClient) -> None:
        self._client: Any = client
        self._store = _Store(client)
        self._lock = RLock()

    @contextmanager
    def measure(self) -> Iterator[Cost]:
        """Count until the ``with`` ends; the cost may be read at any time."""
        cost, inner = Cost(), self._client._make_api_call  # noqa: SLF001  # all calls of a client pass through it
        self._client._make_api_call = partial(self._metered, cost, inner)  # noqa: SLF001  # as above
        try:
            yield cost
        finally:
            self._client._make_api_call = inner  # noqa: SLF001  # as above

    def _metered(self, cost: Cost, inner: Call, operation: str, request: Request) -> Any:
        if "Execute" in operation:
            raise ValueError(f"{operation} is PartiQL, which the meter cannot price")
        with self._lock:
            write = _Write(self._store, operation, request) if operation in _TARGETS else None
            try:
                answer = inner(operation, request)
            except ClientError as error:
                billed = write is not None and error.response["Error"]["Code"] in _BILLED_REFUSALS
                cost.count(operation, writes=write.refused() if write is not None and billed else 0)
                raise
            if write is not None:
                cost.count(operation, writes=write.applied(answer))
            else:
                read = _READS.get(operation, _nothing)
                cost.count(operation, reads=read(self._store, request, answer))
            return answer


class _Store:
    """Items and tables as they are, read past every meter."""

    def __init__(self, client: DynamoDBClient) -> None:
        self.call: Call = partial(type(client)._make_api_call, client)  # type: ignore[attr-defined]  # noqa: SLF001  # as above
        self._shapes: dict[str, Shape] = {}

    def item(self, table: str, key: Request) -> WireItem | None:
        answer = self.call("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
        item: WireItem | None = answer.get("Item")
        return item

    def shape(self, table: str) -> Shape:
        if table not in self._shapes:
            self._shapes[table] = Shape.of(self.call("DescribeTable", {"TableName": table})["Table"])
        return self._shapes[table]

    def read_units(self, table: str, key: Request, *, consistent: bool) -> float:
        item = self.item(table, key)
        return read_units(0 if item is None else item_bytes(item), consistent=consistent)


def _nothing(_: _Store, __: Request, ___: Answer) -> float:
    return 0


def _get(store: _Store, request: Request, _: Answer) -> float:
    return store.read_units(request["TableName"], request["Key"], consistent=request.get("ConsistentRead", False))


def _batch_get(store: _Store, request: Request, answer: Answer) -> float:
    left = answer.get("UnprocessedKeys", {})
    return sum(
        store.read_units(table, key, consistent=asked.get("ConsistentRead", False))
        for table, asked in request["RequestItems"].items()
        for key in asked["Keys"]
        if key not in left.get(table, {}).get("Keys", ())
    )


def _transact_get(store: _Store, request: Request, _: Answer) -> float:
    gets = [item["Get"] for item in request["TransactItems"]]
    return sum(_TRANSACTION * store.read_units(get["TableName"], get["Key"], consistent=True) for get in gets)


def _range(operation: str, store: _Store, request: Request, answer: Answer) -> float:
    """All items that were read count together, also what was filtered out or not shown."""
    if not _NARROWING.isdisjoint(request):
        answer = store.call(operation, _widened(request))
    size = sum(map(item_bytes, answer["Items"]))
    return read_units(size, consistent=request.get("ConsistentRead", False))


def _widened(request: Request) -> Request:
    """The same range, whole: without what narrows the answer, and without the placeholders that only this used."""
    wide = {name: value for name, value in request.items() if name not in _NARROWING}
    used = set(_PLACEHOLDER.findall(request.get("KeyConditionExpression", "")))
    for placeholders in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        kept = {name: value for name, value in wide.pop(placeholders, {}).items() if name in used}
        if kept:
            wide[placeholders] = kept
    return wide


_READS: Final[Mapping[str, Callable[[_Store, Request, Answer], float]]] = {
    "GetItem": _get,
    "BatchGetItem": _batch_get,
    "TransactGetItems": _transact_get,
    "Query": partial(_range, "Query"),
    "Scan": partial(_range, "Scan"),
}


class _Target(NamedTuple):
    """One item that a call writes or checks."""

    table: str
    key: Request
    put: WireItem | None


class _Write:
    """A call that is about to write, and the items as they are before it."""

    def __init__(self, store: _Store, operation: str, request: Request) -> None:
        self._store = store
        self._factor = _TRANSACTION if operation == "TransactWriteItems" else 1
        try:
            self._targets = [_target(store, write) for write in _TARGETS[operation](request)]
            self._before = [store.item(target.table, target.key) for target in self._targets]
        except _UNREADABLE:
            self._targets, self._before = [], []  # it will be refused, and says why itself

    def refused(self) -> float:
        """Its units where a condition failed: nothing changed, and it is billed."""
        pairs = zip(self._before, self._targets, strict=True)
        return sum(self._factor * write_units(old, target.put) for old, target in pairs)

    def applied(self, answer: Answer) -> float:
        """Its units where it was done."""
        left = [_target(self._store, write) for write in _batch({"RequestItems": answer.get("UnprocessedItems", {})})]
        units = 0
        for old, target in zip(self._before, self._targets, strict=True):
            if target not in left:
                new = self._store.item(target.table, target.key)
                units += self._factor * write_units(old, new) + self._store.shape(target.table).index_units(old, new)
        return units


def _target(store: _Store, write: Request) -> _Target:
    table, item = write["TableName"], write.get("Item")
    return _Target(table, write["Key"] if item is None else store.shape(table).key_of(item), item)


def _single(request: Request) -> Sequence[Request]:
    return [request]


def _batch(request: Request) -> Sequence[Request]:
    return [
        {"TableName": table, **write}
        for table, wrapped in request["RequestItems"].items()
        for one in wrapped
        for write in one.values()
    ]


def _transaction(request: Request) -> Sequence[Request]:
    return [write for wrapped in request["TransactItems"] for write in wrapped.values()]


_TARGETS: Final[Mapping[str, Callable[[Request], Sequence[Request]]]] = {
    "PutItem": _single,
    "UpdateItem": _single,
    "DeleteItem": _single,
    "BatchWriteItem": _batch,
    "TransactWriteItems": _transaction,
}
