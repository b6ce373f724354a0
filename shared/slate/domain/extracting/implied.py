"""The slot that a statement names by its very words: "Lives in Berlin" is of the city, whoever wrote it down.

Only a statement that the rules themselves would have written so is taken for one of theirs; every other keeps to
itself.
"""

from __future__ import annotations

import re
from typing import Final

from slate.domain.extracting import about_needs, about_self, about_tastes, about_work
from slate.domain.extracting.drafts import Draft, sentence

_RULES: Final = (*about_needs.RULES, *about_self.RULES, *about_work.RULES, *about_tastes.RULES)
_TAKEN: Final = frozenset(
    {"city", "employer", "diet", "allergy", "avoids", "timezone", "language", "units", "tool", "response_language"}
)
_WHO: Final = re.compile(r"^(?:the )?(?:user|customer|client|person|she|he)\s+(?=\w+s\b)", re.IGNORECASE)
_FIRST_PERSON: Final = (
    (re.compile(r"Lives in "), "I live in "),
    (re.compile(r"Works (at|for) "), "I work at "),
    (re.compile(r"(?:Is|Are) (?=vegan|vegetarian|pescatarian|flexitarian|allergic|\w+ intolerant)"), "I'm "),
    (re.compile(r"Allergic to "), "I'm allergic to "),
    (re.compile(r"Does not (?=eat|drink)"), "I don't "),
    (re.compile(r"Time zone is "), "my time zone is "),
    (re.compile(r"Speaks "), "I speak "),
    (re.compile(r"Uses "), "I use "),
    (re.compile(r"Prefers (?=metric|imperial|answers in)"), "I prefer "),
)


def implied(statement: str) -> Draft | None:
    """What the statement says of which slot; nothing where its words do not name one."""
    bare = sentence(_WHO.sub("", statement.strip()))
    for third, first in _FIRST_PERSON:
        if third.match(bare):
            clause = third.sub(first, bare, count=1)
            found = [draft for rule in _RULES for draft in rule.found(clause)]
            return next((draft for draft in found if _same(draft, bare)), None)
    return None


def _same(draft: Draft, statement: str) -> bool:
    if draft.withdraws or draft.attribute not in _TAKEN:
        return False
    written = statement if not statement.startswith("Allergic") else f"Is a{statement[1:]}"
    return draft.statement == written.replace("Works for ", "Works at ")
