"""What a rule finds in a clause, and the rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from slate.domain.facts.model import DEFAULT_IMPORTANCE, Category

NEED: Final = 9
"""What could harm the person: always served."""
RULED: Final = 8
"""What the person will not have otherwise: always served."""
TELLING: Final = 7
MINOR: Final = 4


class Draft(NamedTuple):
    """A statement that a clause makes."""

    statement: str
    category: Category
    attribute: str | None = None
    value: str | None = None
    importance: int = DEFAULT_IMPORTANCE
    withdraws: bool = False
    dated: bool = False
    """It holds for the time that the clause names, and only if it names one."""
    topics: tuple[str, ...] = ()


Builder = Callable[[re.Match[str]], Iterable[Draft]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: how a clause begins, and what that says."""

    name: str
    build: Builder
    says: tuple[re.Pattern[str], ...]

    def found(self, clause: str) -> Sequence[Draft]:
        """What this rule finds in a clause."""
        match = next((match for says in self.says if (match := says.match(clause))), None)
        return [] if match is None else list(self.build(match))


def rule(name: str, build: Builder, *patterns: str) -> Rule:
    """A rule; one of its patterns stands at the beginning of a clause."""
    return Rule(name, build, tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns))


def withdrawn(attribute: str, value: str | None, statement: str) -> Draft:
    """Something holds no longer; without a value, whatever stands there."""
    return Draft(statement, Category.OTHER, attribute, value, withdraws=True)


_BOUNDARY: Final = re.compile(
    r"\s*(?:[;:(\u2014\u2026]|\s-\s|\.\.\.|\b(?:because|since|so that|so|although|though|"
    r"when(?:ever)?|while|if|unless|but|"
    r"which|who|that|where|as (?:it|they|i|we)|even|except|thanks|except|rather)\b).*$",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"(?:^|[\s,]+)(?:now|nowadays|any ?more|any longer|no more|again|these days|at the moment|"
    r"currently|right now|today|yesterday|"
    r"tonight|recently|lately|(?:last|this|next) (?:week(?:end)?|month|year|night|morning|"
    r"spring|summer|autumn|fall|winter|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:a|one|two|three|four|five|six|\d+|a few|"
    r"a couple of) (?:day|week|month|year)s? ago|"
    r"too|as well|also|please|by the way|btw|instead|actually|usually|mostly|in general|generally|thank you|a lot|"
    r"very much|so much|the most|from now on|in (?:the )?future|for (?:years|everything|"
    r"a living|almost everything)|every day|"
    r"daily|all the time|always|already|just|in (?:january|february|march|april|may|june|july|"
    r"august|september|october|"
    r"november|december)(?: \d{4})?|in \d{4}|fyi|for short|full[- ]time|part[- ]time|"
    r"permanently|for good|eventually|"
    r"(?:with|together with) (?:my|our) [\w ]+|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?)\W*$",
    re.IGNORECASE,
)
_EDGES: Final = " \t.,;:!?\"'`-()[]"
_EMPTY: Final = re.compile(
    r"^(?:it|its|that|this|these|those|them|him|her|you|me|us|there|here|one|ones|something|"
    r"anything|everything|nothing|"
    r"some(?:one|body)|any(?:one|body)|stuff|things?|both|all|either|neither|same|the same|"
    r"another|others?|what|how|why|"
    r"when|where|which|to|a|an|the|in|on|at|of|my|your|his|their|not|out|up|down|away|off|"
    r"more|less|most|so|too)\b(?: one)?$",
    re.IGNORECASE,
)
_POINTS: Final = re.compile(
    r"^(?:it|that|this|these|those|your|how|what|when|where|why|which|who|him|them|you|"
    r"the (?:way|idea|fact|one|ones|first|"
    r"second|third|last|other|previous|latest|red|blue|green|black|white|new|old|same))\b",
    re.IGNORECASE,
)
MOST_WORDS: Final = 8
_COMMA: Final = re.compile(r",(?!\d{3})")
_LIST: Final = re.compile(
    r"\s*,\s*(?:(?:and|or|nor|as well as|plus)\s+)?|\s+(?:and|or|nor|as well as|plus|&)\s+", re.IGNORECASE
)


def phrase(text: str | None, words: int = MOST_WORDS, *, comma: bool = False) -> str:
    """The object of a clause: up to where the clause goes on, without what only says when; empty where it is none."""
    said = _BOUNDARY.sub("", text or "")
    if not comma:
        said = _COMMA.split(said, maxsplit=1)[0]
    while (shorter := _TAIL.sub("", said)) != said:
        said = shorter
    said = " ".join(said.strip(_EDGES).split())
    if not said or len(said.split()) > words or len(said) > 100 or _EMPTY.match(said) or _POINTS.match(said):  # noqa: PLR2004  # no name is as long
        return ""
    return said


def listed(text: str | None, words: int = 3) -> list[str]:
    """The things that a clause lists; none of them where one is not a short name."""
    whole = phrase(text, 30, comma=True)
    parts = [phrase(part, words) for part in _LIST.split(whole)] if whole else []
    return parts if all(parts) else [part for part in parts[:1] if part]


def named(match: re.Match[str], text: str | None = None, words: int = 4) -> str:
    """A name of a person, a place, a company: it has its capital, or is given one where nothing said has any."""
    said = phrase(match["x"] if text is None else text, words)
    if re.match(r"(?:the )?[^\W\d_]", said) is None:
        return ""
    if match.string.islower():
        return capitalised(said)
    return said if re.match(r"(?:[Tt]he )?(?:[^\W\d_a-z]|[a-z]{1,2}[A-Z])", said) else ""


def capitalised(text: str) -> str:
    """Words with capitals, but for the small ones."""
    small = {"of", "the", "and", "de", "la", "du", "am", "an", "der", "von", "van", "in", "on", "upon"}
    return " ".join(word if word in small else word[:1].upper() + word[1:] for word in text.split())


def sentence(text: str) -> str:
    """A statement as it is kept: it begins with a capital, and ends without a stop."""
    said = " ".join(text.split()).strip(" .,;!")
    return said[:1].upper() + said[1:]


def several(things: Iterable[str], make: Callable[[str], Draft]) -> Iterator[Draft]:
    """A draft for each."""
    return (make(thing) for thing in things)
