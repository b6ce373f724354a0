"""The index: finds candidates by words and by vectors. What it answers is a hint; the storage decides.

It is fed by the storage's stream alone, may lag, and may be rebuilt at any time. Nothing is found under another
tenant, or in another scope, than the ones asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from slate.domain.indexed import Entry, Kind
from slate.domain.vectors import Vector


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
