"""AWS in this process: moto, made to answer as AWS does when callers race and when a call fails halfway.

Stock moto is not safe to share between threads, copies whole tables for a transaction, and sorts whole tables for a
query. While an engine runs, calls are served one at a time, a query reads from a sorted index what it returns and no
more, and a failed write is undone from a log of what it touched. Where moto's answers differ from AWS's, AWS's win:

- a page that reaches its Limit carries LastEvaluatedKey, also when nothing follows;
- a failed update leaves nothing, not even the key of the item it would have created;
- an upsert is one INSERT in the stream, a write that changes nothing leaves no record, nor does a cancelled
  transaction, and binary values in images are encoded once;
- a key of an index has the type that the table declares, or the write is refused;
- records and iterators that a stream no longer keeps are refused by name (AWS drops them by age, this by number).

Memory grows with what is stored, not with what was asked: moto's register of every item ever made is off, and a
stream keeps its last records.
"""

from __future__ import annotations

import base64
import copy
import threading
from bisect import bisect_left, bisect_right, insort
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial, wraps
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self

    import boto3
    from moto.dynamodb.models import DynamoDBBackend
    from moto.dynamodb.models.dynamo_type import DynamoType, Item
    from moto.dynamodb.models.table import StreamShard, Table

MOTO: Final = "5.2.5"
PAGE_BYTES: Final = 1_000_000
STREAM_RECORDS: Final = 20_000
STREAM_ITERATORS: Final = 1_000

_Key = tuple["DynamoType", "DynamoType | None"]
_Place = tuple[Any, tuple[Any, ...]]


class MotoEngine:
    """Every call of its clients happens alone, and wholly or not at all; none reaches the network.

    Start and stop nest: what the first start changed in moto, the last stop puts back exactly, and the data go with
    it. Engines that run at the same time in one process share one AWS account, as moto does. Neither the environment
    nor ``~/.aws`` is read or changed. A client made here refuses calls while its engine is stopped.

    Raises RuntimeError on start when moto is not exactly the version whose methods are replaced.
    """

    def __init__(self, *, region: str = "us-east-1") -> None:
        self._region = region
        self._starts = 0
        self._session: boto3.Session | None = None

    def start(self) -> Self:
        """Serve AWS in this process from here on."""
        with _PROCESS.guard:
            _PROCESS.enter()
            self._starts += 1
            self._session = self._session or _session(self._region)
        return self

    def stop(self) -> None:
        """Undo one start; on a stopped engine, do nothing."""
        with _PROCESS.guard:
            if self._starts:
                self._starts -= 1
                _PROCESS.leave()

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.stop()

    def client(self, service: str) -> Any:
        """A boto3 client of `service` (dynamodb, dynamodbstreams, s3, ...), safe to share between threads."""
        from botocore.config import Config

        self._require_running()
        config = Config(  # type: ignore[call-arg]  # the stubs lack ignore_configured_endpoint_urls
            account_id_endpoint_mode="disabled",  # moto does not know the streams' endpoint of an account
            ignore_configured_endpoint_urls=True,
            retries={"total_max_attempts": 1},  # what fails here is a fault; a retry would hide it
        )
        with _PROCESS.guard:  # boto3 sessions are not thread-safe
            assert self._session is not None  # noqa: S101  # a started engine has one
            client = self._session.client(service, config=config)  # type: ignore[call-overload]
        client.meta.events.register_first("before-send", self._require_running)
        return client

    def _require_running(self, **_: object) -> None:
        if not self._starts:
            raise RuntimeError("The engine is stopped: start it before making or using its clients.")


def _session(region: str) -> boto3.Session:
    """A session that no environment variable and no file can point at a real account."""
    import boto3
    import botocore.session

    nowhere = (None, None, None, None)
    core = botocore.session.Session(
        session_vars={"profile": nowhere, "config_file": nowhere, "credentials_file": nowhere}
    )
    return boto3.Session(
        aws_access_key_id="local", aws_secret_access_key="local", region_name=region, botocore_session=core
    )


