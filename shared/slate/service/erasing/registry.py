"""The registry of places where data about a person may lie: whatever erases or counts goes through it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from slate.ports.subject_stores import Erased, SubjectStore


class Registry:
    """All of them, in the order in which they are emptied: what names other things comes after these."""

    def __init__(self, places: Sequence[SubjectStore]) -> None:
        """Raises ValueError where two places account for one store."""
        named = Counter(store for place in places for store in place.stores)
        if twice := sorted(store for store, times in named.items() if times > 1):
            raise ValueError(f"two places account for {', '.join(twice)}; a store is declared once")
        self._places = tuple(places)
        self.stores = tuple(sorted(named))

    def count(self, tenant: str, ref: str) -> dict[str, int]:
        """How much of a person is there, of every store."""
        counts: Counter[str] = Counter(dict.fromkeys(self.stores, 0))
        for place in self._places:
            counts.update(place.count(tenant, ref))
        return dict(counts)

    def erase(self, tenant: str, ref: str, deadline: int, position: str = "") -> Erased:
        """One place after the other, until an instant at the latest; a position is the place's number and its own."""
        number, _, within = position.partition(" ")
        begun = int(number or 0)
        gone: Counter[str] = Counter()
        for place in range(begun, len(self._places)):
            done = self._places[place].erase(tenant, ref, deadline, within if place == begun else "")
            gone.update(done.counts)
            if done.position is not None:
                return Erased(gone, f"{place} {done.position}")
        return Erased(gone, None)
