"""What a session made of the facts that it was served, by what its assistant said: rules, no model, no tokens."""

from __future__ import annotations

from collections.abc import Collection

from slate.domain.forgetting.waking import about

PIVOTAL = 0.5
"""Of what a fact says, so much stands in an answer that used it."""


def used(fact_terms: Collection[str], answers: Collection[str], questions: Collection[str]) -> bool | None:
    """Whether a fact was used: True where an answer says it and the person did not, False where none says any of it."""
    said = set(fact_terms)
    if not said or not answers:
        return None
    own = said - set(questions)
    if own & set(answers) and (about(said, answers) >= PIVOTAL or own <= set(answers)):
        return True
    return None if said & set(answers) else False
