"""How keys are built, and read back: nothing else in the project knows their form.

Ids never contain ``#``, so that a prefix that ends in one reaches exactly what it names.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple

from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.table import READY_PK, READY_SK, SUBJECT_PK, TIMER_PK, TIMER_SHARDS, TIMER_SK

META: Final = "META"
TASK: Final = "T#"
END: Final = "\U0010ffff"
"""Sorts after every character an id may have."""


def graph_pk(tenant: str, graph_id: str) -> str:
    """The partition of a graph."""
    return f"{tenant}#G#{graph_id}"


def list_pk(tenant: str, kind: str) -> str:
    """The partition of a list: graphs, keys."""
    return f"{tenant}#N#{kind}"


def head_key(tenant: str, graph_id: str) -> Key:
    """A graph's head."""
    return Key(graph_pk(tenant, graph_id), META)


def task_key(tenant: str, graph_id: str, task_id: str) -> Key:
    """A task."""
    return Key(graph_pk(tenant, graph_id), TASK + task_id)


def edge_key(tenant: str, graph_id: str, parent: str, child: str) -> Key:
    """The edge from a parent to a child."""
    return Key(graph_pk(tenant, graph_id), f"E#{parent}#{child}")


def input_key(tenant: str, graph_id: str, task_id: str) -> Key:
    """An input too large for its task's item."""
    return Key(graph_pk(tenant, graph_id), f"I#{task_id}")


def result_key(tenant: str, graph_id: str, task_id: str) -> Key:
    """A result too large for its task's item."""
    return Key(graph_pk(tenant, graph_id), f"R#{task_id}")


def graph_entry_key(tenant: str, created_at: int, graph_id: str) -> Key:
    """A graph's entry in the tenant's list, in the order of creation."""
    return Key(list_pk(tenant, "graphs"), f"{created_at}#{graph_id}")


def prefix(start: str) -> tuple[str, str]:
    """The range of all sort keys that start so; ``start`` ends in a delimiter."""
    return start, start + END


def subject_attributes(tenant: str, ref: str | None) -> Item:
    """Every item that holds data about a person carries this; erasing and exporting walk its index."""
    return {} if ref is None else {SUBJECT_PK: f"{tenant}#{ref}"}


def ref_of(item: Item) -> str | None:
    """The ref that an item is about and sealed under."""
    indexed = item.get(SUBJECT_PK)
    return None if indexed is None else str(indexed).rpartition("#")[2]


def _shard(text: str, shards: int) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest()) % shards


def timer_pk(kind: str, shard: int) -> str:
    """A partition of the timer index."""
    return f"{kind}#{shard:02d}"


def timer_attributes(key: Key, due: int, kind: str = "task") -> Item:
    """What puts an item into the timer index at an instant."""
    shard = _shard("#".join(key), TIMER_SHARDS)
    return {TIMER_PK: timer_pk(kind, shard), TIMER_SK: f"{due:015d}#{key[0]}#{key[1]}"}


class Place(NamedTuple):
    """Where a READY task stands in its queue."""

    queue: str
    role: str
    priority: int
    lease_seconds: int


def ready_pk(tenant: str, queue: str, role: str, shard: int) -> str:
    """A partition of the ready index."""
    return f"{tenant}#{queue}#{role}#{shard}"


def ready_attributes(tenant: str, place: Place, task_id: str, now: int, shards: int) -> Item:
    """What puts a task into the ready index: the urgent first, then who has waited longest.

    The lease stands at the end so that a claim can write the lease's end, and its timer entry, without a read.
    """
    shard = _shard(task_id, shards)
    return {
        READY_PK: ready_pk(tenant, place.queue, place.role, shard),
        READY_SK: f"{9 - place.priority}#{now:015d}#{task_id}#{place.lease_seconds}",
    }
