"""Finds everything about a person in the main table: by the ``subject`` index, and by the partitions that are theirs.

The index is a hint that may lag and may name what is another's by now. So the partitions that it shows, and those that
the person's own names, are read themselves, strongly consistent; what stands among others' items is read once more by
its key. In each only what says itself that it is about the person is taken.

::

    roots      sessions and graphs, each partition whole; a graph's tasks first, so that nothing more is claimed
    episodes   P#<ref>
    others     what the index shows of lists, receipts, extractions, exports, records of calls
    own        U#<ref>, which names the sessions: last, so that a crash leaves the list
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from slate.adapters.dynamodb.calls import Calls, Item, Key
from slate.adapters.dynamodb.keys import (
    BESIDE_TURNS,
    END,
    META,
    SESSION,
    TASK,
    episodes_pk,
    head_key,
    partition_of,
    prefix,
    session_key,
    session_of_entry,
    session_pk,
    subject_attributes,
    subject_pk,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.subject_kinds import KINDS, ItemKind, kind_of
from slate.adapters.dynamodb.table import PK, SK, SUBJECT, SUBJECT_PK
from slate.domain.indexed import Kind, turn_id
from slate.ports.memory_index import Name

T = TypeVar("T")
AT_ONCE: Final = 100
_NAMES: Final = (PK, SK, SUBJECT_PK, "state", "ends_at")
_EVERYTHING: Final = ((" ", END),)
_TASKS_FIRST: Final = (prefix(TASK), (" ", "T"), ("T$", END))
"""A graph's partition in three ranges: ``$`` sorts right after ``#``."""
_SEPARATOR: Final = "\n"
"""No key holds one."""
_ROOTS: Final = frozenset("SG")
_HEADS: Final = frozenset({META, BESIDE_TURNS + "HEAD"})
_WHOLE: Final = frozenset("SGUP")
"""Letters of partitions that are read themselves."""
_INDEXED: Final = {
    letter: sorted(prefix(kind.sort) for kind in KINDS if kind.partition == letter and kind.index is not None)
    for letter in "SPU"
}
"""Where in each partition the memories stand."""


class Found(NamedTuple):
    """An item about the person."""

    key: Key
    kind: ItemKind
    state: str | None = None
    ends_at: int = 0
    """Of a root that is being deleted: until when it stands."""

    @property
    def is_root(self) -> bool:
        """Whether it is the head of a session or of a graph."""
        return self.kind.partition in _ROOTS and self.key.sk in _HEADS

    @property
    def name(self) -> Name | None:
        """What the index calls it, if it may know it."""
        kind = self.kind.index
        if kind is None:
            return None
        rest = self.key.sk.partition("#")[2]
        return Name(kind, turn_id(partition_of(self.key.pk).owner, int(rest)) if kind is Kind.TURN else rest)


class Batch(NamedTuple):
    """Some of what is about the person; perhaps nothing, so that a walk shows where it is."""

    position: str
    """From here on the walk may begin again; before it nothing is left that was not passed."""
    found: list[Found]


