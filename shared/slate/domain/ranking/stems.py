"""English words without their endings, after M. F. Porter, "An algorithm for suffix stripping" (Program 14, 1980).

Other languages pass through it mostly unharmed: what matters is that the same word of a query and of a text end alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_SHORT: Final = 2
_LONGEST: Final = 40
_SHORT_MEASURE: Final = 1

_STEP_2: Final = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_STEP_3: Final = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4: Final = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)
_LONGEST_FIRST_2: Final = sorted(_STEP_2, key=len, reverse=True)
_LONGEST_FIRST_3: Final = sorted(_STEP_3, key=len, reverse=True)
_LONGEST_FIRST_4: Final = sorted(_STEP_4, key=len, reverse=True)
_ENGLISH: Final = re.compile(r"[a-z]+")
_RUNS: Final = re.compile(r"(?<=v)c")


@lru_cache(maxsize=65_536)
def stemmed(word: str) -> str:
    """The stem of a word that is in lower case already; what is no plain word stays as it is."""
    bare = word.removesuffix("'s").replace("'", "")
    if len(bare) <= _SHORT or len(bare) > _LONGEST or not _ENGLISH.fullmatch(bare):
        return bare
    for step in (_plurals, _past, _final_y, _step_2, _step_3, _step_4, _final_e):
        bare = step(bare)
    return bare


def _shape(stem: str) -> str:
    """``v`` for each vowel, ``c`` for each consonant; a y after a consonant is a vowel."""
    shape = ""
    for i, letter in enumerate(stem):
        vowel = letter in "aeiou" or (letter == "y" and i > 0 and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """How many vowel-consonant runs a stem has."""
    return len(_RUNS.findall(_shape(stem)))


def _has_vowel(stem: str) -> bool:
    return "v" in _shape(stem)


def _doubled(stem: str) -> bool:
    return len(stem) >= _SHORT and stem[-1] == stem[-2] and _shape(stem)[-1] == "c"


def _is_cvc(stem: str) -> bool:
    return _shape(stem)[-3:] == "cvc" and stem[-1] not in "wxy"


def _plurals(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            return _mended(stem) if _has_vowel(stem) else word
    return word


def _mended(stem: str) -> str:
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _doubled(stem) and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == _SHORT_MEASURE and _is_cvc(stem) else stem


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _replaced(word: str, endings: list[str], by: Callable[[str], str], least: int) -> str:
    for ending in endings:
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            return stem + by(ending) if _measure(stem) > least else word
    return word


def _step_2(word: str) -> str:
    return _replaced(word, _LONGEST_FIRST_2, _STEP_2.__getitem__, 0)


def _step_3(word: str) -> str:
    return _replaced(word, _LONGEST_FIRST_3, _STEP_3.__getitem__, 0)


def _step_4(word: str) -> str:
    if word.endswith("ion") and not word.endswith(("sion", "tion")):
        return word
    return _replaced(word, _LONGEST_FIRST_4, lambda _: "", 1)


def _final_e(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        if _measure(stem) > 1 or (_measure(stem) == 1 and not _is_cvc(stem)):
            word = stem
    return word[:-1] if _measure(word) > 1 and word.endswith("ll") else word
