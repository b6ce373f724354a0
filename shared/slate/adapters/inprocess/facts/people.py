"""What is known of each person, and the timer over all of it. One lock: every step is whole."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from threading import RLock
from typing import Final, NamedTuple
from zlib import crc32

from slate.domain.errors import NotFound
from slate.domain.facts.model import Consents, Fact, FactState, Forgetting, Notice, Quarantined
from slate.domain.facts.slots import Slot
from slate.domain.facts.timeline import Timeline
from slate.domain.forgetting.acts import Act, came_back
from slate.domain.forgetting.policy import DEFAULT_POLICY, DecayPolicy
from slate.domain.forgetting.versions import following
from slate.ports.clock import Clock
from slate.ports.ids import Ids

SHARDS: Final = 16
LIVES: Final = frozenset({FactState.ACTIVE, FactState.LIMBO})
Policies = Callable[[str], DecayPolicy]
"""How a tenant's memories fade."""


def default_policy(_: str) -> DecayPolicy:
    """For a tenant that has set nothing."""
    return DEFAULT_POLICY


class Entry(NamedTuple):
    """A place in the timer; it counts as long as the fact is due at this very instant."""

    due: int
    tenant: str
    ref: str
    fact_id: str


@dataclass(slots=True)
class _Shard:
    ahead: list[Entry] = field(default_factory=list)
    """A heap."""
    ready: list[Entry] = field(default_factory=list)
    """In their order: those that somebody has asked for already."""


@dataclass(slots=True)
class Person:
    """All that is kept of one person."""

    tenant: str
    ref: str
    living: dict[str, Fact] = field(default_factory=dict)
    """By id, the oldest first."""
    past: dict[str, Fact] = field(default_factory=dict)
    slots: dict[str, Slot] = field(default_factory=dict)
    """Of each fact."""
    timelines: dict[Slot, Timeline] = field(default_factory=dict)
    due: dict[str, int] = field(default_factory=dict)
    log: list[Forgetting] = field(default_factory=list)
    """By instant and id, the oldest first."""
    notices: dict[str, Notice] = field(default_factory=dict)
    told: dict[tuple[str, str], str] = field(default_factory=dict)
    """By whom a session was told a notice."""
    quarantine: dict[str, Quarantined] = field(default_factory=dict)
    consents: Consents = field(default_factory=Consents)
    steps: set[tuple[str, str]] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    served: dict[str, list[str]] = field(default_factory=dict)

    def fact(self, fact_id: str) -> Fact | None:
        """A fact, wherever it stands."""
        return self.living.get(fact_id) or self.past.get(fact_id)

    def one(self, fact_id: str) -> Fact:
        """A fact.

        Raises:
            NotFound: there is none.
        """
        found = self.fact(fact_id)
        if found is None:
            raise NotFound(f"there is no fact {fact_id!r} of this subject")
        return found

    def known(self, fact_ids: Collection[str]) -> Mapping[str, Fact]:
        """Those of these facts that are there."""
        found = ((each, self.fact(each)) for each in fact_ids)
        return {fact_id: fact for fact_id, fact in found if fact is not None}

    def timeline(self, slot: Slot) -> Timeline:
        """What was said of a slot."""
        return self.timelines.get(slot, ())

    def note(self, entry: Forgetting) -> None:
        """Add an entry to the log; one that is there stays."""
        at = _place(entry)
        if self.log and at <= _place(self.log[-1]):
            if any(_place(each) == at for each in self.log):
                return
            insort(self.log, entry, key=_place)
        else:
            self.log.append(entry)

    def note_restored(self, fact_id: str, at: int) -> None:
        """The entries about this fact that are still open say when it came back."""
        for place, entry in enumerate(self.log):
            if entry.fact_id == fact_id and (noted := came_back(entry, at)) is not None:
                self.log[place] = noted


