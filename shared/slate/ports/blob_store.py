"""Sealed content too large for an item."""

from __future__ import annotations

from typing import Protocol


class BlobStore(Protocol):
    """Keeps bytes by key; keys start with ``<tenant>/``. Reads after a write see it (S3 is strongly consistent)."""

    def put(self, key: str, content: bytes) -> None:
        """Keep the bytes; the same key again replaces them."""
        ...

    def get(self, key: str) -> bytes:
        """The bytes.

        Raises:
            NotFound: there are none by this key.
        """
        ...

    def delete_all(self, prefix: str, most: int | None = None) -> int:
        """Remove every object, in all versions, whose key starts so; answer how many versions went.

        With ``most`` it may end once so many are gone: fewer were all that there were.
        """
        ...

    def count(self, prefix: str) -> int:
        """How many versions there are of objects whose key starts so."""
        ...
