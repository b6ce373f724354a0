"""Documents of the knowledge base: a head, and the parts that it was cut into. All reads are strongly consistent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from slate.domain.documents import Document, Part
from slate.ports.graph_store import Page


class Kept(NamedTuple):
    """A document's head, and which writing of it holds: parts of another are never served."""

    document: Document
    generation: str


class DocumentStore(Protocol):
    """Keeps documents."""

    def put(self, tenant: str, document: Document, parts: Sequence[Part], version: int | None) -> Document:
        """Keep a document; the parts of the one before are replaced all at once, and then removed.

        Raises:
            VersionMismatch: it is not at ``version``.
        """
        ...

    def get(self, tenant: str, document_id: str) -> Kept:
        """The head.

        Raises:
            NotFound: there is none.
        """
        ...

    def page(self, tenant: str, position: str | None, limit: int) -> Page[Kept]:
        """Heads by id."""
        ...

    def parts(self, tenant: str, kept: Kept) -> list[Part]:
        """All parts of a document, in their order."""
        ...

    def some_parts(self, tenant: str, kept: Kept, numbers: Sequence[int]) -> list[Part]:
        """Those of these parts that are there, in this order."""
        ...

    def delete(self, tenant: str, document_id: str, version: int | None) -> None:
        """Remove it: from now on it is not found.

        Raises:
            NotFound: there is none.
            VersionMismatch: it is not at ``version``.
        """
        ...

    def sweep(self, tenant: str, document_id: str) -> None:
        """Remove what writings that are not the document left, as ``put`` and ``delete`` do."""
        ...
