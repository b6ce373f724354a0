"""The recipe for turns: words and vector, then what the query asks for, then the company a turn keeps.

Measured in docs/retrieval.md. Recency counts for nothing here: a fact changes, an utterance does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest
from typing import Final, NamedTuple

from slate.domain.ranking.fusion import fused
from slate.domain.ranking.times import asks_when, named_in

SPEAKER: Final = 0.1
TIME: Final = 0.15
DATE: Final = 0.3
SESSION: Final = 0.5
LENGTH: Final = 0.1
QUESTION: Final = -0.1
LONG: Final = 30
"""Words of a turn that says much."""
COMPANY: Final = 3
"""The best turns of a session that speak for it."""
TOP: Final = (1 + SPEAKER + TIME + DATE) * (1 + SESSION) + LENGTH
"""No turn scores more."""


class Uttered(NamedTuple):
    """What the recipe needs to know of a turn."""

    name: str
    group: str
    """Its session."""
    at: int
    speaker: str
    words: int
    question: bool
    timed: bool


class Ranked(NamedTuple):
    """A candidate with its score, and every term of it."""

    name: str
    score: float
    why: Mapping[str, float]


def best_turns(
    query: str,
    turns: Sequence[Uttered],
    lexical: Mapping[str, float],
    likeness: Mapping[str, float],
    *,
    share: float,
    names: Collection[str],
    count: int,
) -> list[Ranked]:
    """The best of these turns; ``names`` are the names in the query, ``share`` is the vectors' part."""
    legs = fused({turn.name: lexical.get(turn.name, 0.0) for turn in turns}, likeness, share)
    only = next(iter(names)) if len(names) == 1 else None
    when, date = asks_when(query), named_in(query)
    parts: dict[str, dict[str, float]] = {}
    by_session: defaultdict[str, list[float]] = defaultdict(list)
    for turn in turns:
        words, vector = legs[turn.name]
        terms = {
            "words": words,
            "vector": vector,
            "speaker": SPEAKER if only is not None and turn.speaker == only else 0.0,
            "time": TIME if when and turn.timed else 0.0,
            "date": DATE * date.closeness(turn.at) if date is not None else 0.0,
        }
        parts[turn.name] = terms
        by_session[turn.group].append(sum(terms.values()))
    company = {group: sum(nlargest(COMPANY, scores)) / COMPANY for group, scores in by_session.items()}
    for turn in turns:
        parts[turn.name] |= {
            "session": SESSION * company[turn.group],
            "length": LENGTH * min(1.0, turn.words / LONG),
            "question": QUESTION if turn.question else 0.0,
        }
    scores = {name: sum(terms.values()) for name, terms in parts.items()}
    chosen = nlargest(count, turns, key=lambda turn: (scores[turn.name], turn.at, turn.name))
    return [Ranked(turn.name, scores[turn.name], {k: v for k, v in parts[turn.name].items() if v}) for turn in chosen]