class _Process:
    """What the engines of a process share: moto's methods exist once, so their replacement does too."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self._running = 0
        self._undo = ExitStack()

    def enter(self) -> None:
        if not self._running:
            self._undo = _install()
        self._running += 1

    def leave(self) -> None:
        self._running -= 1
        if not self._running:
            self._undo.close()


_PROCESS: Final = _Process()


def _install() -> ExitStack:
    """Start moto and replace its methods; closing the stack puts everything back."""
    # Here and not at the top: importing moto takes a third of a second, and a Lambda bundle does not carry it.
    import moto
    from moto.core.botocore_stubber import BotocoreStubber
    from moto.core.common_models import BaseModel
    from moto.core.models import MockAWS
    from moto.core.serialize import BaseJSONSerializer
    from moto.dynamodb.models import DynamoDBBackend
    from moto.dynamodb.models.table import StreamShard, Table
    from moto.dynamodbstreams.models import DynamoDBStreamsBackend

    if moto.__version__ != MOTO:
        raise RuntimeError(f"The local engine replaces methods of moto {MOTO}; installed is {moto.__version__}.")
    tables = _Tables()
    replacements: tuple[tuple[type, str, Callable[..., Any]], ...] = (
        (BotocoreStubber, "process_request", _one_at_a_time()),
        (BaseModel, "__new__", _unregistered),
        (BaseJSONSerializer, "_serialize_type_structure", _attribute_value),
        (StreamShard, "add", _record),
        (StreamShard, "get", _records),
        (DynamoDBStreamsBackend, "get_records", _iterate),
        (Table, "get_item", tables.get_item),
        (Table, "put_item", tables.put_item),
        (Table, "delete_item", tables.delete_item),
        (Table, "query", tables.query),
        (Table, "scan", _scan),
        (DynamoDBBackend, "update_item", tables.update_item),
        (DynamoDBBackend, "transact_write_items", tables.transact_write_items),
    )
    with ExitStack() as undo:
        # moto's own fake credentials would go through os.environ; the session above carries them instead.
        mock = MockAWS({"core": {"mock_credentials": False, "reset_boto3_session": False}})
        mock.start()
        undo.callback(mock._user_config_mock.stop)  # noqa: SLF001  # moto forgets it inside another mock_aws
        undo.callback(mock.stop)
        for owner, name, replacement in replacements:
            _replace(undo, owner, name, replacement)
        return undo.pop_all()


def _replace(undo: ExitStack, owner: type, name: str, replacement: Callable[..., Any]) -> None:
    """Call `replacement` with the original method before the method's own arguments."""
    original = getattr(owner, name)

    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    if name in vars(owner):
        undo.callback(setattr, owner, name, vars(owner)[name])
    else:
        undo.callback(delattr, owner, name)
    setattr(owner, name, method)


def _one_at_a_time() -> Callable[..., Any]:
    lock = threading.RLock()

    def process_request(original: Callable[..., Any], *args: Any) -> Any:
        with lock:
            return original(*args)

    return process_request


def _unregistered(original: Callable[..., Any], cls: type, *args: Any, **kwargs: Any) -> Any:
    """Make a DynamoDB model without adding it to moto's register, which never forgets one."""
    if cls.__module__.startswith("moto.dynamodb"):
        return object.__new__(cls)
    return original(cls, *args, **kwargs)


_TAGS: Final = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL"})


def _attribute_value(
    original: Callable[..., Any], serializer: object, serialized: dict[str, Any], value: Any, shape: Any, key: str
) -> None:
    """Serialize an AttributeValue by its tag; moto probes it for each of the ten."""
    if shape.name == "AttributeValue" and key and isinstance(value, dict) and len(value) == 1 and value.keys() <= _TAGS:
        serialized[key] = _wire(value)
    else:
        original(serializer, serialized, value, shape, key)


def _wire(value: Mapping[str, Any]) -> dict[str, Any]:
    ((tag, content),) = value.items()
    match tag:
        case "M":
            content = {name: _wire(member) for name, member in content.items()}
        case "L":
            content = [_wire(member) for member in content]
        case "B":
            content = _base64(content)
        case "BS":
            content = [_base64(member) for member in content]
    return {tag: content}


def _base64(content: bytes | str) -> str:
    # What moto kept as it came over the wire is text, and encoded already.
    return content if isinstance(content, str) else base64.b64encode(content).decode()


def _next_number(shard: StreamShard) -> int:
    return shard.starting_sequence_number + len(shard.items)


def _record(original: Callable[..., Any], shard: StreamShard, old: Item | None, new: Item | None) -> None:
    """Record a change, if it is one, and keep the stream bounded."""
    if old is not None and new is not None and old.attrs == new.attrs:
        return
    original(shard, old, new)
    if len(shard.items) > STREAM_RECORDS:
        dropped = STREAM_RECORDS // 2
        shard.starting_sequence_number += dropped
        del shard.items[:dropped]


