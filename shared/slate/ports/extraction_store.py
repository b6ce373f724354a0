"""Conversations that are to be learned from later, until they are; how far that is stands in the session store."""

from __future__ import annotations

from typing import Protocol

from pydantic import JsonValue

from slate.domain.sessions import Extraction


class ExtractionStore(Protocol):
    """Keeps the material of extractions that no session holds."""

    def begin(self, tenant: str, extraction: Extraction, material: JsonValue | None) -> None:
        """Keep an extraction, and what is to be read; the same again changes nothing."""
        ...

    def material(self, tenant: str, extraction_id: str) -> JsonValue | None:
        """What is to be read; nothing where it was read already, or erased.

        Raises:
            SubjectErased: its key is gone.
        """
        ...

    def drop(self, tenant: str, extraction_id: str) -> None:
        """It was read: nothing of it is kept."""
        ...
