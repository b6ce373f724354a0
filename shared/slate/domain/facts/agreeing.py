"""A slot that is kept apart for several readers is one slot to whoever may read more than one of its parts.

Facts for different readers never share a slot, so that none learns from a change what was said to another. So none of
them can be superseded by another's in the storage, and who may read both would be told both as true. For that reader,
and only while reading, the law of a slot holds over all that may be read: the newest wins, unless it is less certain;
then both are asked about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from slate.domain.facts.model import Fact
from slate.domain.facts.slots import slot_of, value_of


class Agreed(NamedTuple):
    """What one reader is to be told."""

    facts: tuple[Fact, ...]
    """Those that hold for this reader, with what contradicts each; of two that say the same, the newer."""
    outdone: tuple[Fact, ...]
    """Those that say what another that this reader may read has replaced."""


def agreed(facts: Iterable[Fact]) -> Agreed:
    """Hold served facts, all of which one reader may read, against each other."""
    every = list(facts)
    if len({frozenset(fact.readers) for fact in every}) <= 1:
        return Agreed(tuple(every), ())
    slots: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in every:
        slots[slot_name(fact)].append(fact)
    told: set[str] = set()
    outdone: set[str] = set()
    contested: defaultdict[str, set[str]] = defaultdict(set)
    for parts in slots.values():
        for older, newer in combinations(sorted(parts, key=_said), 2):
            if set(older.readers) == set(newer.readers):
                continue  # decided where they were written
            if _value(older) == _value(newer):
                told.add(older.fact_id)
            elif older.confidence <= newer.confidence:
                outdone.add(older.fact_id)
            else:
                contested[older.fact_id].add(newer.fact_id)
                contested[newer.fact_id].add(older.fact_id)
    gone = told | outdone
    return Agreed(
        tuple(_contested(fact, contested[fact.fact_id] - gone) for fact in every if fact.fact_id not in gone),
        tuple(fact for fact in every if fact.fact_id in outdone),
    )


def slot_name(fact: Fact) -> str:
    """The slot of a fact, whoever may read it."""
    return slot_of(fact.statement, fact.attribute, fact.value, ()).name


def _said(fact: Fact) -> tuple[int, int, str]:
    return fact.last_confirmed_at, fact.created_at, fact.fact_id


def _value(fact: Fact) -> str:
    return value_of(fact.statement, fact.value)


def _contested(fact: Fact, others: set[str]) -> Fact:
    if not others:
        return fact
    return fact.model_copy(update={"contradicts": tuple(dict.fromkeys([*fact.contradicts, *sorted(others)]))})
