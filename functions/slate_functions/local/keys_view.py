"""API keys on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from slate.domain.access import ApiKey
from slate.domain.instants import format_instant


def keys_of(keys: Sequence[ApiKey]) -> RenderableType:
    """Keys, one a row."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("key", "agent", "scopes", "roles", "subject", "made", "revoked"):
        # An id is there to be copied, so it stays in one piece.
        table.add_column(title, overflow="fold", no_wrap=title == "key")
    for key in keys:
        cells = (
            key.key_id,
            key.agent,
            " ".join(key.scopes),
            " ".join(key.roles) or "any",
            key.subject or "any",
            format_instant(key.created_at),
            format_instant(key.revoked_at) if key.revoked_at is not None else "",
        )
        table.add_row(*(Text(cell) for cell in cells))  # as Text, since a text would be read as markup
    return table
