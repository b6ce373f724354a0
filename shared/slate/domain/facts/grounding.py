"""A model's candidate cites a turn of the user and words that stand in it; otherwise it is not grounded.

A model may invent, and may be told to by what it reads: what it says of a person counts only where the person's own
words are shown. Words are compared without case, width, quotation marks and runs of spaces, whole words only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, NamedTuple

from slate.domain.facts.spoken import spoken
from slate.domain.sessions import Speaker

LEAST_QUOTE: Final = 3
"""Characters of a quote, at least; in scripts without spaces these are words already."""
_APART: Final = re.compile(r"[\s\"'`.,;:!?()\u2018\u2019\u201c\u201d\u2026]+")


class Said(NamedTuple):
    """A turn that can be cited."""

    role: Speaker
    content: str


def grounded(turns: Mapping[int, Said], seq: int | None, quote: str | None) -> str | None:
    """Why a citation does not hold; nothing where it does."""
    if seq is None or not quote or len(_plain(quote)) < LEAST_QUOTE:
        return "it cites no turn, or no words of it"
    turn = turns.get(seq)
    if turn is None:
        return "it cites a turn that is not there"
    if turn.role is not Speaker.USER:
        return "the turn that it cites is not the user's"
    if not holds(turn.content, quote):
        return "its quote does not stand in the turn that it cites"
    if not any(holds(sentence, quote) or holds(quote, sentence) for sentence in spoken(turn.content)):
        return "its quote is an example, a document or somebody else's words"
    return None


def holds(text: str, quote: str) -> bool:
    """Whether these words stand in a text, as words are compared here."""
    return f" {_plain(quote)} " in f" {_plain(text)} " or (_unspaced(quote) and _plain(quote) in _plain(text))


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_APART.sub(" ", folded).split())


def _unspaced(text: str) -> bool:
    return any("\u3040" <= c <= "\u9fff" or "\u0e00" <= c <= "\u0e7f" for c in text)
