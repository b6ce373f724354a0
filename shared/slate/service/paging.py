"""Cursors: where a list goes on, opaque to the caller and bound to the list it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from pydantic import BaseModel

from slate.domain.errors import Invalid
from slate.ports.keyring import Keyring
from slate.service.sealing import Opaque

ANSWER_BYTES: Final = 1_000_000
"""A Lambda answers 6 MB at most, escaped once more, which may double it; one entity more still fits."""

Entity = TypeVar("Entity", bound=BaseModel)


def fitting(entities: Sequence[Entity]) -> Sequence[Entity]:
    """As many of the first as fit an answer; one at least."""
    size = 0
    for i, entity in enumerate(entities):
        size += len(entity.model_dump_json())
        if size > ANSWER_BYTES:
            return entities[: max(i, 1)]
    return entities


class Cursors:
    """Makes and reads cursors."""

    def __init__(self, keyring: Keyring) -> None:
        self._opaque = Opaque(keyring, "cursor")

    def next(self, tenant: str, of: str, position: str | None) -> str | None:
        """The cursor of a position in the list ``of``; none at its end."""
        return None if position is None else self._opaque.seal(tenant, f"{of}\0{position}".encode())

    def position(self, tenant: str, of: str, cursor: str | None) -> str | None:
        """The position behind a cursor.

        Raises:
            Invalid: the cursor is not from this list.
        """
        if cursor is None:
            return None
        content = self._opaque.open(tenant, cursor)
        owner, _, position = (content or b"").decode(errors="replace").partition("\0")
        if content is None or owner != of:
            raise Invalid.field("cursor", "this cursor is not from this list; take `next_cursor` of the page before")
        return position
