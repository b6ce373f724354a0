"""What an index holds of a memory: the terms and the vector it is found by, and what the ranking needs to know of it.

An index is derived: it can be rebuilt from the storage at any time, and what it answers is checked against it. It
holds no text; the terms are stems, without order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

from slate.domain.facts.model import Fact
from slate.domain.ranking.terms import bare_name, capitalised, terms
from slate.domain.ranking.times import says_when
from slate.domain.sessions import Speaker, Turn
from slate.domain.vectors import Vector

PREDECESSORS: Final = 2
"""A turn is found by the words of so many turns before it, too; they are not returned for it."""
EMBEDDED_CHARACTERS: Final = 8_000
RECALLED: Final = frozenset({Speaker.USER, Speaker.ASSISTANT})
"""Whose turns are recalled: tool output and system messages are not what somebody said."""


class Kind(StrEnum):
    """What is indexed."""

    FACT = "fact"
    TURN = "turn"
    EPISODE = "episode"
    CHUNK = "chunk"


class Place(NamedTuple):
    """Where an index holds entries: a kind, of whom or of what, in a tenant."""

    tenant: str
    kind: Kind
    scope: str


PERSONAL: Final = frozenset({Kind.FACT, Kind.TURN, Kind.EPISODE})
"""Those whose scope is a person's ref; a chunk's is a collection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory as an index knows it. ``scope`` is whom or what it belongs to: a subject's ref, a collection."""

    kind: Kind
    id: str
    scope: str
    group: str = ""
    """Its session, or its document."""
    version: int
    at: int
    terms: tuple[str, ...]
    text: str = ""
    """What its vector is made of; no index keeps it."""
    vector: Vector = ()
    embedder: str = ""
    """Whose vector it is: those of different embedders are never compared."""
    names: frozenset[str] = frozenset()
    """Words in it that may be names."""
    speaker: str = ""
    words: int = 0
    question: bool = False
    timed: bool = False
    readers: tuple[str, ...] = field(default=())


def turn_id(session_id: str, seq: int) -> str:
    """A turn's id among all turns."""
    return f"{session_id}/{seq}"


def said(turn: Turn) -> str:
    """A turn as it was said, by whom."""
    return f"{turn.name or turn.role.value}: {turn.content}"


def entry_of_turn(
    turn: Turn, before: Sequence[Turn], *, session_id: str, scope: str, readers: Iterable[str] = ()
) -> Entry:
    """A turn, found by its own words, its day's, and those of the turns ``before`` it."""
    day = datetime.fromtimestamp(turn.at / 1000, UTC)
    context = [said(each) for each in before[-PREDECESSORS:] if each.role in RECALLED]
    text = said(turn)
    speaker = bare_name(turn.name or turn.role.value)
    return Entry(
        kind=Kind.TURN,
        id=turn_id(session_id, turn.seq),
        scope=scope,
        group=session_id,
        version=turn.version,
        at=turn.at,
        terms=tuple(terms(" ".join([f"{day:%d %B %Y},", *context, text]))),
        text=text[:EMBEDDED_CHARACTERS],
        names=frozenset({*capitalised(text), *([speaker] if turn.name else [])}),
        speaker=speaker,
        words=len(turn.content.split()),
        question=turn.content.rstrip().endswith(("?", "\uff1f")),
        timed=says_when(turn.content),
        readers=tuple(readers),
    )


def fact_text(fact: Fact) -> str:
    """What a fact is found by."""
    slot = (fact.attribute or "").replace("_", " ").replace(":", " ")
    return " ".join(filter(None, [fact.statement, slot, fact.value, *fact.topics]))


def entry_of_fact(fact: Fact, scope: str) -> Entry:
    """A fact, found by its statement, its slot and its topics."""
    text = fact_text(fact)
    return Entry(
        kind=Kind.FACT,
        id=fact.fact_id,
        scope=scope,
        version=fact.version,
        at=fact.last_confirmed_at,
        terms=tuple(terms(text)),
        text=fact.statement[:EMBEDDED_CHARACTERS],
        readers=fact.readers,
    )


def entry_of_text(
    kind: Kind, entry_id: str, text: str, *, scope: str, group: str, version: int, at: int, readers: Iterable[str]
) -> Entry:
    """An episode, or a chunk of a document, found by its words alone."""
    return Entry(
        kind=kind,
        id=entry_id,
        scope=scope,
        group=group,
        version=version,
        at=at,
        terms=tuple(terms(text)),
        text=text[:EMBEDDED_CHARACTERS],
        readers=tuple(readers),
    )
