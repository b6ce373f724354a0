"""What DynamoDB bills for reading and writing items, as AWS publishes it. Items are in wire form (``{"S": "text"}``).

Sizes: "DynamoDB item sizes and formats" of the developer guide (CapacityUnitCalculations). A name and a string count
their UTF-8 bytes, a binary its raw bytes, null and a boolean 1, a number 1 and 1 for every two significant digits
(AWS says "approximately"; a minus sign counts 1 more here), a list or map 3 and 1 for each element, a set its members.

Units: "DynamoDB read and write operations" (read-write-operations). A read counts 4 KB units, half as much where it
is eventually consistent; a write 1 KB units of the larger of the item before and after; what is not there counts as
one unit. Both double in a transaction ("Amazon DynamoDB transactions: how it works": two underlying operations for
each item), for a ConditionCheck too.

Indexes: "Using global secondary indexes" (GSI). An entry that comes, goes or changes is a write of its projected
size; one whose key changes is two, a delete and a put; one that stays the same is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Self

WireItem = Mapping[str, Any]

READ_BYTES: Final = 4_096
WRITE_BYTES: Final = 1_024


def item_bytes(item: WireItem) -> int:
    """The size of an item: its attributes' names and values."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: WireItem) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return _number_bytes(content)
        case "B":
            return len(content)
        case "BOOL" | "NULL":
            return 1
        case "SS" | "NS" | "BS":
            return sum(_value_bytes({kind[0]: member}) for member in content)
        case "L":
            return 3 + sum(1 + _value_bytes(element) for element in content)
        case "M":
            return 3 + item_bytes(content) + len(content)
    raise ValueError(f"DynamoDB has no type {kind!r}")


def _number_bytes(text: str) -> int:
    mantissa = text.lower().partition("e")[0]
    digits = mantissa.lstrip("+-").replace(".", "").strip("0")
    return 1 + ceil(len(digits) / 2) + mantissa.startswith("-")


def read_units(size: int, *, consistent: bool) -> float:
    """The units of reading so many bytes at once; nothing counts as one unit too."""
    units = max(1, ceil(size / READ_BYTES))
    return units if consistent else units / 2


def write_units(*items: WireItem | None) -> int:
    """The units of a write that met and left these items: the largest counts, and none as one unit."""
    size = max((item_bytes(item) for item in items if item is not None), default=0)
    return max(1, ceil(size / WRITE_BYTES))


@dataclass(frozen=True, slots=True)
class Index:
    """A global secondary index: its key, and the attributes it holds (None: all)."""

    key: tuple[str, ...]
    projected: frozenset[str] | None

    def entry(self, item: WireItem | None) -> WireItem | None:
        """What the index holds of an item; nothing of one that lacks a part of the index's key."""
        if item is None or any(name not in item for name in self.key):
            return None
        return {name: value for name, value in item.items() if self.projected is None or name in self.projected}

    def write_units(self, before: WireItem | None, after: WireItem | None) -> int:
        """The units of bringing the index from one image of an item to the next."""
        old, new = self.entry(before), self.entry(after)
        if old == new:
            return 0
        if old is None or new is None or all(old[name] == new[name] for name in self.key):
            return write_units(old, new)
        return write_units(old) + write_units(new)


@dataclass(frozen=True, slots=True)
class Shape:
    """A table's key and its indexes."""

    key: tuple[str, ...]
    indexes: tuple[Index, ...]

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Self:
        """From what DescribeTable says."""
        key = _names(description["KeySchema"])
        return cls(key, tuple(_index(key, index) for index in description.get("GlobalSecondaryIndexes", ())))

    def key_of(self, item: WireItem) -> dict[str, Any]:
        """The key of an item."""
        return {name: item[name] for name in self.key}

    def index_units(self, before: WireItem | None, after: WireItem | None) -> int:
        """The units of bringing every index from one image of an item to the next."""
        return sum(index.write_units(before, after) for index in self.indexes)


def _index(table_key: Iterable[str], description: Mapping[str, Any]) -> Index:
    key, projection = _names(description["KeySchema"]), description["Projection"]
    if projection["ProjectionType"] == "ALL":
        return Index(key, None)
    return Index(key, frozenset((*table_key, *key, *projection.get("NonKeyAttributes", ()))))


def _names(schema: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple(part["AttributeName"] for part in schema)
