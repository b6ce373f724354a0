"""What rules find in a turn: constraints, instructions, decisions, established facts, each under its rule's name.

They are made to be right rather than to find everything: a mark keeps a turn word for word, for good. A question is no
statement, what is quoted or is code says nothing for its speaker, and a text as long as a document is one. What was
found can be taken back; what a caller gives stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from slate.domain.marking_rules import GREETING, RULES, Rule
from slate.domain.sessions import DEFAULT_IMPORTANCE, Found, Mark, Speaker

DOCUMENT_FROM: Final = 2_000
"""A text of so many characters is a document: pasted, not said."""
GREETED: Final = 2
COMMANDED: Final = 9

_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED: Final = re.compile(r"(?m)^\s*>.*$|\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_ASKS: Final = re.compile(r"[?\uff1f]\W*$")


@dataclass(frozen=True, slots=True)
class Marked:
    """The marks and the importance of a turn, and which of them rules found."""

    marks: tuple[Mark, ...]
    importance: int
    found: tuple[Found, ...]


def find(role: Speaker, content: str) -> tuple[Found, ...]:
    """What the rules find in a turn, each rule once, the most important first."""
    if role is Speaker.TOOL:
        return (Found(rule="role.tool", mark=Mark.TOOL),)
    if role is Speaker.SYSTEM:
        return (Found(rule="role.system", mark=Mark.INSTRUCTION, importance=COMMANDED),)
    if len(content) >= DOCUMENT_FROM:
        return ()
    if GREETING.fullmatch(content.strip()):
        return (Found(rule="greeting", importance=GREETED),)
    rules = [rule for rule in RULES if rule.role is role]
    hit = {rule.name: rule for sentence in _sentences(content) for rule in rules if _holds(rule, sentence)}
    ranked = sorted(hit.values(), key=lambda rule: -rule.importance)
    return tuple(Found(rule=rule.name, mark=rule.mark, importance=rule.importance) for rule in ranked)


def weigh(marks: Iterable[Mark], importance: int | None, found: tuple[Found, ...]) -> Marked:
    """What a turn is marked with: what was given, then what was found; a given importance stands."""
    all_marks = tuple(dict.fromkeys([*marks, *(each.mark for each in found if each.mark is not None)]))
    weights = [each.importance for each in found if each.importance is not None]
    return Marked(all_marks, importance or max(weights, default=DEFAULT_IMPORTANCE), found)


def _sentences(content: str) -> Iterator[str]:
    spoken = _QUOTED.sub(" ", _CODE.sub(" ", content.replace("\u2019", "'")))
    return (sentence.strip() for sentence in _SENTENCE.split(spoken) if sentence and sentence.strip())


def _holds(rule: Rule, sentence: str) -> bool:
    if _ASKS.search(sentence) and not rule.asked:
        return False
    return rule.says.search(sentence) is not None and not (rule.unless and rule.unless.search(sentence))
