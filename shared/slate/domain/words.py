"""Words and sentences of a text, in any script, without a model of a language.

A word here is what carries content: function words are left out, endings cut, so that "budgets" and "budget" are one.
In scripts without spaces a pair of characters stands for a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

_TOKEN: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_APOSTROPHE: Final = "\u2019"
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
_NOT_AFTER: Final = r"(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|Ms|vs|No|St|Nr|ca)\.)(?<!\b(?:Mrs|e\.g|i\.e|z\.B|bzw|usw)\.)"
_SENTENCE: Final = re.compile(rf"(?<=[.!?;]){_NOT_AFTER}\s+|(?<=[\u3002\uff01\uff1f\uff1b])\s*|\n+")
_ENDINGS: Final = (
    "ingly",
    "edly",
    "ments",
    "ment",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "ed",
    "es",
    "er",
    "en",
    "ly",
    "s",
    "e",
)
_LEAST_STEM: Final = 4

STOP: Final = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being below between both
    but by can could did do does doing don done down during each else ever few first for from further get give go got
    had has have having he hello help her here hers hey hi him his how i if in into is it its just know last let like
    make many may me mean might mine more most much must my need new next no nor not now of off ok okay on once one only
    or other our out over own part please put right said same say see shall she should show so some something still such
    sure take tell than thank thanks that the their them then there these they thing think this those through to too two
    under until up us use very want was way we well were what when where which while who whom why will with would yes
    yet you your yours i'm i'd i've i'll it's that's there's let's don't doesn't didn't can't won't isn't aren't wasn't
    what's you're we're they're
    aber alle als also am an auch auf aus bei bin bis bist da das dass dein dem den der des die doch dort du ein eine
    einem einen einer eines er es für hat habe haben hatte hier ich ihr ihre im in ist ja kann kein keine können man
    mein meine mich mir mit nach nicht noch nun nur oder schon sehr sein sich sie sind so über um und uns unser von vor
    war was wenn wer wie wir wird wo zu zum zur bitte danke gibt gerne möchte will soll
    """.split()  # noqa: SIM905  # a list of words reads as words
)


def folded(text: str) -> str:
    """One form for what reads alike: compatibility forms, case."""
    return unicodedata.normalize("NFKC", text).casefold()


def tokens(text: str) -> Iterable[str]:
    """The words of a text, folded; pairs of characters where a script has no spaces."""
    # Plain ASCII has one form and spaces: most text is, and every fact is read for every query.
    return _TOKEN.findall(text.lower()) if text.isascii() else _tokens(text)


def _tokens(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(folded(text).replace(_APOSTROPHE, "'")):
        if _CJK.search(token) is None:
            yield token
            continue
        for run in _CJK.findall(token):
            yield from (run[i : i + 2] for i in range(max(len(run) - 1, 1)))


def stem(word: str) -> str:
    """A word without its ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM - 1:
            return word[: -len(ending)]
    return word


def content_words(text: str) -> list[str]:
    """The stems of the words that carry content, in their order; numbers are none."""
    return [stem(token) for token in tokens(text) if token not in STOP and not token.isdecimal()]


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; a line's end ends one too."""
    return [part for piece in _SENTENCE.split(text) if (part := piece.strip())]
