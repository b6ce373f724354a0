"""Scripted people and what they say in a year: nine things that are asked for again, and much that nobody asks for.

Many of the latter are in the words of the former. Nothing is random but by the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from slate.domain.facts.model import Category

YEAR: Final = 365


class Said(NamedTuple):
    """Something that a person tells, once."""

    statement: str
    category: Category = Category.OTHER
    importance: int = 5
    attribute: str | None = None
    value: str | None = None


class Needed(NamedTuple):
    """Something that is asked for again, every so many days."""

    said: Said
    query: str
    every: int


NEEDED: Final = (
    Needed(
        Said("Allergic to penicillin", Category.CONSTRAINT, 9, "allergy", "penicillin"),
        "which antibiotic may be prescribed?",
        90,
    ),
    Needed(Said("Never call before ten in the morning", Category.CONSTRAINT, 8), "when may I call?", 75),
    Needed(
        Said("Prefers aisle seats on flights", Category.PREFERENCE, 6), "which seat shall I book on the flight?", 75
    ),
    Needed(
        Said("Works at Initech", Category.IDENTITY, 6, "employer", "Initech"),
        "what is the name of the employer?",
        60,
    ),
    Needed(Said("Has a dog named Bello"), "what is the name of the dog?", 45),
    Needed(Said("Decided to host the shop in Frankfurt", Category.DECISION, 6), "where do we host the shop?", 60),
    Needed(Said("Takes piano lessons on Tuesdays"), "on which day are the piano lessons?", 14),
    Needed(Said("Reports to Karin in accounting", Category.IDENTITY, 6), "whom does she report to?", 60),
    Needed(
        Said("Timezone is Europe/Berlin", Category.IDENTITY, 5, "timezone", "Europe/Berlin"),
        "which timezone applies?",
        120,
    ),
)
_SCENES: Final = (
    "Saw a {a} {b} near the {c}",
    "Talked about a flight to {c} in {a} weather",
    "A friend has a dog with a {a} collar",
    "Heard a piano behind the {b} shop at the {c}",
    "Forgot a {a} umbrella at the {c}",
    "Tried the {b} soup at the {c}",
    "Met a dog by the name of {n} at the {c}",
    "Read a report on the {b} trade",
    "Booked a seat on a {a} bus to the {c}",
    "A friend takes {a} piano lessons at the {c}",
    "A neighbour wants to host a {b} shop at the {c}",
)
_WORDS: Final = {
    "a": ["blue", "green", "old", "tiny", "loud", "quiet", "shiny", "broken", "borrowed", "paper", "wooden", "striped"],
    "b": ["heron", "crane", "kite", "baker", "glass", "tin", "tulip", "pumpkin", "lentil", "cheese", "silk", "copper"],
    "n": ["Rex", "Bella", "Luna", "Max", "Rocky", "Daisy", "Oscar", "Lucky"],
    "c": ["harbour", "station", "museum", "bridge", "market", "library", "tower", "garden", "school", "mill", "lake"],
}


def year(seed: int, noise_every: int) -> Iterator[tuple[int, Said | Needed]]:
    """A person's year by the day: what is told, noise once in so many days, and what is asked for."""
    rng = Random(seed)  # noqa: S311  # a script, the same each time
    learned = {needed: rng.randrange(60) for needed in NEEDED}
    asks: dict[int, list[Needed]] = {}
    for needed, first in learned.items():
        day = first + needed.every
        while day < YEAR:
            asks.setdefault(day, []).append(needed)
            day += needed.every + rng.randrange(-3, 4)
    starts = rng.randrange(noise_every)
    for day in range(YEAR):
        yield from ((day, needed.said) for needed, first in learned.items() if first == day)
        if day % noise_every == starts:
            words = {kind: rng.choice(some) for kind, some in _WORDS.items()}
            yield day, Said(rng.choice(_SCENES).format(**words), importance=rng.choice((4, 4, 5)))
        yield from ((day, needed) for needed in asks.get(day, ()))
