"""Tells the deed under way of each change of memory: before it is made, and once it is.

It stands where every write passes, so that no store can leave one out. What is memory the table of kinds says. Copies,
counters, notes of use, and updates that make no new version change nothing that anybody was told, and are not noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import Item, Key, Write
from slate.adapters.dynamodb.export_lines import ExportLines
from slate.adapters.dynamodb.keys import NOBODY, partition_of, ref_of
from slate.adapters.dynamodb.session_items import is_large
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.subject_kinds import kind_of
from slate.domain.audit.deeds import deed_under_way
from slate.domain.audit.entries import Touched, said
from slate.domain.errors import WITHHELD
from slate.ports.audit import About

_OF_TASKS: Final = frozenset({"G", "W", "I", "L"})
_UNNOTED: Final = frozenset({"queries", "context", "api_key", "earlier_fact"})
"""Lines that are no memory: what was asked, what was served (its own entry says so), who may call, copies."""
_BY_STORE: Final[Mapping[str, str]] = {
    "documents": "document",
    "exports": "export",
    "erasures": "erasure",
    "holds": "hold",
}
"""What has no line of an export, and is noted all the same: by its head."""
_PARTS: Final = ("PART#", "WRITING#", "PAGE#")
_ELSEWHERE: Final = frozenset({"extraction", "material"})
"""What its line reads once more."""
_NAMED_AFTER: Final = frozenset({"U", "P"})
"""Letters of partitions that are named after a person."""


class Change(NamedTuple):
    """What was done to an item of memory."""

    key: Key
    name: str
    item: Item | None
    """After it, as far as that is known; none of one that is gone."""
    gone: bool


def audited(key: Key) -> str | None:
    """What an item is called in the audit; nothing where it is not noted."""
    if partition_of(key.pk).letter in _OF_TASKS:
        return None
    kind = kind_of(key)
    if key.sk.startswith(_PARTS):
        return None
    name = kind.export or _BY_STORE.get(kind.store)
    return None if name in _UNNOTED else name


def before(writes: Sequence[Write]) -> None:
    """Told of writes that are about to be sent.

    Raises:
        Unavailable: their deed could not be noted; they are not to be sent.
    """
    deed = deed_under_way()
    if deed is None or deed.begun:
        return
    for write in writes:
        if _changes(write) and audited(write.key) is not None:
            deed.changing(next((ref for each in writes if (ref := ref_of(each.item or {})) is not None), None))
            return


def after(write: Write, now: Item | None) -> None:
    """Told of a write that was applied, and of the item after it where that is known."""
    deed = deed_under_way()
    if deed is None or not _changes(write):
        return
    name = audited(write.key)
    if name is not None:
        deed.changed(Change(write.key, name, write.item or now or None, write.delete))


def _changes(write: Write) -> bool:
    """Whether it makes another version of an item, or removes one; a check does neither."""
    return write.item is not None or write.delete or "#version" in write.expression


class AuditedItems:
    """Names what was changed, and digests what it says by now."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lines = ExportLines(storage).kinds

    def told(self, tenant: str, changes: Sequence[Change]) -> list[About]:
        """By whom the changes are about; of several changes of an item the last that left it there."""
        last: dict[tuple[str | None, str, str], Touched] = {}
        for change in changes:
            touched, ref = self._touched(tenant, change)
            place = (ref, touched.kind, touched.id)
            if not (touched.gone and place in last):
                last[place] = touched
        by_ref: dict[str | None, list[Touched]] = {}
        for (ref, _, _), touched in last.items():
            by_ref.setdefault(ref, []).append(touched)
        return [About(ref, items) for ref, items in by_ref.items()]

    def _touched(self, tenant: str, change: Change) -> tuple[Touched, str | None]:
        key, name, item = change.key, change.name, change.item
        named = _id_of(key, name)
        if change.gone or item is None:
            return Touched(name, named, gone=change.gone), _whose(key)
        ref = ref_of(item)
        version = item.get("edition" if name == "segment" else "version")
        digest = self._digest(tenant, ref, name, named, item)
        return Touched(name, named, None if version is None else int(version), digest), ref

    def _digest(self, tenant: str, ref: str | None, name: str, named: str, item: Item) -> str | None:
        """Of what it says, where its item says all of it: nothing is read for it once more."""
        line = self._lines.get(name)
        if line is None or name in _ELSEWHERE or is_large(item) or contents.BLOB in item:
            return None
        with suppress(*WITHHELD):
            record = line(tenant, item)
            if record is not None:
                return self._storage.codec.digest(tenant, ref, [name, named, said(record.data)]).hex()
        return None


def _whose(key: Key) -> str | None:
    """Whom a partition is named after."""
    _, letter, owner = partition_of(key.pk)
    return owner if letter in _NAMED_AFTER and owner != NOBODY else None


def _id_of(key: Key, name: str) -> str:
    """What an item is called, as its line of an export is."""
    owner, rest = partition_of(key.pk).owner, key.sk.partition("#")[2]
    match name:
        case "turn":
            return f"{owner}/turns/{int(rest)}"
        case "value" | "earlier_value":
            return f"{owner}/values/{rest.partition('#')[0]}"
        case "segment":
            return f"{owner}/segments/to-{int(rest)}"
        case "system" | "pinned" | "summary" | "material":
            return f"{owner}/{name}"
        case "session" | "extraction" | "export":
            return owner
        case "consents":
            return name
        case _:
            return key.sk.rpartition("#")[2]
