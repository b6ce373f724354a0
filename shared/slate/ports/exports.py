"""What is kept about a person, thing by thing; and the pages of the exports that are made of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from slate.domain.exporting.export import Export
from slate.domain.exporting.records import Record


class Found(NamedTuple):
    """A line, and where the walk goes on after it."""

    position: str
    record: Record


class SubjectRecords(Protocol):
    """Reads all that is kept about a person, each thing once, and nothing of anybody else."""

    def walk(self, tenant: str, ref: str, after: str | None) -> Iterator[Found]:
        """Every line in an order that stays the same, from the beginning or after a position; read as it is taken.

        What was written before the walk began is in it, if it is there when the walk comes by.

        Raises:
            SubjectErased, SubjectHeld: the person's data is not to be read now.
        """
        ...


class Progress(NamedTuple):
    """An export as it stands, and where its walk goes on."""

    export: Export
    position: str | None


class ExportStore(Protocol):
    """Keeps exports and their pages, sealed under the person's key."""

    def begin(self, tenant: str, export: Export) -> Export:
        """Keep a new one; the one that is there where this is a repeat."""
        ...

    def get(self, tenant: str, export_id: str) -> Progress:
        """How it stands.

        Raises:
            NotFound: there is none, or its time is over.
            SubjectErased, SubjectHeld: the person's data is not to be read now.
        """
        ...

    def add(self, tenant: str, progress: Progress, text: str) -> bool:
        """Keep the next page, and how the export stands with it, together, one version on; False where another did."""
        ...

    def page(self, tenant: str, export_id: str, number: int) -> str:
        """A page, the first being 0.

        Raises:
            NotFound: there is none.
        """
        ...

    def look_again(self, tenant: str, seen: Export) -> bool:
        """Look after one that is not done again later; False where it has been gone on with, or is done."""
        ...

    def drop(self, tenant: str, export_id: str, deadline: int) -> bool:
        """Remove it, its pages first; False where the deadline came first, and the same call goes on."""
        ...
