"""A year of forgetting without waiting for one: scripted people, an injected clock, the service's own use cases.

They run over stores that keep plain objects in this process, and keep the contract that DynamoDB's stores keep. Four
memories hear the same: Slate's; one without eviction; one that keeps everything; and a plain window of the last turns.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final

from evals.people import NEEDED, YEAR, Needed, Said, year
from remembering import TENANT, Numbered, Remembered, in_process
from slate.adapters.inprocess.clocks import ManualClock
from slate.domain.facts.model import Category, FactState
from slate.ports.counts import Count

T0: Final = 1_800_000_000_000
DAY_SECONDS: Final = 86_400
NOISE_EVERY: Final = 10
"""Days."""
CAP: Final = 20
TURNS_A_DAY: Final = 2
WINDOW: Final = 30
NEVER: Final = 20_000
KEEPS: Final = dict.fromkeys(Category, 36_500)
MEMORIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "Slate": {"fact_cap": CAP},
    "no eviction": {"fact_cap": NEVER},
    "keeps all": {"fact_cap": NEVER, "half_lives": KEEPS},
}
"""The settings of each."""


@dataclass
class Score:
    """How a memory did."""

    asked: int = 0
    recalled: int = 0
    first: int = 0
    """What was asked for stood first."""
    most: int = 0
    """Facts that one person had at once, at most."""
    living: int = 0
    lost: int = 0
    """Facts above importance 7 that are not there at the end."""
    limbo: int = 0
    decayed: int = 0
    evicted: int = 0
    purged: int = 0

    @property
    def recall(self) -> float:
        return self.recalled / max(self.asked, 1)

    @property
    def precision(self) -> float:
        return self.first / max(self.asked, 1)

    def add(self, other: Score) -> None:
        most = max(self.most, other.most)
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        self.most = most


class Memory:
    """Some people's memory: what they tell, what they ask for, and what time does to it."""

    def __init__(self, remembered: Remembered) -> None:
        self.remembered = remembered
        self.score = Score()

    def hear(self, person: str, what: Said | Needed) -> None:
        if isinstance(what, Needed):
            self._ask(person, what)
        else:
            self.remembered.tell(person, **what._asdict())
            self.score.most = max(self.score.most, len(self._living(person)))

    def _ask(self, person: str, needed: Needed) -> None:
        """Whether it is served, or asked to be confirmed; then she says it again."""
        known, wanted = self.remembered.ask(person, needed.query), needed.said.statement
        always, best = ([fact.statement for fact, _ in some] for some in (known.always, known.best))
        to_confirm = [fact.statement for question in known.asked for fact in question.facts]
        self.score.asked += 1
        self.score.recalled += wanted in (*always, *best, *to_confirm)
        self.score.first += wanted in (*always, *to_confirm, *best[:1])
        if wanted in to_confirm:
            self.remembered.tell(person, **needed.said._asdict())

    def end(self, people: Iterable[str]) -> Score:
        important = {needed.said.statement for needed in NEEDED if needed.said.importance > 7}  # the law's number
        for person in people:
            facts = self._living(person)
            self.score.lost += len(important - {fact.statement for fact in facts if fact.state is FactState.ACTIVE})
            self.score.living += len(facts)
        counts = self.remembered.counts
        self.score.limbo = int(counts.value(Count.LIMBO))
        self.score.evicted = int(counts.value(Count.FORGOTTEN, by="evicted"))
        self.score.decayed = int(counts.value(Count.FORGOTTEN, by="decay"))
        self.score.purged = int(counts.value(Count.PURGED))
        return self.score

    def _living(self, person: str) -> list[Any]:
        return self.remembered.stores.fades.living(TENANT, self.remembered.ref(person))


class Window:
    """Nothing but the last turns."""

    def __init__(self) -> None:
        self.score = Score()
        self._spoken: dict[tuple[str, str], int] = {}

    def hear(self, person: str, what: Said | Needed, day: int) -> None:
        said = what.said if isinstance(what, Needed) else what
        place = person, said.statement
        if isinstance(what, Needed):
            self.score.asked += 1
            self.score.recalled += (day - self._spoken[place]) * TURNS_A_DAY < WINDOW
        # The answer says it again.
        self._spoken[place] = day


def live(
    seeds: Sequence[int], memory: Memory, window: Window | None = None, *, days: int = YEAR, decay_every: int = 1
) -> Score:
    """These people's year, or its first days, one at a time; what falls due is worked off once in so many days."""
    heard: list[list[tuple[str, Said | Needed]]] = [[] for _ in range(YEAR)]
    for seed in seeds:
        for day, what in year(seed, NOISE_EVERY):
            heard[day].append((f"person-{seed}", what))
    for day in range(days):
        for person, what in heard[day]:
            memory.hear(person, what)
            if window is not None:
                window.hear(person, what, day)
        memory.remembered.clock.advance(DAY_SECONDS)
        if (day + 1) % decay_every == 0:
            memory.remembered.decay()
    return memory.end([f"person-{seed}" for seed in seeds])


def fast(**settings: Any) -> Memory:
    """A memory in this process."""
    clock = ManualClock(T0)
    return Memory(Remembered(in_process(clock, Numbered()), clock, cap=1_000_000, **settings))


def simulate(seeds: Sequence[int], *, compare: bool) -> dict[str, Score]:
    """These people's year in Slate's memory and in a window; with ``compare`` in those that it is held against, too."""
    window = Window()
    scores = {"Slate": live(seeds, fast(**MEMORIES["Slate"]), window), "window": window.score}
    if compare:
        scores |= {name: live(seeds, fast(**MEMORIES[name])) for name in MEMORIES if name != "Slate"}
    return scores


def side_by_side(people: int, *, compare: bool) -> dict[str, Score]:
    """The same on every core."""
    cores = os.cpu_count() or 1
    totals: dict[str, Score] = {}
    shares = [range(n, people, cores * 4) for n in range(cores * 4)]
    with ProcessPoolExecutor(cores) as pool:
        for scores in pool.map(partial(simulate, compare=compare), shares):
            for name, score in scores.items():
                totals.setdefault(name, Score()).add(score)
    return totals


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def show(title: str, scores: Mapping[str, Score], people: int) -> None:
    say(title)
    for name, score in scores.items():
        if name == "window":
            say(f"  {name:12} recall {score.recall:.2%}")
            continue
        say(
            f"  {name:12} recall {score.recall:.2%}, first {score.precision:.2%}, facts held at once {score.most}, at the"
            f" end {score.living / people:.0f}, above 7 lost {score.lost}; to limbo {score.limbo / people:.0f}, faded"
            f" {score.decayed / people:.0f}, evicted {score.evicted / people:.0f}, gone for good"
            f" {score.purged / people:.0f}"
        )


def main() -> None:
    people, some = (int(sys.argv[1]) if len(sys.argv) > 1 else 1_000), 60
    started = time.perf_counter()
    scores = side_by_side(people, compare=False)
    show(
        f"a year of {people:,} people, a cap of {CAP}, {scores['Slate'].asked / people:.0f} questions each:",
        scores,
        people,
    )
    say(f"  in {time.perf_counter() - started:.0f} s")
    show(f"the same year of {some} of them, side by side:", side_by_side(some, compare=True), some)


if __name__ == "__main__":
    main()
