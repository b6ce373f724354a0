"""Okapi BM25 over documents that come and go: exact, in memory, one posting list a term.

The formula is that of Lucene and OpenSearch (k1 1.2, b 0.75), so that both indexes rank alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable
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
            weight = math.log(1 + (count - len(postings) + 0.5) / (len(postings) + 0.5))
            for name, times in postings.items():
                if among is None or name in among:
                    norm = K1 * (1 - B + B * self._lengths[name] / mean)
                    found[name] = found.get(name, 0.0) + weight * times * (K1 + 1) / (times + norm)
        return found
