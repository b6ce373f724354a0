"""DynamoDB calls as Slate makes them: conditional, within one tenant, and honest about why a condition failed.

Three laws hold for every write here. Its keys start with the tenant's prefix (a slip is a fault, not a leak). A failed
condition carries the item as it was (``ALL_OLD``), so that the caller can tell a lost race from its own earlier
success whose reply was lost. What met another transaction, or got no answer, is sent again, with jitter: so every
caller must recognise its own work when its condition fails, and a lost reply ends within the call.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import (
    ClientError,
)

from slate.adapters.dynamodb.errors import Conflicting, Refused, Unanswered, translated
from slate.adapters.dynamodb.table import PK, SK
from slate.domain.errors import Unavailable
from slate.domain.operations import only_for, working_for

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = dict[str, Any]
T = TypeVar("T")

CONFLICT_TRIES: Final = 10
SENDS: Final = 3
"""A call that gets no answer is sent so often in all."""
MAX_TRANSACTION: Final = 100
MAX_BATCH_GET: Final = 100
MAX_BATCH_WRITE: Final = 25
_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 1.28


class Key(NamedTuple):
    """Partition and sort key of an item."""

    pk: str
    sk: str

    @property
    def attributes(self) -> Item:
        """As attributes."""
        return {PK: self.pk, SK: self.sk}


class ConditionFailed(Exception):  # not an error: the expected answer of a conditional write
    """A condition did not hold; ``old`` is the item as it was, or None where there was none."""

    def __init__(self, old: Item | None) -> None:
        super().__init__("the condition did not hold")
        self.old = old


class TransactionRefused(Exception):  # as above
    """Nothing of a transaction was written; ``failed`` maps the place of each failed condition to the item there."""

    def __init__(self, failed: Mapping[int, Item | None]) -> None:
        super().__init__(f"conditions {sorted(failed)} did not hold")
        self.failed = failed


@dataclass(frozen=True, slots=True)
class Write:
    """One conditional write: a put has ``item``, an update ``expression``, a check neither, a delete says so.

    Names in expressions are written ``#name`` and need no declaration; values are ``:name`` and stand in ``values``.
    """

    key: Key
    condition: str
    values: Mapping[str, Any] = field(default_factory=dict)
    expression: str = ""
    item: Item | None = None
    delete: bool = False

    def also(self, condition: str, **values: Any) -> Write:
        """The same write with one more thing to hold."""
        return replace(self, condition=f"({self.condition}) AND {condition}", values={**self.values, **values})


class _Reader(TypeDeserializer):
    """Numbers are whole, binaries are bytes: there is nothing else in these tables."""

    def _deserialize_n(self, value: str) -> int:
        return int(value)

    def _deserialize_b(self, value: bytes) -> bytes:
        return bytes(value)


_WRITER: Final = TypeSerializer()
_READER: Final = _Reader()
_NAME: Final = re.compile(r"#(\w+)")
_VALUE: Final = re.compile(r":\w+")


def to_wire(item: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as DynamoDB's typed values."""
    return {name: _WRITER.serialize(value) for name, value in item.items()}


def from_wire(item: Mapping[str, Any] | None) -> Item | None:
    """Typed values as attributes; None for an absent or empty item."""
    return {name: _READER.deserialize(value) for name, value in item.items()} if item else None


