"""Whether a turn may be recalled: it obeys the facts that were made from it.

What is superseded, over, stale, forgotten, held back, or closed to this reader is not told through the turn either:
neither by the turn that it came from, nor by another that says all of the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from slate.domain.facts.model import Fact, FactState, Quarantined, QuarantineState, Source
from slate.domain.facts.slots import bare
from slate.domain.facts.standing import questions, serves
from slate.domain.ranking.terms import covered, terms
from slate.domain.sessions import Turn

MayRead = Callable[[Collection[str]], bool]


class Closed(NamedTuple):
    """What is not to be told."""

    session_id: str | None
    seq: int | None
    words: frozenset[str]
    until: int | None
    """What was said later may say the same and be true."""

    def tells(self, session_id: str, turn: Turn, words: Collection[str]) -> bool:
        """Whether a turn would tell it."""
        if self.session_id == session_id and self.seq == turn.seq:
            return True
        return (self.until is None or turn.at <= self.until) and covered(self.words, words)


def closed(facts: Iterable[Fact], held: Iterable[Quarantined], may_read: MayRead, now: int) -> list[Closed]:
    """What must not be told to this reader, of all that is known and was known."""
    every = list(facts)
    asked = {fact.fact_id for question in questions(every, now) for fact in question.facts}
    found = [
        _closed(fact.source, fact.statement, fact.valid_to if fact.state is FactState.SUPERSEDED else None)
        for fact in every
        if not serves(fact, now) or fact.fact_id in asked or not may_read(fact.readers)
    ]
    return found + [
        _closed(each.source, each.statement, None) for each in held if each.state is not QuarantineState.ACCEPTED
    ]


def may_recall(session_id: str, turn: Turn, shut: Collection[Closed]) -> bool:
    """Whether nothing that is closed would be told."""
    words = set(terms(turn.content))
    return not any(each.tells(session_id, turn, words) for each in shut)


def _closed(source: Source | str | None, statement: str, until: int | None) -> Closed:
    words = frozenset(terms(bare(statement)))
    if isinstance(source, Source):
        return Closed(source.session_id, source.seq, words, until)
    return Closed(None, None, words, until)
