"""The index: finds candidates by words and by vectors. What it answers is a hint; the storage decides.

It is fed by the storage's stream alone, may lag, and may be rebuilt at any time. Nothing is found under another
tenant, or in another scope, than the ones asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NewType, Protocol

from slate.domain.indexed import PERSONAL, Entry, Kind
from slate.domain.vectors import Vector

Mark = NewType("Mark", str)
"""How far an expunging has come. Opaque, under a kilobyte for each shard, and names nobody: it may be kept anywhere."""


class Name(NamedTuple):
    """What an index calls an entry, within a tenant."""

    kind: Kind
    id: str


class Listed(NamedTuple):
    """An entry that is in the index, at which version, in whose vectors."""

    name: Name
    version: int
    embedder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What is looked for."""

    kind: Kind
    scopes: Collection[str] | None
    """None, of episodes and chunks alone: any of the tenant's."""
    terms: Sequence[str]
    vector: Vector = ()
    embedder: str = ""
    """Whose vector it is; entries of another embedder are found by their words alone."""
    readers: frozenset[str] | None = None
    """The agent and the roles that ask: what names its readers must name one of these; None: whatever it names."""
    groups: Collection[str] | None = None
    limit: int = 200
    """So many candidates by words, and so many by vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A candidate, with what each leg says of it."""

    id: str
    scope: str
    group: str
    version: int
    at: int
    lexical: float
    likeness: float
    speaker: str = ""
    words: int = 0
    question: bool = False
    timed: bool = False
    readers: tuple[str, ...] = field(default=())


class MemoryIndex(Protocol):
    """Keeps entries."""

    def put(self, tenant: str, entries: Sequence[Entry]) -> None:
        """Add entries, or replace those at the same or an older version; what is newer stays, what went stays gone.

        Raises:
            Unavailable: not all were taken; the same call may be repeated.
        """
        ...

    def remove(self, tenant: str, gone: Sequence[Name]) -> None:
        """Remove entries, by name; a late write of what they were does not bring them back.

        They are not found any more; their bytes leave the files by ``expunge``. Where there is no index, they are gone.

        Raises:
            Unavailable: not all are gone; the same call may be repeated.
        """
        ...

    def seek(self, tenant: str, probe: Probe) -> list[Hit]:
        """Candidates by words, and by vector, each once.

        Raises:
            Unavailable: the index does not answer in time.
        """
        ...

    def names(self, tenant: str, kind: Kind, scopes: Collection[str], words: Iterable[str]) -> frozenset[str]:
        """Those of these words that are names to this memory: they stand, as one, in more than a tenth of it.

        Raises:
            Unavailable: the index does not answer in time.
        """
        ...

    def listed(self, tenant: str, kind: Kind, scope: str) -> Iterator[Listed]:
        """All that is there of a scope: what a rebuild is compared with.

        Raises:
            Unavailable: the index does not answer in time.
        """
        ...

    def count(self, tenant: str, scope: str, kinds: Collection[Kind] = PERSONAL) -> int:
        """How many entries there are of a scope; a person's is her ref, and her kinds are the default.

        Consistent: it knows of whatever was put or removed before the call, in every index that is kept. An entry that
        two of them hold, while one is made anew, counts twice. Where there is no index, nothing is left.

        Raises:
            Unavailable: a part of the index did not answer; nothing is known.
        """
        ...

    def expunge(self, since: Mark | None = None) -> Mark | None:
        """Free the bytes of all that was removed or replaced, by anybody, before the first call; None: they are gone.

        An index only marks what goes, and its files keep words and vectors until they are rewritten. That takes a
        minute or so, and no call waits for it: begin with None, after the last removal; while a mark is answered,
        keep it, and ask again with it some seconds later. Each call does the next thing that can be done, and may be
        repeated with any mark, also after the end; whoever lost the mark begins anew. It is of all tenants: one
        expunging serves everybody whose entries were removed before it began. Snapshots of the index are not reached.

        Raises:
            Unavailable: the index does not answer; ask again with the same mark.
        """
        ...