def _records(original: Callable[..., Any], shard: StreamShard, start: int, quantity: int) -> Any:
    from moto.core.exceptions import JsonRESTError

    if start < shard.starting_sequence_number:
        raise JsonRESTError("TrimmedDataAccessException", "The records at this iterator are no longer kept.")
    return original(shard, start, quantity)


def _iterate(original: Callable[..., Any], backend: Any, iterator_arn: str, limit: int) -> Any:
    from moto.core.exceptions import JsonRESTError

    iterators = backend.shard_iterators
    if iterator_arn not in iterators:
        raise JsonRESTError("ExpiredIteratorException", "The iterator is no longer kept.")
    page = original(backend, iterator_arn, limit)
    while len(iterators) > STREAM_ITERATORS:
        del iterators[next(iter(iterators))]
    return page


def _scan(original: Callable[..., Any], table: Table, *args: Any, **kwargs: Any) -> Any:
    """Let a full page that ends the table carry LastEvaluatedKey too."""
    items, scanned, last = original(table, *args, **kwargs)
    filters, limit, start_key, _, index_name, consistent, *_ = args
    if last is None and scanned and scanned == limit and not filters:
        whole, _, _ = original(table, filters, limit, start_key, None, index_name, consistent, None, **kwargs)
        last = table._get_last_evaluated_key(whole[-1], index_name)  # noqa: SLF001
    return items, scanned, last


class _Query(NamedTuple):
    """The arguments of moto's Table.query that a page is made from, in its order."""

    hash_key: DynamoType | None
    comparison: str | None
    values: list[DynamoType]
    limit: int | None
    start_key: Mapping[str, Any] | None
    forward: bool
    projection: list[list[str]] | None
    index_name: str | None = None
    consistent: bool = False
    filter: Any = None


@dataclass(frozen=True, slots=True)
class _Schema:
    """The keys of a table or of one of its indexes: what parts its items, and what sorts a part."""

    hash: str
    range: str | None
    order: tuple[str, ...]
    """What sorts a partition: the sort key, then the table's keys, which make a place unique."""
    types: Mapping[str, str]

    @classmethod
    def of(cls, table: Table, schema: Iterable[Mapping[str, str]]) -> _Schema | None:
        """None for keys that are binary or made of several attributes: moto's own code serves those."""
        types = {a["AttributeName"]: a["AttributeType"] for a in table.attr}
        hashes = [k["AttributeName"] for k in schema if k["KeyType"] == "HASH"]
        ranges = [k["AttributeName"] for k in schema if k["KeyType"] == "RANGE"]
        sort_key = ranges[0] if ranges else None
        order = tuple(dict.fromkeys(n for n in (sort_key or table.range_key_attr, *table.table_key_attrs) if n))
        if len(hashes) != 1 or len(ranges) > 1 or any(types.get(n) not in ("S", "N") for n in (*hashes, *order)):
            return None
        return cls(hashes[0], sort_key, order, types)

    def place(self, attributes: Mapping[str, DynamoType]) -> _Place | None:
        """Where an item stands; None for one that lacks a key, or has one of another type: it is not here."""
        values: list[Any] = []
        for name in (self.hash, *self.order):
            value = attributes.get(name)
            if value is None or value.type != self.types[name]:
                return None
            values.append(value.cast_value)
        return values[0], tuple(values[1:])

    def takes(self, query: _Query) -> bool:
        """Whether a query compares values of the declared types; moto answers the others, mostly with an error."""
        if query.hash_key is None or query.hash_key.type != self.types[self.hash]:
            return False
        return not query.comparison or (
            self.range is not None and all(value.type == self.types[self.range] for value in query.values)
        )


