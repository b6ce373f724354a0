"""A model's candidate counts as the user meant the words that it cites: not where these weigh, jest, or are dangerous.

Grounding asks whether the words were said. Here the sentence that they stand in is read as the rules read it, since
"I love it" is a quote of "Great, another broken one, I love it", and "using Postgres" of "I was thinking about it".
"""

from __future__ import annotations

from typing import NamedTuple

from slate.domain.extracting.clauses import clauses
from slate.domain.facts.grounding import holds
from slate.domain.facts.guard import guard
from slate.domain.facts.passing import HYPOTHETICAL, IRONY, hypothetical, ironic
from slate.domain.facts.spoken import spoken


class Unmeant(NamedTuple):
    """Why the words that a candidate cites do not say it."""

    code: str
    reason: str


def unmeant(content: str, quote: str) -> Unmeant | None:
    """Why a quote of this turn states nothing; nothing where one of the sentences that it stands in does."""
    found: Unmeant | None = None
    for sentence in spoken(content):
        if holds(sentence, quote) or holds(quote, sentence):
            found = _of(sentence, quote)
            if found is None:
                return None
    return found


def _of(sentence: str, quote: str) -> Unmeant | None:
    if danger := guard(sentence):
        return Unmeant(danger.code, f"of the sentence that it stands in: {danger.reason}")
    if ironic(sentence):
        return Unmeant(IRONY.code, IRONY.reason)
    told = [clause for clause in clauses(sentence) if holds(clause, quote)] or [sentence]
    return Unmeant(HYPOTHETICAL.code, HYPOTHETICAL.reason) if all(map(hypothetical, told)) else None
