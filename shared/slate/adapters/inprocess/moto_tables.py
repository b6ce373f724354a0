"""Moto's DynamoDB tables, read from sorted indexes and undone from a log.

Stock moto sorts a whole table to answer a query and copies it, stream and all, to be able to roll a transaction back.
Here an index stands beside each table, kept by every write, and a write tells what it replaced. Methods that stand in
for moto's take the original first. Calls come one at a time: the caller holds the lock.
"""

from __future__ import annotations

import copy
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from moto.dynamodb.models import DynamoDBBackend
    from moto.dynamodb.models.dynamo_type import DynamoType, Item
    from moto.dynamodb.models.table import StreamShard, Table

    Original = Callable[..., Any]
    Order = tuple[Any, ...]
    Place = tuple[Any, Order]
    Key = tuple[DynamoType, DynamoType | None]
    Page = tuple[list[Item], int, dict[str, Any] | None]

PAGE_BYTES: Final = 1_000_000
_SORT_KEY: Final = itemgetter(0)


class Query(NamedTuple):
    """The arguments of moto's Table.query that make a page, in moto's order."""

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
class KeySchema:
    """The keys of a table or of one of its indexes: what parts its items, and what sorts a part."""

    hash: str
    range: str | None
    order: tuple[str, ...]
    """The sort key, then the table's own keys, which make a place unique."""
    types: Mapping[str, str]

    @classmethod
    def of(cls, table: Table, schema: Iterable[Mapping[str, str]]) -> KeySchema | None:
        """None for keys that are binary or made of several attributes: moto's own code serves those."""
        types = {a["AttributeName"]: a["AttributeType"] for a in table.attr}
        hashes = [k["AttributeName"] for k in schema if k["KeyType"] == "HASH"]
        ranges = [k["AttributeName"] for k in schema if k["KeyType"] == "RANGE"]
        sort_key = ranges[0] if ranges else None
        order = tuple(dict.fromkeys(n for n in (sort_key or table.range_key_attr, *table.table_key_attrs) if n))
        if len(hashes) != 1 or len(ranges) > 1 or any(types.get(n) not in ("S", "N") for n in (*hashes, *order)):
            return None
        return cls(hashes[0], sort_key, order, types)

    def place(self, attributes: Mapping[str, DynamoType]) -> Place | None:
        """Where an item stands; None for one that lacks a key or has one of another type: it is not here."""
        values: list[Any] = []
        for name in (self.hash, *self.order):
            value = attributes.get(name)
            if value is None or value.type != self.types[name]:
                return None
            values.append(value.cast_value)
        return values[0], tuple(values[1:])

    def takes(self, query: Query) -> bool:
        """Whether a query compares keys of the declared types; moto answers the others, mostly with an error."""
        if query.hash_key is None or query.hash_key.type != self.types[self.hash]:
            return False
        if query.comparison is None:
            return True
        return self.range is not None and all(value.type == self.types[self.range] for value in query.values)


@dataclass(frozen=True, slots=True)
class Partition:
    """The items under one hash key, in order."""

    orders: list[Order] = field(default_factory=list)
    items: dict[Order, Item] = field(default_factory=dict)

    def put(self, order: Order, item: Item) -> None:
        """Put an item in its place."""
        if order not in self.items:
            insort(self.orders, order)
        self.items[order] = item

    def remove(self, order: Order) -> None:
        """Empty a place."""
        del self.orders[bisect_left(self.orders, order)]
        del self.items[order]

    def read(self, query: Query, after: Order | None) -> tuple[list[Item], Item | None] | None:
        """The items of a page, and the one that a next page would follow; None if the comparison is not known here."""
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
        """Where the orders begin and end whose sort key compares so."""
        if comparison is None:
            return 0, len(self.orders)
        value, orders = values[0], self.orders
        first = bisect_left(orders, value, key=_SORT_KEY)
        end = partial(bisect_right, orders, key=_SORT_KEY)
        match comparison.upper():
            case "=":
                span = first, end(value)
            case "<":
                span = 0, first
            case "<=":
                span = 0, end(value)
            case ">":
                span = end(value), len(orders)
            case ">=":
                span = first, len(orders)
            case "BETWEEN":
                span = first, end(values[1])
            case "BEGINS_WITH" if isinstance(value, str):
                span = first, bisect_left(orders, True, first, key=lambda order: not order[0].startswith(value))
            case _:
                return None
        return span


