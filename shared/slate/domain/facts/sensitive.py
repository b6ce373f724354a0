"""What is sensitive is kept with the person's consent only, where the tenant allows its category at all.

A caller says it by a topic (``health``, ``finance``, ``relationships``), or a rule finds it in the words. A diet, an
allergy and what somebody needs to use a service are needs to be met, not health, unless the caller says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from slate.domain.facts.guard import plain
from slate.domain.facts.model import Sensitive
from slate.domain.facts.slots import canonical

_HEALTH: Final = re.compile(
    r"\b(?:diagnos\w+|diabet\w+|cancer|tumou?r|leuk\w+|depress(?:ion|ed)|anxiety|bipolar|"
    r"schizo\w+|ptsd|adhd|autis\w+|hiv|"
    r"aids|hepatitis|asthma\w*|epilep\w+|migraines?|arthritis|parkinson\w*|alzheimer\w*|"
    r"dementia|alcoholi\w+|addict\w+|"
    r"rehab|pregnan\w+|miscarriage|abortion|ivf|infertil\w*|menopaus\w+|surgery|operated on|chemo\w*|medications?|"
    r"medicines?|prescri(?:bed|ption)s?|antidepressants?|insulin|statins?|(?:in|sees? a|my|"
    r"her|his) therap(?:y|ist)|psychiatr\w+|"
    r"psycholog(?:ist|ical)|blood pressure|cholesterol|heart (?:attack|disease|condition)|"
    r"stroke|chronic(?:ally)? \w+|"
    r"(?:mental|medical) (?:health|illness|condition|history)|illness|disease|disorder|"
    r"syndrome|suicid\w+|self[- ]harm|"
    r"eating disorder|anorexi\w+|bulimi\w+|covid\w*|std|sti|obes\w+|insomnia|disabilit(?:y|ies) benefits?|"
    r"schwanger\w*|krebs|krankheit|diagnose)\b|\u7cd6\u5c3f\u75c5|\u764c|\u6000\u5b55|\u6291\u90c1"
)
_NEEDS: Final = re.compile(
    r"\b(?:allerg\w+|intoleran\w+|vegan|vegetarian|pescatarian|halal|kosher|gluten|lactose|"
    r"dairy[- ]free|nut[- ]free|"
    r"wheelchair|screen ?reader|hearing aid|captions?|subtitles|large (?:print|text)|braille|sign language|"
    r"step[- ]free|accessib\w+|colou?r[- ]?blind|blind|deaf|hard of hearing|visually impaired|"
    r"low vision|dyslex\w+)\b"
)
_FINANCE: Final = re.compile(
    r"\b(?:salar(?:y|ies)|income|net worth|earns?(?: about| around)? [$\u20ac\u00a3]?\d[\d.,k]*|"
    r"wages?|bankrupt\w*|insolven\w+|"
    r"in debt|debts?|overdraft|foreclos\w+|mortgages?|credit (?:score|rating|history)|(?:student |personal )loans?|"
    r"bank (?:account|balance|details)|account balance|iban|savings|pension|401k|inheritance|alimony|welfare|"
    r"unemployment benefits?|"
    r"owes? [$\u20ac\u00a3]?\d[\d.,k]*|gehalt|schulden)\b|\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}\b"
)
_RELATIONS: Final = re.compile(
    r"\b(?:wife|husband|spouse|girlfriend|boyfriend|fianc[e\u00e9]+e?|ex-?(?:wife|husband|"
    r"partner|girlfriend|boyfriend)|"
    r"married|marriage|divorc\w+|separated|widow\w*|dating|in a relationship|polyamor\w*|affair|engaged to|"
    r"broke up|break-?up|love life|sexual\w*|sexuality|gay|lesbian|bisexual|queer|transgender|"
    r"is single|(?:marital|relationship) status|single (?:mother|"
    r"father|parent)|verheiratet|geschieden|ehefrau|ehemann)\b"
)
_BY_RULE: Final = ((Sensitive.HEALTH, _HEALTH), (Sensitive.FINANCE, _FINANCE), (Sensitive.RELATIONSHIPS, _RELATIONS))
_TOPIC_NAMES: Final = {
    "health": Sensitive.HEALTH,
    "medical": Sensitive.HEALTH,
    "finance": Sensitive.FINANCE,
    "finances": Sensitive.FINANCE,
    "financial": Sensitive.FINANCE,
    "relationship": Sensitive.RELATIONSHIPS,
    "relationships": Sensitive.RELATIONSHIPS,
}
NEEDS: Final = frozenset({"allergy", "diet", "accessibility", "avoids"})
"""Attributes that say a need."""


def sensitive(
    statement: str, attribute: str | None, topics: Iterable[str], value: str | None = None
) -> tuple[Sensitive, ...]:
    """The categories that need the person's consent, wherever the words stand: a slot and its value tell as much."""
    slot = "" if attribute is None else canonical(attribute).replace("_", " ")
    named = {_TOPIC_NAMES[topic] for each in (*topics, slot) if (topic := plain(each)) in _TOPIC_NAMES}
    text = plain(" | ".join(part for part in (statement, slot, value) if part))
    need = attribute is not None and canonical(attribute).partition(":")[0] in NEEDS
    found = {category for category, words in _BY_RULE if words.search(text)}
    if need or (_NEEDS.search(text) and not _HEALTH.search(_NEEDS.sub(" ", text))):
        found.discard(Sensitive.HEALTH)
    return tuple(category for category in Sensitive if category in found | named)
