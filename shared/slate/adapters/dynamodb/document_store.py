"""Documents in DynamoDB: parts are written under a name of their own, then the head, in one step, turns to them.

So a reader sees all parts of one writing or all of another. Parts that no head names stand under a mark: it is made
before the first of them, goes in the step in which the head turns to them, and comes back in the step in which the
head turns away. Whatever a crash leaves is found by the marks, and removed by the next to write or delete the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import put
from slate.adapters.dynamodb.keys import (
    DOCUMENT,
    END,
    WRITING,
    document_key,
    list_pk,
    part_key,
    parts_prefix,
    prefix,
    writing_key,
)
from slate.adapters.dynamodb.storage import Storage
from slate.domain.documents import Document, Part
from slate.domain.errors import NotFound, Unavailable, VersionMismatch
from slate.ports.document_store import Kept
from slate.ports.graph_store import Page
from slate.ports.ids import Ids

_SAID: Final = "said"
_AS_SEEN: Final = "#generation = :seen AND #version = :version"
_TRIES: Final = 10
_PLAIN: Final = ("collection", "parts", "created_at", "updated_at", "version")


class DynamoDocumentStore:
    """Keeps documents in DynamoDB."""

    def __init__(self, storage: Storage, ids: Ids) -> None:
        self._storage = storage
        self._ids = ids

    def put(self, tenant: str, document: Document, parts: Sequence[Part], version: int | None) -> Document:
        """A mark, the parts side by side, then the head, if it is as it was seen; from the start where it is not."""
        for _ in range(_TRIES):
            before = self._head(tenant, document.document_id)
            if version is not None and (before is None or before.document.version != version):
                raise _mismatch(before, document.document_id)
            written = Kept(self._following(document, before), self._ids.new())
            with suppress(ConditionFailed):  # by this very call, whose reply was lost
                self._storage.calls.write(tenant, put(self._mark(tenant, written)))
            self._put_parts(tenant, written, parts)
            if self._turn(tenant, written, before):
                self.sweep(tenant, document.document_id)
                return written.document
            self._remove(tenant, self._mark(tenant, written))
        raise Unavailable("others keep writing this document; repeat the call")

    def get(self, tenant: str, document_id: str) -> Kept:
        """One read."""
        kept = self._head(tenant, document_id)
        if kept is None:
            raise NotFound(f"there is no document {document_id!r}")
        return kept

    def page(self, tenant: str, position: str | None, limit: int) -> Page[Kept]:
        """One query."""
        first, last = prefix(DOCUMENT)
        start = first if position is None else f"{DOCUMENT}{position}\0"
        items = self._storage.calls.query(tenant, list_pk(tenant, "documents"), between=(start, last))
        found = [self._kept(tenant, item) for item in islice(items, limit + 1)]
        more = len(found) > limit
        return Page(found[:limit], found[limit - 1].document.document_id if more else None)

    def parts(self, tenant: str, kept: Kept) -> list[Part]:
        """One query."""
        start = parts_prefix(kept.document.document_id, kept.generation)
        items = self._storage.calls.query(tenant, self._pk(tenant, kept), between=(start, start + END))
        return [self._part(tenant, item) for item in items]

    def some_parts(self, tenant: str, kept: Kept, numbers: Sequence[int]) -> list[Part]:
        """A batch of reads."""
        keys = [self._key(tenant, kept, number) for number in dict.fromkeys(numbers)]
        found = self._storage.calls.get_many(tenant, keys)
        return [self._part(tenant, found[key]) for key in keys if key in found]

    def delete(self, tenant: str, document_id: str, version: int | None) -> None:
        """The head first, so that it is not found any more; then all parts that there are."""
        kept = self.get(tenant, document_id)
        if version is not None and kept.document.version != version:
            raise _mismatch(kept, document_id)
        gone = Write(document_key(tenant, document_id), _AS_SEEN, _seen(kept), delete=True)
        try:
            self._storage.calls.transact(tenant, [gone, put(self._mark(tenant, kept, over=True))])
        except TransactionRefused as refused:
            there = refused.failed.get(0)
            if there is not None:
                raise _mismatch(self._kept(tenant, there), document_id) from None
        self.sweep(tenant, document_id)

    def sweep(self, tenant: str, document_id: str) -> None:
        """Remove the parts of every writing that is not the document; one that is under way begins again."""
        marks = prefix(f"{WRITING}{document_id}#")
        for item in list(self._storage.calls.query(tenant, list_pk(tenant, "documents"), between=marks)):
            key = Key(item["pk"], item["sk"])
            given_up = Write(key, "attribute_exists(#pk)", {":yes": True}, "SET #over = :yes")
            with suppress(ConditionFailed):  # it became the document meanwhile, or another swept it
                self._remove(tenant, self._storage.calls.write(tenant, given_up))

    # ---- writings

    @staticmethod
    def _mark(tenant: str, kept: Kept, *, over: bool = False) -> Item:
        """The mark of a writing; ``over`` where its parts are only to be removed."""
        key, place = writing_key(tenant, kept.document.document_id, kept.generation), kept.document
        return {**key.attributes, "collection": place.collection, "parts": place.parts, "over": over}

    def _turn(self, tenant: str, written: Kept, before: Kept | None) -> bool:
        """The head turns to a writing, unless it moved, or the writing was given up for one that a crash left."""
        mark = writing_key(tenant, written.document.document_id, written.generation)
        writes = [
            self._head_write(tenant, written.document, written.generation, before),
            Write(mark, "#over = :no", {":no": False}, delete=True),
        ]
        if before is not None:
            writes.append(put(self._mark(tenant, before, over=True)))
        try:
            self._storage.calls.transact(tenant, writes)
        except TransactionRefused as refused:
            there = refused.failed.get(0)
            return there is not None and there["generation"] == written.generation  # by this call: a reply was lost
        return True

    def _remove(self, tenant: str, mark: Item) -> None:
        """The parts, and then the mark, which nothing needs any more."""
        document_id, generation = str(mark["sk"]).removeprefix(WRITING).split("#")
        numbers = range(mark["parts"])
        parts = [part_key(tenant, mark["collection"], document_id, generation, number) for number in numbers]
        self._storage.calls.delete_many(tenant, parts)
        self._storage.calls.delete_many(tenant, [Key(mark["pk"], mark["sk"])])

    # ---- items

    @staticmethod
    def _following(document: Document, before: Kept | None) -> Document:
        if before is None:
            return document
        then = before.document
        return document.model_copy(update={"version": then.version + 1, "created_at": then.created_at})

    def _head_write(self, tenant: str, document: Document, generation: str, before: Kept | None) -> Write:
        key = document_key(tenant, document.document_id)
        said = {"title": document.title, "readers": list(document.readers)}
        item: Item = {
            **key.attributes,
            **{name: getattr(document, name) for name in _PLAIN},
            "generation": generation,
            _SAID: self._storage.codec.seal(tenant, None, key, _SAID, said),
        }
        if before is None:
            return put(item)
        return Write(key, _AS_SEEN, _seen(before), item=item)

    def _head(self, tenant: str, document_id: str) -> Kept | None:
        item = self._storage.calls.get(tenant, document_key(tenant, document_id))
        return None if item is None else self._kept(tenant, item)

    def _kept(self, tenant: str, item: Item) -> Kept:
        key = Key(item["pk"], item["sk"])
        said = self._storage.codec.open(tenant, None, key, _SAID, item[_SAID])
        plain = {name: item[name] for name in _PLAIN}
        document_id = str(item["sk"]).removeprefix(DOCUMENT)
        return Kept(Document.model_validate({**said, **plain, "document_id": document_id}), str(item["generation"]))

    def _put_parts(self, tenant: str, kept: Kept, parts: Sequence[Part]) -> None:
        self._storage.each(lambda part: self._put_part(tenant, kept, part), parts)

    def _put_part(self, tenant: str, kept: Kept, part: Part) -> None:
        key = self._key(tenant, kept, part.number)
        said = {"headings": list(part.headings), "text": part.text}
        sealed = self._storage.codec.seal(tenant, None, key, _SAID, said)
        try:
            self._storage.calls.write(tenant, put({**key.attributes, "number": part.number, _SAID: sealed}))
        except ConditionFailed:
            return  # by this very call, whose reply was lost: the writing's name is its own

    def _part(self, tenant: str, item: Item) -> Part:
        said: Any = self._storage.codec.open(tenant, None, Key(item["pk"], item["sk"]), _SAID, item[_SAID])
        return Part(item["number"], tuple(said["headings"]), said["text"])

    @staticmethod
    def _key(tenant: str, kept: Kept, number: int) -> Key:
        return part_key(tenant, kept.document.collection, kept.document.document_id, kept.generation, number)

    @staticmethod
    def _pk(tenant: str, kept: Kept) -> str:
        return part_key(tenant, kept.document.collection, kept.document.document_id, kept.generation, 0).pk


def _seen(kept: Kept) -> dict[str, Any]:
    return {":seen": kept.generation, ":version": kept.document.version}


def _mismatch(kept: Kept | None, document_id: str) -> VersionMismatch | NotFound:
    if kept is None:
        return NotFound(f"there is no document {document_id!r}")
    return VersionMismatch(kept.document.model_dump(mode="json"))