class SubjectWalk:
    """Walks."""

    def __init__(self, storage: Storage) -> None:
        self._calls = storage.calls

    def roots(self, tenant: str, ref: str) -> list[Key]:
        """The heads of the person's sessions and graphs, also of those whose head is gone, in the order of a walk."""
        found = listed_sessions(self._calls, tenant, ref)
        found.update(key.pk for key in self._indexed(tenant, ref) if _letter(key.pk) in _ROOTS)
        return [_head(tenant, pk) for pk in sorted(found)]

    def batches(self, tenant: str, ref: str, position: str = "") -> Iterator[Batch]:
        """Everything, each thing once, a hundred at most at once; from a position on."""
        phase, _, last = position.partition(" ")
        if phase in ("", "roots"):
            for head in self.roots(tenant, ref):
                if head.pk >= last:
                    yield from self._partition(tenant, ref, head.pk, head)
        if phase in ("", "roots", "episodes"):
            yield from self._partition(tenant, ref, episodes_pk(tenant, ref), None)
        if phase != "own":
            for keys in _in_batches(self._others(tenant, ref)):
                yield Batch("others", self._checked(tenant, ref, keys))
        yield from self._partition(tenant, ref, subject_pk(tenant, ref), None)

    def memories(self, tenant: str, ref: str, position: str = "") -> Iterator[Batch]:
        """What an index may know, strongly consistent, a batch at a time; each says where the one after it begins."""
        begun = Key(*position.split(_SEPARATOR)) if position else None
        sessions = [head.pk for head in self.roots(tenant, ref) if _letter(head.pk) == "S"]
        for pk in (*sessions, episodes_pk(tenant, ref), subject_pk(tenant, ref)):
            if begun is not None and _rank(pk) < _rank(begun.pk):
                continue
            after = begun.sk + " " if begun is not None and begun.pk == pk else ""
            for low, high in _INDEXED[_letter(pk)]:
                if after <= high:
                    items = self._calls.query(tenant, pk, between=(max(low, after), high), names=_NAMES)
                    for some in _in_batches(items):
                        yield Batch(_SEPARATOR.join((pk, some[-1][SK])), _found(some))

    # ---- how

    def _indexed(self, tenant: str, ref: str) -> Iterator[Key]:
        about = str(subject_attributes(tenant, ref)[SUBJECT_PK])
        for item in self._calls.walk_index(SUBJECT, (SUBJECT_PK, about), (PK, ">", f"{tenant}#")):
            yield Key(item[PK], item[SK])

    def _others(self, tenant: str, ref: str) -> Iterator[Key]:
        keys = (key for key in self._indexed(tenant, ref) if _letter(key.pk) not in _WHOLE)
        return (key for key in keys if kind_of(key).kept is None)

    def _partition(self, tenant: str, ref: str, pk: str, head: Key | None) -> Iterator[Batch]:
        """A partition: all of one that is named after the person; of a session's or a graph's what is about them."""
        position = _position(pk)
        yield Batch(position, [])
        theirs = None if head is None else self._tells(tenant, ref, head)
        for between in _TASKS_FIRST if _letter(pk) == "G" else _EVERYTHING:
            for some in _in_batches(self._calls.query(tenant, pk, between=between, names=_NAMES)):
                yield Batch(position, _found(some if theirs is None else filter(theirs, some)))

    def _tells(self, tenant: str, ref: str, head: Key) -> Callable[[Item], bool]:
        """What tells the person's items of a partition; an item that says nothing of anybody is whose the head is."""
        about = subject_attributes(tenant, ref)[SUBJECT_PK]
        item = self._calls.get_many(tenant, [head], _NAMES).get(head)
        silent = about if item is not None and item.get(SUBJECT_PK) == about else None
        return lambda each: each.get(SUBJECT_PK, silent) == about

    def _checked(self, tenant: str, ref: str, keys: list[Key]) -> list[Found]:
        about = subject_attributes(tenant, ref)[SUBJECT_PK]
        items = self._calls.get_many(tenant, keys, _NAMES).values()
        return _found(item for item in items if item.get(SUBJECT_PK) == about)


def _in_batches(things: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(things)
    while some := list(islice(rest, AT_ONCE)):
        yield some


def listed_sessions(calls: Calls, tenant: str, ref: str) -> set[str]:
    """The partitions of the sessions that the person's own list has, strongly consistent."""
    entries = calls.query(tenant, subject_pk(tenant, ref), between=prefix(SESSION), names=(SK,))
    return {session_pk(tenant, session_of_entry(entry[SK])) for entry in entries}


def _letter(pk: str) -> str:
    return partition_of(pk).letter


def _head(tenant: str, pk: str) -> Key:
    _, letter, owner = partition_of(pk)
    return session_key(tenant, owner) if letter == "S" else head_key(tenant, owner)


def _rank(pk: str) -> tuple[int, str]:
    """The order of partitions of memories."""
    return "SPU".index(_letter(pk)), pk


def _position(pk: str) -> str:
    return {"U": "own", "P": "episodes"}.get(_letter(pk), f"roots {pk}")


def _found(items: Iterable[Item]) -> list[Found]:
    found = (_one(Key(item[PK], item[SK]), item) for item in items)
    return [each for each in found if each.kind.kept is None]


def _one(key: Key, item: Item) -> Found:
    return Found(key, kind_of(key), item.get("state"), int(item.get("ends_at", 0)))
