"""What the person decided, is going to do, has to do, and the people and animals around her."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from slate.domain.extracting.drafts import TELLING, Draft, Rule, named, phrase, rule, sentence
from slate.domain.facts.model import DEFAULT_IMPORTANCE, Category

DECISION: Final = Category.DECISION
VOLATILE: Final = Category.VOLATILE
OTHER: Final = Category.OTHER

_RELATION: Final = (
    r"(?P<who>(?:best )?friend|son|daughter|kid|child|baby|mother|mom|mum|father|dad|brother|"
    r"sister|grandmother|grandfather|cousin|uncle|aunt|"
    r"nephew|niece|roommate|flatmate|neighbou?r|colleague|co-?worker|assistant|landlord|"
    r"doctor|dentist|accountant|lawyer|dog|cat|puppy|"
    r"kitten|horse|parrot|rabbit|hamster|pet|car|boat|wife|husband|girlfriend|boyfriend|fianc\S+e?|partner|spouse)"
)
_PET: Final = r"(?:dogs?|cats?|puppy|kitten|horses?|parrots?|rabbits?|hamsters?|goldfish|turtles?|snakes?|pets?)"
_KIN: Final = r"(?:kids?|children|sons?|daughters?|brothers?|sisters?|siblings|grandchildren|twins)"
_SHOWN: Final = re.compile(
    r"(?:that|the best|this|these|those|him|her|them|my (?:favou?rite|best)|to)\b", re.IGNORECASE
)
_POINTS: Final = re.compile(r"(?:on )?(?:it|that|this|one|that one|this one|them)", re.IGNORECASE)
_COUNT: Final = r"(?:an?|one|two|three|four|five|six|\d+|no)"


def _decided(match: re.Match[str]) -> Iterator[Draft]:
    what = match["x"].strip(" .,;!")
    if re.match(
        r"(?:it|that|this|them|what|if|whether|how|not sure)\b$|(?:if|whether|what|how)\b", what, re.IGNORECASE
    ):
        return
    if match["verb"].lower() in ("chose", "chosen", "picked") and _SHOWN.match(what):
        return
    if 2 <= len(what) <= 200 and not _POINTS.fullmatch(what):  # noqa: PLR2004  # a line
        verb = match["verb"].lower()
        done = {
            "go with": "Goes with",
            "going with": "Goes with",
            "chose": "Chose",
            "agreed": "Agreed",
            "picked": "Chose",
        }.get(verb, "Decided")
        yield Draft(sentence(f"{done} {_link(done, what)}"), DECISION, importance=TELLING)


def _link(done: str, what: str) -> str:
    bare = re.sub(r"^(?:with|for)\s+", "", what) if done in ("Goes with", "Chose") else what
    return bare if len(bare.split()) <= 30 else " ".join(bare.split()[:30])  # noqa: PLR2004  # a line


def _going(match: re.Match[str]) -> Iterator[Draft]:
    whole = " ".join(match["x"].split()).strip(" .,;!")
    to_a_place = re.match(r"(?:(?:back |over |down |up |out )?(?:to|for|in) )?(?:the )?[A-Z]", whole) is not None
    if to_a_place and len(whole.split()) <= 14:  # noqa: PLR2004  # a plan said in a line
        yield Draft(
            sentence(f"is {match['verb'].lower()} {whole}"), VOLATILE, importance=6, dated=True, topics=("travel",)
        )


def _away(match: re.Match[str]) -> Iterator[Draft]:
    what = " ".join(match["x"].split()).strip(" .,;!")
    yield Draft(sentence(f"is {what}"), VOLATILE, importance=6, dated=True, topics=("schedule",))


def _has_to(match: re.Match[str]) -> Iterator[Draft]:
    what = " ".join(match["x"].split()).strip(" .,;!")
    if len(what.split()) <= 20:  # noqa: PLR2004  # a task said in a line
        yield Draft(sentence(f"has to {what}"), Category.TASK, importance=6, dated=True)


def _event(match: re.Match[str]) -> Iterator[Draft]:
    what = " ".join(match["x"].split()).strip(" .,;!")
    yield Draft(sentence(f"has {what}"), Category.TASK, importance=6, dated=True, topics=("schedule",))


def _called(match: re.Match[str]) -> Iterator[Draft]:
    who = match["who"].lower()
    if name := named(match, re.sub(r"\s+and\s.*$", "", match["x"]), 3):
        yield Draft(f"{who.capitalize()} is called {name}", OTHER, f"name of {who}", name, 6)


def _has(match: re.Match[str]) -> Iterator[Draft]:
    what = " ".join(f"{match['count']} {match['x']}".split()).lower()
    name = named(match, match["name"], 3) if match["name"] else ""
    said = f"Has {what}" + (f" called {name}" if name else "")
    kind = "pet" if re.search(_PET, match["x"], re.IGNORECASE) else "family"
    yield Draft(said, OTHER, None, None, DEFAULT_IMPORTANCE, topics=("pets" if kind == "pet" else "family",))


def _illness(match: re.Match[str]) -> Iterator[Draft]:
    if what := phrase(match["x"], 6):
        yield Draft(
            f"Was diagnosed with {what}" if match["how"] else f"Has {what}",
            OTHER,
            f"health:{what.lower()}",
            what.lower(),
            6,
            topics=("health",),
        )


def _salary(match: re.Match[str]) -> Iterator[Draft]:
    if what := phrase(match["x"], 5, comma=True):
        yield Draft(f"Earns {what}", VOLATILE, "salary", what, topics=("finance",))


def _marital(match: re.Match[str]) -> Iterator[Draft]:
    state = re.sub(r"^got ", "", match["x"].lower())
    yield Draft(f"Is {state}", OTHER, "marital_status", state, topics=("relationships",))


_DAY: Final = (
    r"(?=.*\b(?:january|february|march|april|may|june|july|august|september|october|november|"
    r"december|jan|feb|apr|jun|jul|aug|sept?|oct|nov|"
    r"dec|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|week|weekend|"
    r"month|year|summer|winter|spring|autumn|fall|"
    r"christmas|easter|days?|\d{4}-\d\d-\d\d|quarter)\b)"
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "decision",
        _decided,
        r"(?:I|we|I've|we've|I have|we have)(?: both| all)?(?: have| just)? (?P<verb>decided|"
        r"settled|agreed|chose|chosen|picked)\s+(?P<x>(?:to|on|that|against|for|not to)\s.+|.+)$",
        r"(?:let's|I'll|we'll|we will|I will) (?P<verb>go with)\s+(?P<x>.+)$",
        r"(?:I'm|we're) (?P<verb>going with)\s+(?P<x>.+)$",
        r"(?:the|my|our) (?:final )?(?P<verb>decision)(?: is|'s)(?: to)?\s+(?P<x>.+)$",
    ),
    rule(
        "plan.going",
        _going,
        rf"(?:I'm|we're|I'll be|we'll be|you're) (?P<verb>going|travell?ing|flying|heading|driving|"
        rf"moving|relocating|sailing)\s+{_DAY}(?P<x>.+)$",
        rf"(?:I'm|we're|I'll be|we'll be|you're) (?P<verb>visiting|staying in|staying at|attending|"
        rf"in)\s+{_DAY}(?P<x>.+)$",
    ),
    rule(
        "plan.away",
        _away,
        rf"(?:I'm|we're|I'll be|we'll be) (?P<x>(?:on (?:vacation|holiday|leave|parental leave|"
        rf"maternity leave|paternity leave|a trip|sabbatical)|away|out of (?:the )?office|abroad|"
        rf"off(?: work)?|unavailable|staying with [\w ]+)\b{_DAY}.*)$",
    ),
    rule(
        "task",
        _has_to,
        rf"(?:I|we) (?:have to|need to|must|'ve got to|have got to|"
        rf"should)\s+{_DAY}(?P<x>.+?\b(?:by|before|until|on|due|next|this|tomorrow)\b.+)$",
        rf"remind me to\s+{_DAY}(?P<x>.+)$",
    ),
    rule(
        "event",
        _event,
        rf"(?:I|we) have\s+{_DAY}(?P<x>(?:an?|my|our) (?:\w+ ){{0,3}}?(?:appointment|meeting|"
        rf"interview|exam|deadline|flight|wedding|conference|presentation|call|party|trip|demo|"
        rf"review|surgery|concert|race)\b.+)$",
    ),
    rule(
        "named",
        _called,
        rf"(?:my|our) (?:\w+ )?{_RELATION}(?:'s name(?: is|'s)| is (?:called|named)|'s called|"
        rf", whose name is)\s+(?P<x>.+)$",
    ),
    rule(
        "has",
        _has,
        rf"(?:I|we)(?: have|'ve got| own|'ve) (?P<count>{_COUNT})\s+(?P<x>(?:\w+ )?(?:{_PET}|"
        rf"{_KIN}))(?:,? (?:called|named|whose name is)\s+(?P<name>.+))?$",
    ),
    rule(
        "health",
        _illness,
        r"I(?:'ve| have)?(?: was| been|'m| am)* (?P<how>diagnosed with)\s+(?P<x>.+)$",
        r"I (?P<how>)?(?:have|suffer from|live with)\s+(?P<x>(?:type [12] )?(?:diabetes|asthma|"
        r"epilepsy|adhd|depression|anxiety|arthritis|migraines?|high blood pressure|hypertension|"
        r"cancer|hiv|multiple sclerosis|crohn'?s disease|insomnia)\b.*)$",
    ),
    rule(
        "salary",
        _salary,
        r"(?:my salary(?: is|'s)|I (?:earn|make))(?: about| around)?\s+"
        r"(?P<x>[$\u20ac\u00a3]?\s?\d.+)$",
    ),
    rule(
        "marital",
        _marital,
        r"I'm (?:happily |recently |newly )?(?P<x>married|divorced|single|engaged|widowed|"
        r"separated)\b(?!\s+(?:out|to my work|handed|bed|room))",
        r"I (?P<x>got (?:married|divorced|engaged))\b",
    ),
)
