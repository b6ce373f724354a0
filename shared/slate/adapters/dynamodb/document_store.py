"""Documents in DynamoDB: parts are written under a name of their own, then the head, in one put, turns to them.

So a reader sees all parts of one writing or all of another. What a crash leaves of a writing whose head never turned
to it is named by nothing and served to nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.changes import put
from slate.adapters.dynamodb.keys import DOCUMENT, END, document_key, list_pk, part_key, parts_prefix, prefix
from slate.adapters.dynamodb.storage import Storage
from slate.domain.documents import Document, Part
from slate.domain.errors import NotFound, Unavailable, VersionMismatch
from slate.ports.document_store import Kept
from slate.ports.graph_store import Page
from slate.ports.ids import Ids

_SAID: Final = "said"
_TRIES: Final = 10
_PLAIN: Final = ("collection", "parts", "created_at", "updated_at", "version")


class DynamoDocumentStore:
    """Keeps documents in DynamoDB."""

    def __init__(self, storage: Storage, ids: Ids) -> None:
        self._storage = storage
        self._ids = ids

    def put(self, tenant: str, document: Document, parts: Sequence[Part], version: int | None) -> Document:
        """The parts, side by side; then the head, if it is as it was seen."""
        generation = self._ids.new()
        written = Kept(document, generation)
        self._storage.each(lambda part: self._put_part(tenant, written, part), parts)
        before = self._head(tenant, document.document_id)
        for _ in range(_TRIES):
            if version is not None and (before is None or before.document.version != version):
                self._drop_parts(tenant, written)
                raise _mismatch(before, document.document_id)
            kept = self._following(document, before)
            try:
                self._storage.calls.write(tenant, self._head_write(tenant, kept, generation, before))
            except ConditionFailed as failed:
                there = None if failed.old is None else self._kept(tenant, failed.old)
                if there is None or there.generation != generation:
                    before = there
                    continue
            if before is not None:
                self._drop_parts(tenant, before)
            return kept
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
        """The head first, so that it is not found any more; then its parts."""
        kept = self.get(tenant, document_id)
        if version is not None and kept.document.version != version:
            raise _mismatch(kept, document_id)
        condition, values = "#generation = :seen AND #version = :version", _seen(kept)
        try:
            gone = Write(document_key(tenant, document_id), condition, values, delete=True)
            self._storage.calls.write(tenant, gone)
        except ConditionFailed as failed:
            if failed.old is not None:
                raise _mismatch(self._kept(tenant, failed.old), document_id) from None
        self._drop_parts(tenant, kept)

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
        return Write(key, "#generation = :seen AND #version = :version", _seen(before), item=item)

    def _head(self, tenant: str, document_id: str) -> Kept | None:
        item = self._storage.calls.get(tenant, document_key(tenant, document_id))
        return None if item is None else self._kept(tenant, item)

    def _kept(self, tenant: str, item: Item) -> Kept:
        key = Key(item["pk"], item["sk"])
        said = self._storage.codec.open(tenant, None, key, _SAID, item[_SAID])
        plain = {name: item[name] for name in _PLAIN}
        document_id = str(item["sk"]).removeprefix(DOCUMENT)
        return Kept(Document.model_validate({**said, **plain, "document_id": document_id}), str(item["generation"]))

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

    def _drop_parts(self, tenant: str, kept: Kept) -> None:
        numbers = range(kept.document.parts)
        self._storage.calls.delete_many(tenant, [self._key(tenant, kept, number) for number in numbers])

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
