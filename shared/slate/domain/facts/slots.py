"""Which slot a statement belongs to: what of the person it says. A slot holds one truth at a time.

An attribute names the slot, under any of its usual names. Some attributes hold many things at once (allergies, tools,
languages): there each value has a slot. A statement without an attribute is a slot of its own: only the same words
again are about the same ("you once stole a potion" is not "you bought a potion"). Facts for different readers never
share a slot, so that none learns from a change what was said to another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

_ALIASES: Final = {
    "city": ("location", "residence", "home", "home_city", "place", "place_of_residence", "lives_in", "hometown_now"),
    "employer": ("company", "workplace", "works_at", "works_for", "employed_by", "organisation", "organization"),
    "role": ("job", "job_title", "title", "position", "occupation", "profession"),
    "timezone": ("time_zone", "tz"),
    "name": ("full_name", "users_name", "user_name"),
    "nickname": ("preferred_name", "called", "call_me"),
    "diet": ("dietary_preference", "dietary_preferences", "diet_type", "dietary"),
    "allergy": ("allergies", "allergic_to", "allergen"),
    "tool": ("tools", "uses", "software"),
    "language": ("languages", "speaks", "spoken_language"),
    "response_language": ("preferred_language", "answer_language", "reply_language"),
    "units": ("unit", "unit_system", "measurement_system", "measurement_units"),
    "channel": ("contact_channel", "preferred_channel", "contact_method", "preferred_contact"),
    "birthday": ("date_of_birth", "birth_date", "birthdate", "dob"),
    "accessibility": ("accessibility_need", "accessibility_needs"),
    "project": ("current_project", "working_on"),
}
_CANONICAL: Final = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}
MANY: Final = frozenset(
    {"allergy", "tool", "language", "accessibility", "avoids", "child", "pet", "hobby", "skill", "interest"}
)
"""Attributes that hold many values at once."""

_APART: Final = re.compile(r"[\s\-/.]+")
_PLAIN: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_EDGES: Final = " \t\n.,;:!?\"'`()[]\u201c\u201d\u2018\u2019\u3002\uff01\uff1f"
_WHO: Final = re.compile(r"^(?:(?:the )?(?:user|customer|person|client)(?:'s)?|s?he|they|i|you|we)\s+")


class Slot(NamedTuple):
    """A slot: its name, and who may read what is in it."""

    name: str
    """An attribute; with a value where it holds many; an equals sign and the statement where there is none."""
    readers: tuple[str, ...] = ()


def canonical(attribute: str) -> str:
    """The one name of an attribute; a qualifier after a colon stays its own."""
    if _PLAIN.fullmatch(attribute):  # nothing to fold: every fact is asked for its slot with every context
        return _CANONICAL.get(attribute, attribute)
    name, colon, qualifier = unicodedata.normalize("NFKC", attribute).casefold().strip().partition(":")
    plain = _APART.sub("_", name.strip()).strip("_")
    return _CANONICAL.get(plain, plain) + (colon + normal(qualifier) if colon else "")


def same_attribute(one: str, other: str) -> bool:
    """Whether two names mean one slot, or one is of the other's kind (``allergy`` and ``allergy:peanuts``)."""
    mine, asked = canonical(one), canonical(other)
    return mine == asked or mine.partition(":")[0] == asked


def normal(text: str) -> str:
    """The form in which values and statements are compared: case, width, spaces and punctuation at the ends aside."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return " ".join(folded.split()).strip(_EDGES)


def bare(statement: str) -> str:
    """A statement in that form, without whom it is about: that is the subject anyway."""
    return _WHO.sub("", normal(statement)) or normal(statement) or statement


def slot_of(statement: str, attribute: str | None, value: str | None, readers: Iterable[str]) -> Slot:
    """The slot of a statement."""
    who = tuple(sorted(set(readers)))
    if attribute is None:
        return Slot(f"={bare(statement)}", who)
    name = canonical(attribute)
    if name in MANY:
        return Slot(f"{name}:{_singular(value_of(statement, value))}", who)
    return Slot(name, who)


def _singular(value: str) -> str:
    """Peanut and peanuts are one thing."""
    return value[:-1] if len(value) > 3 and value.endswith("s") and not value.endswith("ss") else value  # noqa: PLR2004  # gas, bus


def value_of(statement: str, value: str | None) -> str:
    """What a statement says of its slot, in the form in which it is compared."""
    return bare(statement) if value is None else normal(value)


def aliases_of(slot: str) -> tuple[str, ...]:
    """The other names of a slot."""
    return _ALIASES.get(slot, ())
