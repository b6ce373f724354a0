"""Reads a user's turn into candidates: its own statements, clause by clause, each by the first rule that finds it.

What would be dangerous to keep is found too, whole, so that it is quarantined and can be looked at. What is asked to
be remembered in so many words and that no rule reads is kept as it was said. Everything else yields nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from slate.domain.extracting import about_needs, about_plans, about_self, about_tastes, about_work
from slate.domain.extracting.clauses import clauses, lead_off
from slate.domain.extracting.drafts import Draft, Rule, sentence
from slate.domain.facts.dates import span
from slate.domain.facts.guard import guard, redacted
from slate.domain.facts.model import DEFAULT_CONFIDENCE, Candidate, Category, Source
from slate.domain.facts.passing import hypothetical, ironic, transient
from slate.domain.facts.spoken import readable, spoken

RULES: Final[tuple[Rule, ...]] = (
    *about_needs.RULES,
    *about_plans.RULES,
    *about_self.RULES,
    *about_work.RULES,
    *about_tastes.RULES,
)
BY: Final = "rules 1"
OWN_CONFIDENCE: Final = DEFAULT_CONFIDENCE
"""As sure as what a caller posts without saying how sure: of the two, the newer wins."""
MOST: Final = 50
"""Candidates of one turn."""
_REMEMBER: Final = re.compile(
    r"^(?:please |could you |can you |also |and )*(?:remember|note|keep in mind|don't forget|"
    r"make a note|save|store|memori[sz]e)"
    r"(?: for (?:later|next time|the future))?\s*(?:that\b|:)\s*(?P<x>.+)$",
    re.IGNORECASE,
)
_FORGET: Final = re.compile(
    r"^(?:please |could you |can you |also |and |now )*(?:forget|delete|erase|remove from (?:your )?memory)"
    r" (?:that |the fact that )(?P<x>.+)$",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(
    r"\b(?:until|till|through|for the next|temporarily|this (?:week|month|summer|year))\b", re.IGNORECASE
)
_ANY_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f])|\n+")


class Turn(NamedTuple):
    """A user's turn, and where it stands."""

    content: str
    at: int
    session_id: str | None = None
    seq: int | None = None
    agent: str | None = None


def extract(turn: Turn) -> list[Candidate]:
    """What the person says of herself in a turn, in the order in which it is said."""
    found: dict[tuple[str, str | None, bool], Candidate] = {}
    for candidate in (*_dangerous(turn), *_stated(turn)):
        found.setdefault((candidate.statement, candidate.attribute, candidate.withdraws), candidate)
    return list(found.values())[:MOST]


def _dangerous(turn: Turn) -> Iterator[Candidate]:
    """Sentences that the guard stops, wherever they stand but in code."""
    for part in _ANY_SENTENCE.split(readable(turn.content)):
        said = part.strip()
        if said and (danger := guard(said)) is not None and _claims(said, danger.code):
            draft = Draft(sentence(redacted(said))[:1_000], Category.OTHER)
            yield _candidate(turn, draft, said, f"guard.{danger.code}")


def _claims(said: str, code: str) -> bool:
    """Whether a sentence is about the person or the agent, and no question: whoever asks for access claims none."""
    if code == "markup":
        return False  # shown, not said: it yields nothing anyway
    if said.rstrip().endswith("?"):
        return code == "secret"
    return (
        code != "authority_claim"
        or re.search(r"\b(?:i|i'm|me|my|we|you|remember|note|store|user)\b", said, re.IGNORECASE) is not None
    )


def _stated(turn: Turn) -> Iterator[Candidate]:
    for said in spoken(turn.content):
        if ironic(said) or guard(said) is not None:
            continue
        if taken_back := _FORGET.match(said):
            for clause in clauses(taken_back["x"]):
                yield from (each.model_copy(update={"withdraws": True}) for each in _read(turn, clause, said))
            continue
        parts = clauses(said)
        read = False
        for clause in parts:
            for candidate in _read(turn, clause, said):
                read = True
                yield candidate
        if not read and (asked := _REMEMBER.match(said)) and _keepable(asked["x"]):
            yield _candidate(turn, Draft(sentence(lead_off(asked["x"])), Category.OTHER, importance=6), said, "asked")


def _keepable(text: str) -> bool:
    return len(text.split()) >= 2 and not (hypothetical(text) or transient(text))  # noqa: PLR2004  # a statement has two words


def _read(turn: Turn, clause: str, said: str) -> Iterator[Candidate]:
    if hypothetical(clause):
        return
    for rule in RULES:
        drafts = rule.found(clause)
        if not drafts:
            continue
        passes = transient(clause)
        for draft in drafts:
            if passes and not (draft.dated or draft.withdraws):
                continue
            candidate = _dated(turn, draft, clause, said, rule.name)
            if candidate is not None:
                yield candidate
        return


def _dated(turn: Turn, draft: Draft, clause: str, said: str, name: str) -> Candidate | None:
    """With its end where it has one; a plan without a time that can be resolved is not kept."""
    if draft.withdraws or not (draft.dated or _ENDS.search(clause)):
        return _candidate(turn, draft, said, name)
    when = span(clause, turn.at)
    if when is None:
        return None if draft.dated else _candidate(turn, draft, said, name)
    return _candidate(turn, draft, said, name, expires_at=when.end)


def _candidate(turn: Turn, draft: Draft, said: str, name: str, expires_at: int | None = None) -> Candidate:
    return Candidate(
        statement=draft.statement,
        category=draft.category,
        attribute=draft.attribute,
        value=draft.value,
        importance=draft.importance,
        confidence=OWN_CONFIDENCE,
        topics=draft.topics,
        observed_at=turn.at,
        expires_at=expires_at,
        source=Source(session_id=turn.session_id, seq=turn.seq, agent=turn.agent),
        quote=said[:1_000],
        own=True,
        withdraws=draft.withdraws,
        rule=name,
    )
