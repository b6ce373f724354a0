"""Okapi BM25 over documents that come and go: exact, in memory, one posting list a term.

The formula is that of Lucene and OpenSearch (k1 1.2, b 0.75), so that both indexes rank alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final, Generic, TypeVar

K1: Final = 1.2
B: Final = 0.75

Name = TypeVar("Name", bound=Hashable)


class Postings(Generic[Name]):
    """The terms of a set of documents."""

    def __init__(self) -> None:
        self._by_term: dict[str, dict[Name, int]] = {}
        self._terms: dict[Name, tuple[str, ...]] = {}
        self._lengths: dict[Name, int] = {}
        self._total = 0

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self._lengths)

    def put(self, name: Name, terms: Iterable[str]) -> None:
        """Add a document, or replace it."""
        self.drop(name)
        counts = Counter(terms)
        for term, count in counts.items():
            self._by_term.setdefault(term, {})[name] = count
        self._terms[name] = tuple(counts)
        self._lengths[name] = counts.total()
        self._total += counts.total()

    def drop(self, name: Name) -> None:
        """Remove a document, if it is there."""
        for term in self._terms.pop(name, ()):
            postings = self._by_term[term]
            del postings[name]
            if not postings:
                del self._by_term[term]
        self._total -= self._lengths.pop(name, 0)

    def scores(self, query: Iterable[str], among: Collection[Name] | None = None) -> dict[Name, float]:
        """The documents that share a term with the query, ``among`` these where given."""
        found: dict[Name, float] = {}
        count, mean = len(self._lengths), self._total / max(len(self._lengths), 1)
        for term in dict.fromkeys(query):
            postings = self._by_term.get(term, {})
            weight = _weight(count, len(postings))
            for name, times in postings.items():
                if among is None or name in among:
                    found[name] = found.get(name, 0.0) + weight * _part(times, self._lengths[name], mean)
        return found


def scores_of(documents: Mapping[Name, Sequence[str]], query: Iterable[str]) -> dict[Name, float]:
    """The same for documents that are asked once: no posting lists are made of terms that nobody asks for."""
    found: dict[Name, float] = {}
    mean = sum(map(len, documents.values())) / max(len(documents), 1)
    for term in dict.fromkeys(query):
        held = {name: times for name, terms in documents.items() if (times := terms.count(term))}
        weight = _weight(len(documents), len(held))
        for name, times in held.items():
            found[name] = found.get(name, 0.0) + weight * _part(times, len(documents[name]), mean)
    return found


def _weight(documents: int, holding: int) -> float:
    """What a term counts for that so many documents hold."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def _part(times: int, length: int, mean: float) -> float:
    """What it is in a document of this length that holds it so often."""
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / mean))