class People:
    """Everybody, by tenant and ref."""

    def __init__(self, clock: Clock, ids: Ids, policies: Policies = default_policy) -> None:
        self.clock = clock
        self.ids = ids
        self.policies = policies
        self._people: dict[tuple[str, str], Person] = {}
        self._shards = [_Shard() for _ in range(SHARDS)]
        self._made = count()
        self._lock = RLock()

    @contextmanager
    def person(self, tenant: str, ref: str) -> Iterator[Person]:
        """Whoever it is, to this thread alone."""
        with self._lock:
            found = self._people.get((tenant, ref))
            if found is None:
                found = self._people[tenant, ref] = Person(tenant, ref)
            yield found

    def drop(self, tenant: str, ref: str) -> None:
        """Remove all of a person."""
        with self._lock:
            self._people.pop((tenant, ref), None)

    def new_id(self) -> str:
        """An id that sorts by the instant of its making."""
        # The count orders those that are made within one millisecond.
        return f"f{self.clock.now():012x}{next(self._made) % 0x10000:04x}{self.ids.new()[-16:]}"

    # ---- writing

    def write(self, person: Person, facts: Iterable[Fact], slot: Slot) -> list[Fact]:
        """Facts as they are to be, in this slot; those that live or are past by now change their place."""
        policy, now, written = self.policies(person.tenant), self.clock.now(), []
        for fact in facts:
            next_one = following(person.fact(fact.fact_id), fact, policy, now)
            self.put(person, next_one.fact, next_one.due)
            person.slots[fact.fact_id] = slot
            if next_one.act is not None:
                self.log(person, next_one.act, fact)
            written.append(next_one.fact)
        return written

    def put(self, person: Person, fact: Fact, due: int | None) -> None:
        """A fact exactly so, and when it is to be looked at."""
        here, there = (person.living, person.past) if fact.state in LIVES else (person.past, person.living)
        there.pop(fact.fact_id, None)
        late = fact.fact_id not in here and bool(here) and fact.fact_id < next(reversed(here))
        here[fact.fact_id] = fact
        if late:
            by_id = sorted(here.items())
            here.clear()
            here.update(by_id)
        self.look_at(person, fact.fact_id, due)

    def log(self, person: Person, act: Act, fact: Fact) -> None:
        """What an act did to a fact, as that was before."""
        person.note(act.entry(fact, self.ids.new()))

    def remove(self, person: Person, fact_id: str) -> None:
        """Nothing of a fact is left."""
        for kept in (person.living, person.past, person.slots, person.due):
            kept.pop(fact_id, None)

    # ---- the timer

    def look_at(self, person: Person, fact_id: str, due: int | None) -> None:
        """An entry goes to where it is due by now, or away."""
        if due is None:
            person.due.pop(fact_id, None)
        elif person.due.get(fact_id) != due:
            person.due[fact_id] = due
            heappush(self._shard(person.ref, fact_id).ahead, Entry(due, person.tenant, person.ref, fact_id))

    def entries(self, shard: int, by: int) -> list[tuple[Entry, Fact]]:
        """Those of a shard that are due by an instant, in their order."""
        with self._lock:
            kept = self._shards[shard]
            while kept.ahead and kept.ahead[0].due <= by:
                kept.ready.append(heappop(kept.ahead))
            there = ((entry, self._there(entry)) for entry in sorted(set(kept.ready)))
            standing = [(entry, fact) for entry, fact in there if fact is not None]
            kept.ready = [entry for entry, _ in standing]
            return [each for each in standing if each[0].due <= by]

    def _there(self, entry: Entry) -> Fact | None:
        person = self._people.get((entry.tenant, entry.ref))
        return person.fact(entry.fact_id) if person is not None and person.due.get(entry.fact_id) == entry.due else None

    def _shard(self, ref: str, fact_id: str) -> _Shard:
        return self._shards[crc32(f"{ref}{fact_id}".encode()) % SHARDS]


def _place(entry: Forgetting) -> tuple[int, str]:
    return entry.at, entry.log_id
