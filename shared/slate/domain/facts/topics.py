"""What a statement is about, by its words, where nobody says: coarse; a question looks there first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from slate.domain.facts.guard import plain
from slate.domain.facts.slots import canonical

_WORDS: Final = {
    "billing": r"bill(?:s|ing|ed)?|invoices?|payments?|pays?|refunds?|charges?|subscriptions?|receipts?|credit card",
    "travel": r"travel\w*|trips?|flights?|fly(?:ing)?|airlines?|airports?|hotels?|seats?|trains?|vacation|holidays?|"
    r"passport|visa|layovers?|luggage",
    "food": r"eats?|foods?|cook\w*|meals?|recipes?|restaurants?|diet\w*|vegan|vegetarian|allerg\w+|drinks?|coffee|tea|"
    r"breakfast|lunch|dinner|peanuts?|gluten|halal|kosher|meat|wine|beer",
    "work": r"works?|employer|job|role|team|manager|boss|office|project|colleagues?|meetings?|reports to|company",
    "home": r"lives?|home|house|flat|apartment|address|moved|neighbou?rs?|rent|garden",
    "shipping": r"ship(?:s|ping|ped)?|parcels?|deliver\w*|packages?|courier",
    "software": r"software|code|program\w*|database|framework|laptop|editor|deploy\w*|api|python|java|rust|postgres\w*|"
    r"linux|windows|mac|dark mode|light mode|app",
    "schedule": r"schedule\w*|calendar|time ?zone|mornings?|evenings?|weekends?|deadline|appointments?",
    "language": r"languages?|speaks?|translat\w*|english|german|french|spanish|danish|chinese",
    "family": r"children|kids?|sons?|daughters?|mother|father|brothers?|sisters?|parents|family",
    "pets": r"dogs?|cats?|pets?|puppy|kitten|hamster|rabbit",
    "contact": r"emails?|phone|sms|texts?|slack|call(?:s|ed)?|contact\w*|whatsapp",
    "leisure": r"plays?|hobb\w+|music|films?|movies?|books?|sports?|football|tennis|running|hiking|guitar|cello|games?",
    "shopping": r"buys?|bought|orders?|sizes?|brands?|shoes?|shopping",
}
_PATTERNS: Final = {topic: re.compile(rf"\b(?:{words})\b") for topic, words in _WORDS.items()}
_OF_SLOT: Final = {
    "city": ("home",),
    "address": ("home", "shipping"),
    "employer": ("work",),
    "role": ("work",),
    "team": ("work",),
    "project": ("work",),
    "diet": ("food",),
    "allergy": ("food",),
    "avoids": ("food",),
    "tool": ("software",),
    "timezone": ("schedule",),
    "channel": ("contact",),
}
MOST: Final = 4


def topics_of(statement: str, attribute: str | None, given: Iterable[str] = ()) -> tuple[str, ...]:
    """The topics given, or else those that the slot and the words tell."""
    named = tuple(dict.fromkeys(given))
    if named:
        return named
    of_slot = () if attribute is None else _OF_SLOT.get(canonical(attribute).partition(":")[0], ())
    text = plain(statement)
    found = [topic for topic, words in _PATTERNS.items() if words.search(text)]
    return tuple(dict.fromkeys([*of_slot, *found]))[:MOST]
