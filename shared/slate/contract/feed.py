"""The change feed on the wire."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.events import FeedEntry


class FeedPage(BaseModel):
    """Entries in the order of their numbers; empty where nothing has happened since."""

    model_config = ConfigDict(frozen=True)

    items: tuple[FeedEntry, ...]
    next_after: int = Field(description="`after` of the next page")