@dataclass(frozen=True, slots=True)
class _Partition:
    """Items under one hash key, and their orders, sorted."""

    orders: list[tuple[Any, ...]] = field(default_factory=list)
    items: dict[tuple[Any, ...], Item] = field(default_factory=dict)

    def put(self, order: tuple[Any, ...], item: Item) -> None:
        if order not in self.items:
            insort(self.orders, order)
        self.items[order] = item

    def remove(self, order: tuple[Any, ...]) -> None:
        del self.orders[bisect_left(self.orders, order)]
        del self.items[order]

    def page(self, query: _Query, after: tuple[Any, ...] | None) -> tuple[list[Item], Item | None] | None:
        """What a query reads, and the item it stopped at; None for a comparison that is not known here."""
        span = self._span(query.comparison, [value.cast_value for value in query.values])
        if span is None:
            return None
        low, high = span
        if after is not None and query.forward:
            low = max(low, bisect_right(self.orders, after))
        elif after is not None:
            high = min(high, bisect_left(self.orders, after))
        found: list[Item] = []
        size = 0
        for at in range(low, high) if query.forward else range(high - 1, low - 1, -1):
            item = self.items[self.orders[at]]
            size += item.size()
            if size > PAGE_BYTES:
                return found, found[-1]
            found.append(item)
            if len(found) == query.limit:
                return found, item
        return found, None

    def _span(self, comparison: str | None, values: list[Any]) -> tuple[int, int] | None:
        value = values[0] if values else None
        start, end = partial(bisect_left, self.orders, key=_sort_key), partial(bisect_right, self.orders, key=_sort_key)
        match comparison and comparison.upper():
            case None:
                return 0, len(self.orders)
            case "=":
                return start(value), end(value)
            case "<":
                return 0, start(value)
            case "<=":
                return 0, end(value)
            case ">":
                return end(value), len(self.orders)
            case ">=":
                return start(value), len(self.orders)
            case "BETWEEN":
                return start(value), end(values[1])
            case "BEGINS_WITH" if isinstance(value, str):
                first = start(value)
                return first, bisect_left(self.orders, True, first, key=lambda o: not o[0].startswith(value))
        return None


_sort_key = itemgetter(0)


class _Index:
    """The items of one table in the order of each of its key schemas."""

    def __init__(self, table: Table) -> None:
        self.signature = _signature(table)
        schemas = {name: _Schema.of(table, schema) for name, schema in self.signature}
        self.schemas: dict[str | None, _Schema] = {n: s for n, s in schemas.items() if s}
        self._partitions: dict[tuple[str | None, Any], _Partition] = {}
        self._known: dict[_Key, tuple[Item, dict[str | None, _Place]]] = {}
        for item in table.all_items():
            self.put(item)

    def put(self, item: Item) -> Item | None:
        """Put an item where it now belongs; what stood under its key before, or None."""
        key = (item.hash_key, item.range_key)
        previous, old = self._known.get(key, (None, {}))
        new = {name: place for name, s in self.schemas.items() if (place := s.place(item.attrs))}
        self._leave({name: place for name, place in old.items() if new.get(name) != place})
        for name, (part, order) in new.items():
            self._partitions.setdefault((name, part), _Partition()).put(order, item)
        self._known[key] = item, new
        return previous

    def remove(self, key: _Key) -> None:
        """Forget what stands under a key."""
        _, places = self._known.pop(key, (None, {}))
        self._leave(places)

    def partition(self, name: str | None, hash_key: Any) -> _Partition:
        """The items of one hash key in the table (None) or in an index; empty where there are none."""
        return self._partitions.get((name, hash_key)) or _Partition()

    def _leave(self, places: Mapping[str | None, _Place]) -> None:
        for name, (part, order) in places.items():
            partition = self._partitions[name, part]
            partition.remove(order)
            if not partition.orders:
                del self._partitions[name, part]


def _signature(table: Table) -> list[tuple[str | None, list[dict[str, Any]]]]:
    """What an index is built from: it is built again when the table's indexes change."""
    return [(None, table.schema), *((index.name, index.schema) for index in table.all_indexes())]


