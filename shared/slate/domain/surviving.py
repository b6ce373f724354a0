"""What may not be lost when turns are digested: numbers, amounts, dates, negations, exceptions, and which one is meant.

A digest is compared with its source, sentence by sentence. What a sentence says of these must stand together in one
line of the digest, with enough of the sentence's own words to be about the same thing; otherwise the sentence is kept
word for word. Sentences that differ in their numbers alone are kept as one, with the other numbers after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from slate.domain.words import content_words, folded, sentences

SHARED_WORDS: Final = 1 / 3
"""So much of a sentence's own words must stand beside what it checks."""


class Kind(StrEnum):
    """What is checked; an earlier kind is kept before a later one where not all can be."""

    EXCEPTION = "exception"
    AMOUNT = "amount"
    DATE = "date"
    NEGATION = "negation"
    REFERENT = "referent"
    NUMBER = "number"


class Checked(NamedTuple):
    """One thing that a sentence says, in the one form in which it is compared."""

    kind: Kind
    form: str


_MONTH: Final = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    r"sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
_NUMBER: Final = r"\d+(?:[.,'\u00a0\u202f]\d+)*"
_CURRENCY: Final = r"[$\u20ac\u00a3\u00a5\u20b9]"
_UNIT: Final = r"(?:usd|eur|gbp|chf|jpy|dollars?|euros?|pounds?|yen|cents?|%|percent|prozent|k\b|m\b|bn\b|元|块)"
_AMOUNT: Final = re.compile(rf"{_CURRENCY}\s?{_NUMBER}(?:\s?(?:k|m|bn)\b)?|{_NUMBER}\s?(?:{_CURRENCY}|{_UNIT})")
_DATE: Final = re.compile(
    rf"\b\d{{4}}-\d{{1,2}}-\d{{1,2}}\b|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|\b\d{{1,2}}:\d{{2}}\b|"
    rf"\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH}\b(?:\s+\d{{4}}\b)?|\b{_MONTH}\s+\d{{4}}\b|"
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b|"
    r"\b(?:tomorrow|today|tonight|yesterday|morgen|heute|gestern)\b|\d{1,2}月\d{1,2}[日号]"
)
_PLAIN: Final = re.compile(rf"(?<![\w.]){_NUMBER}(?![\w])|(?<=[a-z#-]){_NUMBER}|{_NUMBER}(?=[a-z])")
_WORD_NUMBERS: Final = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|half|twice|"
    r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend)\b"
)
_EXCEPTION: Final = re.compile(
    r"\b(?:except(?:ion(?:s|al)?|ing|ed)?|exclud(?:e|es|ed|ing)|exclusive|unless|other than|apart from|but not|"
    r"only if|only|until|limited to|at most|at least|no more than|ausser|ausgenommen|ausschliesslich|es sei denn|nur|"
    r"höchstens|mindestens)\b|除了|除非|只"
)
_NEGATION: Final = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|forbidden|prohibited|allerg(?:y|ic|ies)|"
    r"nicht|nie|niemals|kein(?:e|en|em|er|es)?|ohne|verboten|allergisch|allergie)\b|\b\w+n't\b|不|没|禁止|过敏"
)
_COLOUR: Final = (
    r"(?:red|blue|green|yellow|black|white|grey|gray|orange|purple|pink|brown|beige|silver|gold(?:en)?|"
    r"rote[nsr]?|blaue[nsr]?|grüne[nsr]?|gelbe[nsr]?|schwarze[nsr]?|weisse[nsr]?)"
)
_REFERENT: Final = re.compile(
    rf"\b{_COLOUR}\b|\b(?:the|that|this)\s+(?P<which>(?!(?:same|other|only|new)\b)\w+)\s+ones?\b|"
    r"\b(?:first|second|third|fourth|fifth|smaller|larger|bigger|cheaper|cheapest|small|medium|large|left|right)\b"
    r"(?=\s+(?:one|option|version|item|size|model|plan|offer)\b)"
)
_LINE: Final = re.compile(r"\n+")


class _Line(NamedTuple):
    says: frozenset[Checked]
    words: frozenset[str]


