"""What the person is told when something known was replaced: in a line, what by what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slate.domain.facts.model import Fact, Notice

LONGEST: Final = 200


def notice_of(newer: Fact | None, before: Sequence[Fact], notice_id: str, at: int) -> Notice:
    """That these facts, of which there is one at least, hold no longer; ``newer`` took their place, if anything did."""
    return Notice(
        notice_id=notice_id,
        text=withdrawn(before) if newer is None else replaced(newer, before),
        fact_id=before[-1].fact_id if newer is None else newer.fact_id,
        superseded=tuple(fact.fact_id for fact in before),
        readers=before[-1].readers,
        at=at,
    )


def replaced(fact: Fact, before: Sequence[Fact]) -> str:
    """A newer statement took the place of others."""
    if fact.value is not None and all(other.value is not None for other in before) and fact.attribute is not None:
        old = " and ".join(_short(str(other.value)) for other in before)
        return f"Noted: I'll use {_short(fact.value)} instead of {old} ({fact.attribute.replace('_', ' ')})."
    old = '" and "'.join(_short(other.statement) for other in before)
    return f'Noted: "{_short(fact.statement)}" instead of "{old}".'


def withdrawn(before: Sequence[Fact]) -> str:
    """Something holds no longer."""
    old = '" and "'.join(_short(other.statement) for other in before)
    return f'Noted: "{old}" holds no longer.'


def outdated(before: Fact, after: Fact) -> bool:
    """Whether an edit makes what names the fact untrue, or tells it to who may not read it any more."""
    then, now = ((fact.statement, fact.attribute, fact.value, set(fact.readers)) for fact in (before, after))
    return then != now


def _short(text: str) -> str:
    bare = text.strip().rstrip(".")
    return bare if len(bare) <= LONGEST else bare[: LONGEST - 1].rstrip() + "\u2026"