class _Tables:
    """Moto's tables, with an index beside each and a log of what the running transaction replaced."""

    def __init__(self) -> None:
        self._indexes: WeakKeyDictionary[Table, _Index] = WeakKeyDictionary()
        self._log: list[tuple[Table, _Key, Item | None]] | None = None

    def get_item(self, original: Callable[..., Any], table: Table, hash_key: DynamoType, *args: Any) -> Any:
        item = original(table, hash_key, *args)
        if item is None:
            _drop_empty(table, hash_key)
        return item

    def put_item(self, original: Callable[..., Any], table: Table, attributes: Any, *args: Any) -> Item:
        _check_index_keys(table, {name: next(iter(value)) for name, value in attributes.items()})
        index = self._index(table)
        item: Item = original(table, attributes, *args)
        self._remember(table, (item.hash_key, item.range_key), index.put(item))
        return item

    def delete_item(self, original: Callable[..., Any], table: Table, *key: Any) -> Item | None:
        index = self._index(table)
        item: Item | None = original(table, *key)
        _drop_empty(table, key[0])
        if item is not None:
            index.remove((item.hash_key, item.range_key))
            self._remember(table, (item.hash_key, item.range_key), item)
        return item

    def update_item(
        self,
        original: Callable[..., Any],
        backend: DynamoDBBackend,
        table_name: str,
        key: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Item:
        """All or nothing; moto changes the item in place, and records the bare key of a new one first."""
        table = backend.get_table(table_name)
        keys = backend.get_keys_value(table, key)
        before = copy.deepcopy(table.get_item(*keys))
        shard, table.stream_shard = table.stream_shard, None
        try:
            item: Item = original(backend, table_name, key, *args, **kwargs)
            _check_index_keys(table, {name: value.type for name, value in item.attrs.items()})
        except BaseException:
            self._restore(table, keys, before)
            raise
        finally:
            table.stream_shard = shard
        self._index(table).put(item)
        self._remember(table, keys, before)
        if shard is not None:
            shard.add(before, item)
        return item

    def transact_write_items(self, original: Callable[..., Any], backend: DynamoDBBackend, transact_items: Any) -> None:
        """Undo what was written when any part fails; moto would put back copies of whole tables, made beforehand."""
        tables = list(backend.tables.values())
        streams = [(t.stream_shard, _next_number(t.stream_shard)) for t in tables if t.stream_shard]
        self._log = []
        for table in tables:
            vars(table)["__deepcopy__"] = lambda _, table=table: table
        try:
            original(backend, transact_items)
        except BaseException:
            for change in reversed(self._log):
                self._restore(*change)
            for shard, number in streams:
                del shard.items[max(0, number - shard.starting_sequence_number) :]
            raise
        finally:
            self._log = None
            for table in tables:
                del vars(table)["__deepcopy__"]

    def query(self, original: Callable[..., Any], table: Table, *args: Any, **more: Any) -> Any:
        """Read a page from the index; moto answers what the index cannot."""
        plain = more.keys() <= {"hash_key_conditions", "range_key_conditions"}
        page = self._page(table, _Query(*args)) if plain else None
        return page or original(table, *args, **more)

    def _page(self, table: Table, query: _Query) -> tuple[list[Item], int, dict[str, Any] | None] | None:
        from moto.dynamodb.models.dynamo_type import DynamoType

        index = self._index(table)
        schema = index.schemas.get(query.index_name)
        if schema is None or query.hash_key is None or not schema.takes(query) or (query.consistent and _is_global(table, query.index_name)):
            return None
        part, after = query.hash_key.cast_value, None
        if query.start_key is not None:
            place = schema.place({name: DynamoType(value) for name, value in query.start_key.items()})
            if place is None or place[0] != part:
                return None
            after = place[1]
        page = index.partition(query.index_name, part).page(query, after)
        if page is None:
            return None
        found, last = page
        scanned = len(found)
        last_key = table._get_last_evaluated_key(last, query.index_name) if last else None  # noqa: SLF001
        if query.index_name:
            found = [table.get_index(query.index_name).project(item) for item in found]
        if query.filter is not None:
            found = [item for item in found if query.filter.expr(item)]
        if query.projection:
            found = [item.project(query.projection) for item in found]
        return found, scanned, last_key

    def _index(self, table: Table) -> _Index:
        index = self._indexes.get(table)
        if index is None or index.signature != _signature(table):
            index = self._indexes[table] = _Index(table)
        return index

    def _remember(self, table: Table, key: _Key, before: Item | None) -> None:
        if self._log is not None:
            self._log.append((table, key, before))

    def _restore(self, table: Table, key: _Key, before: Item | None) -> None:
        items: Any = table.items if key[1] is None else table.items[key[0]]
        own = key[0] if key[1] is None else key[1]
        if before is None:
            items.pop(own, None)
            self._index(table).remove(key)
            _drop_empty(table, key[0])
        else:
            items[own] = before
            self._index(table).put(before)


def _is_global(table: Table, index_name: str | None) -> bool:
    return any(index.name == index_name for index in table.global_indexes)


def _drop_empty(table: Table, hash_key: DynamoType) -> None:
    """Moto leaves an empty partition behind each key that is asked for and not there."""
    if table.range_key_attr and hash_key in table.items and not table.items[hash_key]:
        del table.items[hash_key]


def _check_index_keys(table: Table, tags: Mapping[str, str]) -> None:
    """Refuse a key of an index that has another type than the table declares."""
    from moto.dynamodb.exceptions import MockValidationException

    types = {a["AttributeName"]: a["AttributeType"] for a in table.attr}
    for index in table.all_indexes():
        for name in index.schema_key_attrs:
            if tags.get(name, types.get(name)) != types.get(name):
                raise MockValidationException(
                    f"One or more parameter values were invalid: Type mismatch for Index Key {name} "
                    f"Expected: {types[name]} Actual: {tags[name]} IndexName: {index.name}"
                )
