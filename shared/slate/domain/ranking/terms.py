"""What of a text is matched: stems of the words that carry content, and signs such as emoji.

Where a script has no spaces, pairs of characters stand for words. Nothing that a query says is a pattern.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Final

from slate.domain.ranking.stems import stemmed
from slate.domain.words import STOP, sentences, tokens

MAX_TERMS: Final = 3_000
"""Of a text; a long tool output must not take seconds."""
_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*")
_SIGN: Final = frozenset({"So", "Sk", "Sc"})
_POSSESSIVE: Final = re.compile(r"['\u2019]s$")
_LEAST_NAME: Final = 2


def terms(text: str) -> list[str]:
    """The terms of a text, in their order; what appears twice stands twice."""
    found = [stemmed(token) for token in tokens(text) if token not in STOP]
    return [*found[:MAX_TERMS], *_signs(text)]


def asked(query: str) -> list[str]:
    """The terms of a query; of one that says nothing else, those words that are usually left out."""
    return terms(query) or [stemmed(token) for token in tokens(query)][:MAX_TERMS]


def _signs(text: str) -> Iterable[str]:
    if text.isascii():
        return ()
    return (sign for sign in text[:MAX_TERMS] if ord(sign) > 127 and unicodedata.category(sign) in _SIGN)  # noqa: PLR2004  # beyond ASCII


def bare_name(word: str) -> str:
    """A word as names are compared: folded, no possessive."""
    return _POSSESSIVE.sub("", word).casefold()


def capitalised(text: str) -> set[str]:
    """Words that may be names: capitalised, and not the first of their sentence, where every word is."""
    found: set[str] = set()
    for sentence in sentences(text):
        words = [match[0] for match in _WORD.finditer(sentence)]
        found |= {bare_name(word) for word in words[1:] if word[0].isupper()}
    return {name for name in found if len(name) >= _LEAST_NAME}


def possible_names(query: str) -> list[str]:
    """The capitalised words of a query, wherever they stand: whether one is a name, the memory tells."""
    return list(dict.fromkeys(bare_name(match[0]) for match in _WORD.finditer(query) if match[0][0].isupper()))


def without(query: str, names: Collection[str]) -> str:
    """The query without these names; itself where nothing else is in it."""
    kept = [word for word in query.split() if bare_name(word.strip("\"'\u2018\u201c\u201d\u2019?!.,;:()")) not in names]
    return " ".join(kept) if any(terms(word) for word in kept) else query


def covered(needed: Iterable[str], text_terms: Collection[str]) -> bool:
    """Whether every one of these terms stands in a text; none at all stand nowhere."""
    wanted = set(needed)
    return bool(wanted) and wanted <= set(text_terms)