class TableIndex:
    """The items of one table in the order of its keys and of each of its indexes' keys."""

    def __init__(self, table: Table) -> None:
        self.made_for = _schemas(table)
        schemas = ((name, KeySchema.of(table, schema)) for name, schema in self.made_for)
        self.schemas: dict[str | None, KeySchema] = {name: schema for name, schema in schemas if schema}
        self._partitions: dict[tuple[str | None, Any], Partition] = {}
        self._known: dict[Key, tuple[Item, dict[str | None, Place]]] = {}
        for item in table.all_items():
            self.put(item)

    def fits(self, table: Table) -> bool:
        """False once the table's indexes have changed."""
        return self.made_for == _schemas(table)

    def put(self, item: Item) -> Item | None:
        """Put an item where it now belongs; returns what stood under its key, or None."""
        key = (item.hash_key, item.range_key)
        previous, old = self._known.get(key, (None, {}))
        new = {name: place for name, schema in self.schemas.items() if (place := schema.place(item.attrs))}
        self._leave({name: place for name, place in old.items() if new.get(name) != place})
        for name, (part, order) in new.items():
            self._partitions.setdefault((name, part), Partition()).put(order, item)
        self._known[key] = item, new
        return previous

    def remove(self, key: Key) -> None:
        """Forget what stands under a key, if anything does."""
        _, places = self._known.pop(key, (None, {}))
        self._leave(places)

    def partition(self, name: str | None, hash_key: Any) -> Partition:
        """The items under one hash key of the table (None) or of an index; empty where there are none."""
        return self._partitions.get((name, hash_key)) or Partition()

    def _leave(self, places: Mapping[str | None, Place]) -> None:
        for name, (part, order) in places.items():
            partition = self._partitions[name, part]
            partition.remove(order)
            if not partition.orders:
                del self._partitions[name, part]


def _schemas(table: Table) -> list[tuple[str | None, list[dict[str, Any]]]]:
    return [(None, table.schema), *((index.name, index.schema) for index in table.all_indexes())]


class IndexedTables:
    """Stand-ins for the methods of moto's tables: a query reads its page only, a failed write leaves nothing."""

    def __init__(self) -> None:
        self._indexes: WeakKeyDictionary[Table, TableIndex] = WeakKeyDictionary()
        self._log: list[tuple[Table, Key, Item | None]] | None = None
        """What the running transaction replaced; None outside of one."""

    def get_item(self, original: Original, table: Table, hash_key: DynamoType, *args: Any) -> Item | None:
        """Get an item; leave no empty partition behind where there is none."""
        item: Item | None = original(table, hash_key, *args)
        if item is None:
            _drop_empty(table, hash_key)
        return item

    def put_item(self, original: Original, table: Table, item_attrs: Mapping[str, Any], *args: Any) -> Item:
        """Put an item whose index keys have the declared types."""
        _require_key_types(table, {name: next(iter(value)) for name, value in item_attrs.items()})
        index = self._index(table)
        item: Item = original(table, item_attrs, *args)
        self._remember(table, (item.hash_key, item.range_key), index.put(item))
        return item

    def delete_item(self, original: Original, table: Table, *key: Any) -> Item | None:
        """Delete an item, if it is there."""
        index = self._index(table)
        item: Item | None = original(table, *key)
        _drop_empty(table, key[0])
        if item is not None:
            index.remove((item.hash_key, item.range_key))
            self._remember(table, (item.hash_key, item.range_key), item)
        return item

    def update_item(
        self,
        original: Original,
        backend: DynamoDBBackend,
        table_name: str,
        key: dict[str, Any],
        *args: Any,
        **kwargs: Any,
    ) -> Item:
        """Update an item wholly or not at all, as one record of the stream.

        Moto changes the item in place, and of a new one it first stores, and records, the bare key.
        """
        table = backend.get_table(table_name)
        keys = backend.get_keys_value(table, key)
        before = copy.deepcopy(table.get_item(*keys))
        shard, table.stream_shard = table.stream_shard, None
        try:
            item: Item = original(backend, table_name, key, *args, **kwargs)
            _require_key_types(table, {name: value.type for name, value in item.attrs.items()})
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

    def transact_write_items(self, original: Original, backend: DynamoDBBackend, transact_items: Any) -> None:
        """Write all parts or none, and record none of a transaction that was cancelled."""
        tables = list(backend.tables.values())
        streams = [(t.stream_shard, next_number(t.stream_shard)) for t in tables if t.stream_shard]
        self._log = []
        for table in tables:  # moto would put back copies of whole tables: it gets the tables themselves
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

    def query(self, original: Original, table: Table, *args: Any, **more: Any) -> Page:
        """Read a page from the index; moto answers what the index does not know."""
        known = more.keys() <= {"hash_key_conditions", "range_key_conditions"}
        page = self._page(table, Query(*args)) if known else None
        return page or original(table, *args, **more)

    def _page(self, table: Table, query: Query) -> Page | None:
        schema = self._index(table).schemas.get(query.index_name)
        if schema is None or query.hash_key is None or not schema.takes(query) or _impossible(table, query):
            return None
        part, after = query.hash_key.cast_value, None
        if query.start_key is not None:
            place = schema.place({name: type(query.hash_key)(value) for name, value in query.start_key.items()})
            if place is None or place[0] != part:
                return None
            after = place[1]
        page = self._index(table).partition(query.index_name, part).read(query, after)
        return page and _shape(table, query, *page)

    def _index(self, table: Table) -> TableIndex:
        index = self._indexes.get(table)
        if index is None or not index.fits(table):
            index = self._indexes[table] = TableIndex(table)
        return index

    def _remember(self, table: Table, key: Key, before: Item | None) -> None:
        if self._log is not None:
            self._log.append((table, key, before))

    def _restore(self, table: Table, key: Key, before: Item | None) -> None:
        hash_key, range_key = key
        items: Any = table.items if range_key is None else table.items[hash_key]
        if before is None:
            items.pop(range_key or hash_key, None)
            _drop_empty(table, hash_key)
            self._index(table).remove(key)
        else:
            items[range_key or hash_key] = before
            self._index(table).put(before)


