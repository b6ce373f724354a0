"""The audit on the wire."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.audit.chain import Link, Root
from slate.domain.audit.entries import Phase, Touched, Verb
from slate.domain.instants import Instant


class AuditedItem(BaseModel):
    """An item that was read or changed."""

    model_config = ConfigDict(frozen=True)

    kind: str = Field(description="as a line of an export is called: fact, turn, context, ...")
    id: str
    version: int | None = None
    digest: str | None = Field(default=None, description="of what it said, under the person's own key")
    gone: bool = Field(default=False, description="it was removed")

    @classmethod
    def of(cls, touched: Touched) -> Self:
        """As callers see it."""
        return cls(**touched._asdict())


class AuditEntry(BaseModel):
    """Who did what to which items: never what they say."""

    model_config = ConfigDict(frozen=True)

    at: Instant
    deed: str = Field(description="the request's id, or the job's: entries of one deed have it in common")
    phase: Phase = Field(
        description="`begun` before a change; one that has no `done` or `failed` was cut off by a crash"
    )
    verb: Verb
    act: str = Field(description="the route, or the job")
    agent: str
    key_id: str | None
    ref: str | None = Field(description="whom it is about: what stands for the person in keys and logs")
    session: str | None
    code: str | None = Field(description="of one that failed: why")
    items: tuple[AuditedItem, ...]
    more: int = Field(description="items beyond those that are named")
    day: str
    shard: int
    number: int = Field(description="its place in its chain")
    hash: str

    @classmethod
    def of(cls, link: Link) -> Self:
        """As callers see it."""
        entry = link.entry
        told = {name: getattr(entry, name) for name in type(entry).model_fields if name != "items"}
        place = {name: getattr(link, name) for name in ("day", "shard", "number", "hash")}
        return cls(**told, **place, items=tuple(map(AuditedItem.of, entry.items)))


class AuditPage(BaseModel):
    """Some entries, by day, chain and number; ``next_cursor`` goes on, also where this page shows none that fits."""

    model_config = ConfigDict(frozen=True)

    items: tuple[AuditEntry, ...]
    next_cursor: str | None


class ChainPage(BaseModel):
    """Entries of a day as they are kept, in the order of their chains, and what binds them."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    day: str
    items: tuple[Link, ...]
    next_cursor: str | None
    root: Root | None = Field(description="made an hour after the day is over; none before")
    before: Root | None = Field(description="the root that it follows")
