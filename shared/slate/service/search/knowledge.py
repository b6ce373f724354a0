"""Documents: written whole, cut, found by their parts; a part of a writing that no longer holds is never given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from slate.contract.search import FoundPart, FoundParts, PartSource, PutDocument, SearchDocuments, ShownDocument
from slate.domain.access import Principal
from slate.domain.documents import MAX_PARTS, Document, Part, cut
from slate.domain.errors import Forbidden, Invalid, NotFound, TooLarge
from slate.domain.indexed import Entry, Kind, entry_of_text
from slate.domain.ranking.passages import best_passages
from slate.domain.ranking.turns import Ranked
from slate.ports.clock import Clock
from slate.ports.document_store import DocumentStore, Kept
from slate.ports.ids import Ids
from slate.service.search.asking import Reader, Seeking
from slate.service.search.indexing import part_id

MOST_PARTS: Final = 1_000
"""Parts that are looked through where the index does not answer."""
_AT_ONCE: Final = 100


class Written(NamedTuple):
    """Parts that answer, the best first."""

    parts: list[FoundPart]
    warnings: tuple[str, ...] = ()


class Knowledge:
    """The use cases of documents, which are the tenant's: a key that is bound to a subject only reads them."""

    def __init__(self, store: DocumentStore, seeking: Seeking, ids: Ids, clock: Clock) -> None:
        self._store = store
        self._seeking = seeking
        self._ids = ids
        self._clock = clock

    def put(self, principal: Principal, body: PutDocument, version: int | None) -> tuple[Document, bool]:
        """Keep a document in place of the one before; whether it is new.

        Raises:
            Forbidden: the key is bound to a subject.
            NotFound: the one before is for other readers.
            Invalid: nothing is in it.
            TooLarge: it has too many parts.
            VersionMismatch: it is not at ``version``.
        """
        if principal.subject is not None:
            raise Forbidden("this key is bound to one subject; use one that is not to write documents")
        parts = cut(body.text)
        if not parts:
            raise Invalid.field("text", "there is nothing in it to be found; send some words")
        if len(parts) > MAX_PARTS:
            raise TooLarge(f"the text has {len(parts)} parts, of {MAX_PARTS} at most; send it as several documents")
        document_id, now = body.document_id or f"d-{self._ids.new()}", self._clock.now()
        before: Kept | None = None
        with suppress(NotFound):
            before = self._store.get(principal.tenant, document_id)
        if before is not None:
            self._reached(principal, before)
        document = Document(
            document_id=document_id,
            title=body.title,
            collection=body.collection,
            readers=body.readers,
            parts=len(parts),
            created_at=now,
            updated_at=now,
        )
        return self._store.put(principal.tenant, document, parts, version), before is None

    def get(self, principal: Principal, document_id: str) -> ShownDocument:
        """A document, whole.

        Raises:
            NotFound: there is none, or it is for other readers.
        """
        kept = self._reached(principal, self._store.get(principal.tenant, document_id))
        text = "\n\n".join(part.whole for part in self._store.parts(principal.tenant, kept))
        return ShownDocument(**kept.document.model_dump(), text=text)

    def delete(self, principal: Principal, document_id: str, version: int | None) -> None:
        """Remove a document.

        Raises:
            Forbidden: the key is bound to a subject.
            NotFound: as in ``get``.
            VersionMismatch: it is not at ``version``.
        """
        if principal.subject is not None:
            raise Forbidden("this key is bound to one subject; use one that is not to delete documents")
        try:
            kept = self._store.get(principal.tenant, document_id)
        except NotFound:
            self._store.sweep(principal.tenant, document_id)  # of a delete, or a first writing, that died
            raise
        self._reached(principal, kept)
        self._store.delete(principal.tenant, document_id, version)

    def search(self, principal: Principal, body: SearchDocuments) -> FoundParts:
        """Parts of documents, in one collection or in all."""
        written = self.find(principal.tenant, body.collection, body.query, body.top_k, Reader.of(principal))
        return FoundParts(items=tuple(written.parts), warnings=written.warnings)

    def find(self, tenant: str, collection: str | None, query: str, count: int, reader: Reader) -> Written:
        """The best parts that this reader may see."""
        scopes = None if collection is None else [collection]
        sought = self._seeking.seek(
            tenant, Kind.CHUNK, scopes, query, reader, lambda: list(islice(self._entries(tenant, scopes), MOST_PARTS))
        )
        ranked = best_passages(
            {hit.id: hit.lexical for hit in sought.hits},
            {hit.id: hit.likeness for hit in sought.hits},
            share=self._seeking.share,
            count=count * 2 + 10,
        )
        there = self._read(tenant, ranked, reader)
        parts = [_found(*there[each.name], each) for each in ranked if each.name in there]
        return Written(
            [part for part in parts if collection in (None, part.source.collection)][:count], sought.warnings
        )

    def _read(self, tenant: str, ranked: Sequence[Ranked], reader: Reader) -> dict[str, tuple[Kept, Part]]:
        wanted: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for each in ranked:
            document_id, generation, number = each.name.rsplit("/", 2)
            wanted[document_id, generation].append(int(number))
        found: dict[str, tuple[Kept, Part]] = {}
        for (document_id, generation), numbers in wanted.items():
            with suppress(NotFound):
                kept = self._store.get(tenant, document_id)
                if kept.generation == generation and reader.may_read(kept.document.readers, None):
                    for part in self._store.some_parts(tenant, kept, numbers):
                        found[part_id(document_id, generation, part.number)] = (kept, part)
        return found

    def _entries(self, tenant: str, collections: Sequence[str] | None) -> Iterator[Entry]:
        position: str | None = None
        while True:
            page = self._store.page(tenant, position, _AT_ONCE)
            for kept in page.items:
                if collections is None or kept.document.collection in collections:
                    yield from (_entry(kept, part) for part in self._store.parts(tenant, kept))
            position = page.position
            if position is None:
                return

    @staticmethod
    def _reached(principal: Principal, kept: Kept) -> Kept:
        if not principal.may_read(kept.document.readers):
            raise NotFound(f"there is no document {kept.document.document_id!r}")
        return kept


def _entry(kept: Kept, part: Part) -> Entry:
    document = kept.document
    return entry_of_text(
        Kind.CHUNK,
        part_id(document.document_id, kept.generation, part.number),
        f"{document.title}\n{part.whole}",
        scope=document.collection,
        group=document.document_id,
        version=document.version,
        at=document.updated_at,
        readers=(),
    )


def _found(kept: Kept, part: Part, ranked: Ranked) -> FoundPart:
    document = kept.document
    return FoundPart(
        document_id=document.document_id,
        title=document.title,
        text=part.whole,
        score=round(ranked.score, 4),
        why={name: round(share, 4) for name, share in ranked.why.items()},
        source=PartSource(
            collection=document.collection, part=part.number, headings=part.headings, version=document.version
        ),
    )
