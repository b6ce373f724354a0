"""Finds what has fallen due of facts."""

from __future__ import annotations

from collections.abc import Iterator

from slate.adapters.inprocess.facts.people import LIVES, People
from slate.ports.memory_timer import DueMemory, MemoryKind


class InProcessMemoryTimer:
    """Reads and moves entries."""

    def __init__(self, people: People) -> None:
        self._people = people

    def due(self, shard: int, at_once: int, *, by: int | None = None) -> Iterator[DueMemory]:  # noqa: ARG002  # no pages
        """All of them as they stand now."""
        found = self._people.entries(shard, self._people.clock.now() if by is None else by)
        for entry, fact in found:
            kind = MemoryKind.LIVING if fact.state in LIVES else MemoryKind.FACT
            yield DueMemory(entry.tenant, kind, entry.ref, entry.fact_id)

    def postpone(self, due: DueMemory, ms: int) -> None:
        """Look at an entry again later, if it is still there."""
        with self._people.person(due.tenant, due.owner) as person:
            if due.name in person.due:
                self._people.look_at(person, due.name, self._people.clock.now() + ms)
