"""Whether a turn may be recalled: it obeys the facts that were made from it.

What is superseded, over, stale, forgotten, held back, or closed to this reader is not told through the turn either:
neither by the turn that it came from, nor by another that says all of the same words, nor, where it held a slot of one
truth (a city, an employer), by one from its time that names what stood there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from slate.domain.facts.agreeing import agreed
from slate.domain.facts.model import Fact, FactState, Quarantined, QuarantineState, Source
from slate.domain.facts.slots import MANY, bare, canonical
from slate.domain.facts.standing import questions, serves
from slate.domain.ranking.terms import covered, possible_names, terms
from slate.domain.sessions import Turn

MayRead = Callable[[Collection[str]], bool]


class Closed(NamedTuple):
    """What is not to be told."""

    session_id: str | None
    seq: int | None
    words: tuple[frozenset[str], ...]
    """A turn that says all of one of these tells it."""
    until: int | None
    """What was said later may say the same and be true."""

    def tells(self, session_id: str, turn: Turn, words: Collection[str]) -> bool:
        """Whether a turn would tell it."""
        if self.session_id == session_id and self.seq == turn.seq:
            return True
        if self.until is not None and turn.at > self.until:
            return False
        return any(covered(each, words) for each in self.words)


def closed(facts: Iterable[Fact], held: Iterable[Quarantined], may_read: MayRead, now: int) -> list[Closed]:
    """What must not be told to this reader, of all that is known and was known."""
    every = list(facts)
    told = agreed(fact for fact in every if serves(fact, now) and may_read(fact.readers))
    asked = {fact.fact_id for question in questions((*every, *told.facts), now) for fact in question.facts}
    outdone = {fact.fact_id for fact in told.outdone}
    found = [
        _closed(fact.source, [bare(fact.statement), *_held(fact)], _until(fact))
        for fact in every
        if not serves(fact, now) or fact.fact_id in asked | outdone or not may_read(fact.readers)
    ]
    # What was said before an edit corrected it is not known any more; that turn still says it.
    found += [_closed(fact.source, (), None) for fact in every if fact.reworded and isinstance(fact.source, Source)]
    return found + [
        _closed(each.source, [bare(each.statement)], None)
        for each in held
        if each.state is not QuarantineState.ACCEPTED
    ]


def may_recall(session_id: str, turn: Turn, shut: Collection[Closed]) -> bool:
    """Whether nothing that is closed would be told."""
    words = set(terms(turn.content))
    return not any(each.tells(session_id, turn, words) for each in shut)


def _until(fact: Fact) -> int | None:
    return fact.valid_to if fact.state is FactState.SUPERSEDED else None


def _held(fact: Fact) -> list[str]:
    """What stood in a slot of one truth: the names in it, or all of it where there are none."""
    if fact.attribute is None or fact.value is None or canonical(fact.attribute).partition(":")[0] in MANY:
        return []
    return [" ".join(possible_names(fact.value)) or fact.value]


def _closed(source: Source | str | None, told: Iterable[str], until: int | None) -> Closed:
    words = tuple(frozenset(terms(each)) for each in told)
    if isinstance(source, Source):
        return Closed(source.session_id, source.seq, words, until)
    return Closed(None, None, words, until)