def scan(original: Original, table: Table, *args: Any, **kwargs: Any) -> Page:
    """Let a full page that ends the table carry LastEvaluatedKey too."""
    items, scanned, last_key = original(table, *args, **kwargs)
    filters, limit, start_key, _, index_name, consistent, *_ = args
    if last_key is None and scanned and scanned == limit and not filters:
        whole, _, _ = original(table, filters, limit, start_key, None, index_name, consistent, None, **kwargs)
        last_key = table._get_last_evaluated_key(whole[-1], index_name)  # noqa: SLF001  # moto's own form
    return items, scanned, last_key


def project(original: Original, item: Item, expressions: list[list[str]]) -> Item:
    """Project an item from the attributes named; moto converts the whole item for each expression."""
    names = {name for path in expressions for name in (path[0], path[0].partition("[")[0])}
    narrow = copy.copy(item)
    # A plain dictionary: moto's own would measure the whole item at each name.
    vars(narrow)["attrs"] = {name: value for name, value in item.attrs.items() if name in names}
    projected: Item = original(narrow, expressions)
    return projected


def next_number(shard: StreamShard) -> int:
    """The sequence number of the record that comes next."""
    return shard.starting_sequence_number + len(shard.items)


def _shape(table: Table, query: Query, found: list[Item], last: Item | None) -> Page:
    """Of the items read, what the index holds, the filter passes, and the projection shows."""
    scanned = len(found)
    if query.index_name:
        index = table.get_index(query.index_name)
        found = [index.project(item) for item in found]
    if query.filter is not None:
        found = [item for item in found if query.filter.expr(item)]
    if query.projection:
        found = [item.project(query.projection) for item in found]
    last_key = table._get_last_evaluated_key(last, query.index_name) if last else None  # noqa: SLF001  # moto's own form
    return found, scanned, last_key


def _impossible(table: Table, query: Query) -> bool:
    """A consistent read of a global index: moto refuses it."""
    return query.consistent and any(index.name == query.index_name for index in table.global_indexes)


def _drop_empty(table: Table, hash_key: DynamoType) -> None:
    """Drop the empty partition that moto leaves behind each key that is asked for and not there."""
    if table.range_key_attr and hash_key in table.items and not table.items[hash_key]:
        del table.items[hash_key]


def _require_key_types(table: Table, types: Mapping[str, str]) -> None:
    """Refuse a key of an index that has another type than the table declares."""
    from moto.dynamodb.exceptions import MockValidationException

    declared = {a["AttributeName"]: a["AttributeType"] for a in table.attr}
    for index in table.all_indexes():
        for name in index.schema_key_attrs:
            if types.get(name, declared[name]) != declared[name]:
                raise MockValidationException(
                    f"One or more parameter values were invalid: Type mismatch for Index Key {name} "
                    f"Expected: {declared[name]} Actual: {types[name]} IndexName: {index.name}"
                )
