"""Chains of entries: a day of a tenant has sixteen, each entry holds the hash of the one before, a root binds them.

An entry's hash is SHA-256 over its tenant, day, chain, number, the hash before it, and its own text. So an entry that
was altered no longer has its hash; one that was removed leaves a hole, one that was moved stands under another number.
Who cuts off the end of a chain, or hashes all of it anew, is found by the day's root: it is made an hour after the day
is over, kept in the ledger, apart from the entries, and holds the root before it. Until then today's last entries are
bound by nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.audit.entries import Entry

SHARDS: Final = 16
"""Chains of a day; every process appends to one of them, and moves on when it meets another there."""
START: Final = ""
"""Stands for the hash before the first."""


class Link(BaseModel):
    """An entry in its chain."""

    model_config = ConfigDict(frozen=True)

    day: str = Field(description="UTC, as 2026-11-30")
    shard: int
    number: int = Field(description="from 1, without gaps")
    previous: str = Field(description="the hash of the one before; of the first, nothing")
    hash: str
    text: str = Field(description="the entry, byte for byte as it was hashed")

    @property
    def entry(self) -> Entry:
        """The entry."""
        return Entry.of(self.text)


class Root(BaseModel):
    """What binds a day: the ends of its chains, and the root before."""

    model_config = ConfigDict(frozen=True)

    day: str
    heads: dict[int, tuple[int, str]] = Field(description="of each chain: how many entries, and the hash of the last")
    previous_day: str | None = None
    previous: str = START
    hash: str


class Flaw(BaseModel):
    """Something that a chain cannot have come to by appending."""

    model_config = ConfigDict(frozen=True)

    day: str
    shard: int | None
    number: int | None
    what: str


def hashed(tenant: str, day: str, shard: int, number: int, previous: str, text: str) -> str:
    """The hash of an entry."""
    return sha256(json.dumps([tenant, day, shard, number, previous, text]).encode()).hexdigest()


def linked(tenant: str, day: str, shard: int, tip: tuple[int, str], text: str) -> Link:
    """The next link of a chain whose last has this number and hash."""
    number, previous = tip[0] + 1, tip[1]
    own = hashed(tenant, day, shard, number, previous, text)
    return Link(day=day, shard=shard, number=number, previous=previous, hash=own, text=text)


def rooted(tenant: str, day: str, heads: Mapping[int, tuple[int, str]], before: Root | None) -> Root:
    """The root of a day."""
    last = (None, START) if before is None else (before.day, before.hash)
    ends = {shard: heads[shard] for shard in sorted(heads)}
    own = sha256(json.dumps([tenant, day, list(ends.items()), *last]).encode()).hexdigest()
    return Root(day=day, heads=ends, previous_day=last[0], previous=last[1], hash=own)


def flaws(tenant: str, day: str, links: Iterable[Link], root: Root | None, before: Root | None) -> list[Flaw]:
    """All that is wrong with a day: of its links in the order of their keys, its root and the root before that."""
    found: list[Flaw] = []
    tips: dict[int, tuple[int, str]] = {}
    for link in links:
        number, previous = tips.get(link.shard, (0, START))
        place = {"day": day, "shard": link.shard, "number": link.number}
        if link.number != number + 1:
            missing = "one is" if link.number == number + 2 else "some are"
            found.append(Flaw(**place, what=f"{missing} missing before it, or it was moved"))
        elif link.previous != previous:
            found.append(Flaw(**place, what="it does not follow the one before: that was removed, replaced or moved"))
        if hashed(tenant, day, link.shard, link.number, link.previous, link.text) != link.hash:
            found.append(Flaw(**place, what="it was altered: its text no longer has its hash"))
        tips[link.shard] = (link.number, link.hash)
    return found if root is None else found + _against(tenant, day, tips, root, before)


def _against(tenant: str, day: str, tips: Mapping[int, tuple[int, str]], root: Root, before: Root | None) -> list[Flaw]:
    """What the day's root says otherwise."""
    found = [
        Flaw(
            day=day, shard=shard, number=tips.get(shard, (0, ""))[0], what=_ends(root.heads.get(shard), tips.get(shard))
        )
        for shard in sorted({*root.heads, *tips})
        if root.heads.get(shard) != tips.get(shard)
    ]
    kept = rooted(tenant, day, root.heads, before)
    if (root.hash, root.previous_day, root.previous) != (kept.hash, kept.previous_day, kept.previous):
        found.append(
            Flaw(day=day, shard=None, number=None, what="its root is not what its heads and the root before give")
        )
    return found


def _ends(said: tuple[int, str] | None, there: tuple[int, str] | None) -> str:
    if said is None:
        return "the day's root knows of no such chain: it was added"
    if there is None:
        return f"the whole chain of {said[0]} entries was removed"
    if there[0] < said[0]:
        return f"the last {said[0] - there[0]} of {said[0]} entries were removed"
    if there[0] > said[0]:
        return f"{there[0] - said[0]} entries were added after the day was over"
    return "its last entry is not the one that the day's root was made of"