def checked(sentence: str) -> frozenset[Checked]:
    """All that a sentence says of what may not be lost."""
    return _parted(sentence).says


def _parted(sentence: str) -> _Line:
    """What it says of these, and the words beside them: what it is about."""
    text = folded(sentence).replace("\u2019", "'")
    found: set[Checked] = set()
    text = _take(text, _AMOUNT, Kind.AMOUNT, found)
    text = _take(text, _DATE, Kind.DATE, found)
    text = _take(text, _EXCEPTION, Kind.EXCEPTION, found)
    text = _take(text, _NEGATION, Kind.NEGATION, found)
    text = _take(text, _REFERENT, Kind.REFERENT, found)
    text = _take(text, _PLAIN, Kind.NUMBER, found)
    text = _take(text, _WORD_NUMBERS, Kind.NUMBER, found)
    return _Line(frozenset(found), frozenset(content_words(text)))


def figures(sentence: str, kind: Kind) -> list[str]:
    """The amounts or the dates of a sentence, as they are written."""
    pattern = _WRITTEN[kind]
    return [match.group().strip() for match in pattern.finditer(sentence)]


def _take(text: str, pattern: re.Pattern[str], kind: Kind, found: set[Checked]) -> str:
    """Note every match, and leave a gap where it stood, so that a date's day is not a number once more."""
    for match in pattern.finditer(text):
        found.add(Checked(kind, _form(match.groupdict().get("which") or match.group())))
    return pattern.sub(" \u0000 ", text)


def _form(text: str) -> str:
    """The same whether thousands are parted or not."""
    parted = re.sub(r"(?<=\d)[,'\u00a0\u202f](?=\d{3}(?!\d))", "", text)
    return re.sub(r"\s+", " ", parted).strip(" .")


class Digest:
    """The lines of a digest, ready to be asked what they still say."""

    def __init__(self, text: str) -> None:
        self._lines: list[_Line] = []
        self._known: set[Checked] = set()
        for line in _LINE.split(text):
            self.add(line)

    def add(self, line: str) -> None:
        """One more line of it."""
        parted = _parted(line)
        self._lines.append(parted)
        self._known |= parted.says

    def says(self, sentence: str) -> bool:
        """Whether all that the sentence says of what may not be lost stands in one line, about the same thing."""
        wanted, own = _parted(sentence)
        if not wanted <= self._known:
            return False
        need = len(own) * SHARED_WORDS
        return not wanted or any(wanted <= line.says and len(own & line.words) >= need for line in self._lines)


def missing(digest: str, source: Iterable[str]) -> list[str]:
    """The sentences of the source that say what the digest does not, in their order, each once."""
    told = Digest(digest)
    lost: dict[str, None] = {}
    for text in source:
        lost |= dict.fromkeys(sentence for sentence in sentences(text) if not told.says(sentence))
    return list(lost)


_FIGURE: Final = re.compile(f"{_AMOUNT.pattern}|{_DATE.pattern}|{_NUMBER}", re.IGNORECASE)
_WRITTEN: Final = {
    Kind.AMOUNT: re.compile(_AMOUNT.pattern, re.IGNORECASE),
    Kind.DATE: re.compile(_DATE.pattern, re.IGNORECASE),
}
_ALIKE_FROM: Final = 3


def gathered(lost: Sequence[str]) -> list[str]:
    """Sentences that differ in their figures alone as one: the first, and the figures of the others after it."""
    shapes: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(lost):
        shapes.setdefault(_FIGURE.sub("0", sentence), []).append(sentence)
    return [line for alike in shapes.values() for line in _as_one(alike)]


def _as_one(alike: Sequence[str]) -> list[str]:
    if len(alike) < _ALIKE_FROM:
        return list(alike)
    others = "; ".join(", ".join(_FIGURE.findall(sentence)) for sentence in alike[1:])
    return [f"{alike[0]} (also with: {others})"]


def weight(sentence: str) -> tuple[int, int]:
    """What is kept first where not all can be: by the gravest kind that it holds, then by how much it says."""
    says = checked(sentence)
    order = list(Kind)
    return min((order.index(each.kind) for each in says), default=len(order)), -len(says)