class Calls:
    """The calls on one table."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        rng: random.Random,
        sleep: Callable[[float], None],
        written: Callable[[Write, Item | None], None] = lambda _write, _now: None,
        writing: Callable[[Sequence[Write]], None] = lambda _writes: None,
    ) -> None:
        """``written`` is told of every write that was applied, and of the item after it where that is known.

        ``writing`` is told of writes before they are sent; what it raises keeps them from being sent.
        """
        self._written = written
        self._writing = writing
        self._client = client
        self._table = table
        self._rng = rng
        self._sleep = sleep

    def get(self, tenant: str, key: Key) -> Item | None:
        """One item, strongly consistent."""
        self._guard(tenant, key)
        wire_key = to_wire(key.attributes)
        answer = self._send(lambda: self._client.get_item(TableName=self._table, Key=wire_key, ConsistentRead=True))
        return from_wire(answer.get("Item"))

    def get_many(self, tenant: str, keys: Sequence[Key], names: Sequence[str] = ()) -> dict[Key, Item]:
        """Those of the items that exist, strongly consistent each (not together); ``names`` hold the keys, if given."""
        found: dict[Key, Item] = {}
        for key in keys:
            self._guard(tenant, key)
        for start in range(0, len(keys), MAX_BATCH_GET):
            wanted: Any = [to_wire(key.attributes) for key in keys[start : start + MAX_BATCH_GET]]
            for attempt in range(CONFLICT_TRIES):
                asked: Any = {self._table: {"Keys": wanted, "ConsistentRead": True, **_projected(names)}}
                answer: Any = self._send(partial(self._client.batch_get_item, RequestItems=asked))
                for raw in answer["Responses"].get(self._table, []):
                    item = from_wire(raw) or {}
                    found[Key(item[PK], item[SK])] = item
                wanted = answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
                if not wanted:
                    break
                self.pause(attempt)
            else:
                raise Unavailable("the storage did not give all items in time; repeat the call")
        return found

    def query(
        self,
        tenant: str,
        pk: str,
        *,
        between: tuple[str, str],
        at_once: int | None = None,
        backward: bool = False,
        names: Sequence[str] = (),
    ) -> Iterator[Item]:
        """Items of a partition whose sort key lies between two, ends included, strongly consistent.

        They are read as they are taken, ``at_once`` so many to a call; a megabyte to a call where it is not given.
        """
        self._guard(tenant, Key(pk, ""))
        values = {":pk": pk, ":from": between[0], ":to": between[1]}
        request: dict[str, Any] = {
            "KeyConditionExpression": "#pk = :pk AND #sk BETWEEN :from AND :to",
            "ExpressionAttributeValues": to_wire(values),
            "ConsistentRead": True,
            "ScanIndexForward": not backward,
            **_projected(names),
        }
        request["ExpressionAttributeNames"] = {"#pk": PK, "#sk": SK, **request.get("ExpressionAttributeNames", {})}
        if at_once is not None:
            request["Limit"] = at_once
        return self._pages(request)

    def query_index(self, index: str, pk: tuple[str, str], sk: tuple[str, str, str], limit: int) -> list[Item]:
        """Keys from an index, eventually consistent; ``sk`` is (attribute, comparison, value)."""
        return list(islice(self.walk_index(index, pk, sk, at_once=limit), limit))

    def walk_index(
        self, index: str, pk: tuple[str, str], sk: tuple[str, str, str], *, at_once: int | None = None
    ) -> Iterator[Item]:
        """The same without an end: read as they are taken, a megabyte to a call where ``at_once`` is not given."""
        tenant = working_for()
        if tenant is not None:
            self._guard(tenant, Key(pk[1], ""))
        values = {":pk": pk[1], ":sk": sk[2]}
        request: dict[str, Any] = {
            "IndexName": index,
            "KeyConditionExpression": f"#{pk[0]} = :pk AND #{sk[0]} {sk[1]} :sk",
            "ExpressionAttributeNames": {f"#{pk[0]}": pk[0], f"#{sk[0]}": sk[0]},
            "ExpressionAttributeValues": to_wire(values),
        }
        if at_once is not None:
            request["Limit"] = at_once
        return self._pages(request)

    def _pages(self, request: dict[str, Any]) -> Iterator[Item]:
        while True:
            answer = self._send(partial(self._client.query, TableName=self._table, **request))
            for raw in answer["Items"]:
                yield from_wire(raw) or {}
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def write(self, tenant: str, write: Write) -> Item:
        """Apply one write; the item as it is after it (nothing after a delete).

        Raises:
            ConditionFailed: with the item as it was.
        """
        self._guard(tenant, write.key)
        self._writing((write,))
        now = self._send(lambda: self._apply(write))
        self._written(write, now)
        return now

    def _apply(self, write: Write) -> Item:
        arguments = {"TableName": self._table, "ReturnValuesOnConditionCheckFailure": "ALL_OLD", **_arguments(write)}
        try:
            if write.item is not None:
                self._client.put_item(**arguments)
                return write.item
            if write.delete:
                self._client.delete_item(**arguments)
                return {}
            updated: Any = self._client.update_item(**arguments, ReturnValues="ALL_NEW")
            return from_wire(updated["Attributes"]) or {}
        except ClientError as error:
            response: Any = error.response
            if response["Error"]["Code"] == "ConditionalCheckFailedException":
                raise ConditionFailed(from_wire(response.get("Item"))) from None
            raise

    def transact(self, tenant: str, writes: Sequence[Write], token: str | None = None) -> None:
        """Apply up to 100 writes together, or none; under a ``token`` DynamoDB knows a resend for 10 minutes.

        Raises:
            TransactionRefused: with the failed conditions and the items as they were.
        """
        for write in writes:
            self._guard(tenant, write.key)
        self._writing(writes)
        items = [self._transaction_item(write) for write in writes]
        known: Any = {} if token is None else {"ClientRequestToken": token}
        self._send(partial(self._client.transact_write_items, TransactItems=items, **known))
        for write in writes:
            self._written(write, None)

    def _transaction_item(self, write: Write) -> Any:
        arguments = {"TableName": self._table, "ReturnValuesOnConditionCheckFailure": "ALL_OLD", **_arguments(write)}
        kind = "Put" if write.item is not None else "Delete" if write.delete else "Update"
        return {kind if write.expression or kind != "Update" else "ConditionCheck": arguments}

    def together(self, tenant: str, writes: Sequence[Write]) -> None:
        """All of these or none: a transaction, unless there is one alone, which needs none and costs half.

        Raises:
            TransactionRefused: as ``transact``.
        """
        if len(writes) > 1:
            self.transact(tenant, writes)
            return
        try:
            self.write(tenant, writes[0])
        except ConditionFailed as failed:
            raise TransactionRefused({0: failed.old}) from None

    def delete_many(self, tenant: str, keys: Sequence[Key]) -> None:
        """Delete items unconditionally: for partitions whose head already says that nothing may be added."""
        for key in keys:
            self._guard(tenant, key)
        deletes = [Write(key, "", delete=True) for key in keys]
        self._writing(deletes)
        for start in range(0, len(keys), MAX_BATCH_WRITE):
            some = deletes[start : start + MAX_BATCH_WRITE]
            requests: Any = [{"DeleteRequest": {"Key": to_wire(write.key.attributes)}} for write in some]
            for attempt in range(CONFLICT_TRIES):
                answer = self._send(partial(self._client.batch_write_item, RequestItems={self._table: requests}))
                requests = answer.get("UnprocessedItems", {}).get(self._table, [])
                if not requests:
                    break
                self.pause(attempt)
            else:
                raise Unavailable("the storage did not take all deletes in time; repeat the call")
            for write in some:
                self._written(write, None)

    def _send(self, call: Callable[[], T]) -> T:
        """Make a call, again where it met another transaction or got no answer.

        Conditions that failed beside a conflict are not yet the whole answer: asked again, all of them show.
        """
        conflicts = unanswered = 0
        while True:
            try:
                with translated():
                    return call()
            except Refused as refused:
                raise TransactionRefused(_read(refused.failed)) from None
            except Conflicting as conflict:
                conflicts += 1
                if conflicts == CONFLICT_TRIES:
                    if conflict.failed:
                        raise TransactionRefused(_read(conflict.failed)) from None
                    raise Unavailable("other calls keep changing the same items; repeat the call") from None
            except Unanswered as lost:
                unanswered += 1
                if unanswered == SENDS:
                    raise Unavailable("the storage did not answer; repeat the call") from lost
            self.pause(conflicts + unanswered - 1)

    def pause(self, attempt: int) -> None:
        """Rest before another try: longer each time, and spread, so that those who met do not meet again."""
        self._sleep(self._rng.uniform(0, min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)))

    @staticmethod
    def _guard(tenant: str, key: Key) -> None:
        # The credentials enforce this on AWS; here a slip must be loud, in every environment and under -O.
        only_for(tenant)
        if not key[0].startswith(f"{tenant}#"):
            raise PermissionError(f"a key outside the tenant {tenant}")


def _projected(names: Sequence[str]) -> dict[str, Any]:
    """Of an item these attributes alone; all where none is named."""
    if not names:
        return {}
    shown = ", ".join(f"#{name}" for name in names)
    return {"ProjectionExpression": shown, "ExpressionAttributeNames": {f"#{name}": name for name in names}}


def _arguments(write: Write) -> dict[str, Any]:
    text = f"{write.condition} {write.expression}"
    names = {f"#{name}": name for name in _NAME.findall(text)}
    used = set(_VALUE.findall(text))
    values = {name: value for name, value in write.values.items() if name in used}
    arguments: dict[str, Any] = {"ConditionExpression": write.condition, "ExpressionAttributeNames": names}
    if values:
        arguments["ExpressionAttributeValues"] = to_wire(values)
    if write.item is not None:
        arguments["Item"] = to_wire(write.item)
    else:
        arguments["Key"] = to_wire(write.key.attributes)
    if write.expression:
        arguments["UpdateExpression"] = write.expression
    return arguments


def _read(failed: Mapping[int, Any]) -> dict[int, Item | None]:
    return {place: from_wire(item) for place, item in failed.items()}
