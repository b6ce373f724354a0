"""May a candidate become a fact at all: the rules before its slot is looked at, in their order, each with its reason.

Guard first (what is dangerous is quarantined even if it would be refused), then what is no lasting statement, then
what the tenant does not want, then what needs the person's consent.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from slate.domain.facts.guard import guard, plain
from slate.domain.facts.model import KEPT_FROM, Candidate, Category, Consents, Op, Sensitive
from slate.domain.facts.passing import passing
from slate.domain.facts.sensitive import sensitive


class Policy(NamedTuple):
    """What a tenant lets be known about people."""

    sensitive: Collection[Sensitive] = tuple(Sensitive)
    """Those sensitive categories that may be kept with consent."""
    closed: Collection[Category] = ()
    """Categories of which nothing is kept."""
    refused: Collection[str] = ()
    """Words and phrases; what contains one is not kept."""


OPEN_POLICY = Policy()


class Screened(NamedTuple):
    """What a rule says: go on, or what becomes of the candidate and why."""

    op: Op | None
    code: str | None
    reason: str | None
    sensitive: tuple[Sensitive, ...] = ()


def screen(candidate: Candidate, policy: Policy, consents: Consents, *, reviewed: bool = False) -> Screened:
    """The first rule that holds it up; one that a person has ``reviewed`` is not guarded again."""
    if not reviewed and (danger := guard(candidate.statement, candidate.attribute, candidate.value)):
        return Screened(Op.QUARANTINED, danger.code, danger.reason)
    if candidate.withdraws:
        return Screened(None, None, None)
    over = passing(candidate.statement, candidate.category, dated=candidate.expires_at is not None)
    if over:
        return Screened(Op.REFUSED, over.code, over.reason)
    if unwanted := _unwanted(candidate, policy):
        return unwanted
    return _consented(candidate, policy, consents)


def trivial(candidate: Candidate) -> bool:
    """Whether it is too unimportant to be kept."""
    return candidate.importance < KEPT_FROM


def _unwanted(candidate: Candidate, policy: Policy) -> Screened | None:
    if candidate.category in policy.closed:
        return Screened(Op.REFUSED, "category_closed", "the tenant keeps nothing of this category")
    told = " | ".join(part for part in (candidate.statement, candidate.attribute, candidate.value) if part)
    text = f" {plain(told)} "
    if any(plain(word) in text for word in policy.refused if word.strip()):
        return Screened(Op.REFUSED, "tenant_rule", "a rule of the tenant refuses it")
    return None


def _consented(candidate: Candidate, policy: Policy, consents: Consents) -> Screened:
    found = sensitive(candidate.statement, candidate.attribute, candidate.topics, candidate.value)
    for category in found:
        if category not in policy.sensitive:
            return Screened(Op.REFUSED, "sensitive_closed", f"the tenant keeps nothing about {category}", found)
        if not consents.covers(category):
            return Screened(Op.REFUSED, "no_consent", f"the person has not consented to keeping {category}", found)
    return Screened(None, None, None, found)
