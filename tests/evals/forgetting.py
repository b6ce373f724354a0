"""A year of forgetting without waiting for one: scripted people, an injected clock, the rules that the service runs.

Each person says a dozen things that are asked for again and again, and one a day that nobody asks for, many of them in
the same words. Four memories hear the same: Slate's; one without eviction; one that keeps everything; and a plain
window of the last 30 turns. Nothing is random but by the seed.
"""

from __future__ import annotations

import heapq
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from random import Random
from typing import Final, NamedTuple
from unittest.mock import patch

from slate.domain.facts.model import Category, Fact, FactState
from slate.domain.forgetting.evicting import alignment, evicted, is_checked, rated
from slate.domain.forgetting.fading import going
from slate.domain.forgetting.policy import DEFAULT_POLICY, DecayPolicy
from slate.domain.forgetting.strength import DAY_MS, due_at
from slate.domain.forgetting.waking import woken
from slate.domain.ranking import facts as ranking
from slate.domain.ranking.facts import best_facts, is_always_served
from slate.domain.ranking.terms import terms
from slate.testing.in_process import InProcessSlate

T0: Final = 1_800_000_000_000
YEAR: Final = 365
SERVED: Final = 5
WINDOW: Final = 30
TURNS_A_DAY: Final = 4
NOISE_A_DAY: Final = 1
CAP: Final = 125
QUERIES_KEPT: Final = 20


class Needed(NamedTuple):
    """Something that is asked for again, every so many days."""

    statement: str
    query: str
    every: int
    category: Category = Category.OTHER
    importance: int = 5
    attribute: str | None = None


NEEDED: Final = (
    Needed("Allergic to penicillin", "which antibiotic may be prescribed?", 45, Category.CONSTRAINT, 9, "allergy"),
    Needed("Never call before ten in the morning", "when may I call?", 40, Category.CONSTRAINT, 8),
    Needed("Prefers aisle seats on flights", "which seat shall I book on the flight?", 30, Category.PREFERENCE, 6),
    Needed("Works at Initech", "what is the name of the employer?", 7, Category.IDENTITY, 6, "employer"),
    Needed("Has a dog named Bello", "what is the dog called?", 25),
    Needed("Is vegetarian", "which diet is to be kept at dinner?", 35, Category.PREFERENCE, 6, "diet"),
    Needed("Decided to host the shop in Frankfurt", "where do we host the shop?", 30, Category.DECISION, 6),
    Needed("Drives a red van to work", "which van does she drive?", 40),
    Needed("Takes piano lessons on Tuesdays", "on which day are the piano lessons?", 6),
    Needed("Invoices go to Harbour Street 12", "where do invoices go?", 30, Category.OTHER, 6),
    Needed("Reports to Karin in accounting", "whom does she report to?", 28, Category.IDENTITY, 6),
    Needed("Timezone is Europe/Berlin", "which timezone applies?", 60, Category.IDENTITY, 5, "timezone"),
)
_SCENES: Final = (
    "Saw a {a} {b} near the {c}",
    "Talked about a flight to {c} in {a} weather",
    "A friend has a dog with a {a} collar",
    "Read an article on invoices of the {b} trade in {c}",
    "Walked past a {a} van by the {c}",
    "Heard a piano behind the {b} shop at the {c}",
    "Booked a {a} table near the {c}",
    "Forgot a {a} umbrella at the {c}",
    "Tried the {b} soup at the {c}",
)
_A: Final = (
    "blue",
    "green",
    "old",
    "tiny",
    "loud",
    "quiet",
    "shiny",
    "broken",
    "borrowed",
    "paper",
    "wooden",
    "striped",
)
_B: Final = (
    "heron",
    "crane",
    "kite",
    "baker",
    "glass",
    "tin",
    "tulip",
    "pumpkin",
    "lentil",
    "cheese",
    "silk",
    "copper",
)
_C: Final = ("harbour", "station", "museum", "bridge", "market", "library", "tower", "garden", "school", "mill", "lake")


@dataclass
class Score:
    """How a memory did."""

    asked: int = 0
    recalled: int = 0
    first: int = 0
    most: int = 0
    """Facts that it held at once, at most."""
    living: int = 0
    forgotten: int = 0
    lost: int = 0
    """Facts above importance 7 that it does not hold at the end."""

    @property
    def recall(self) -> float:
        return self.recalled / max(self.asked, 1)

    @property
    def precision(self) -> float:
        """How often what was asked for stood first."""
        return self.first / max(self.asked, 1)

    def add(self, other: Score) -> None:
        self.most = max(self.most, other.most)
        for name in ("asked", "recalled", "first", "living", "forgotten", "lost"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Memory:
    """One person's memory under a policy; without ``fades`` nothing ever goes."""

    policy: DecayPolicy
    fades: bool = True
    facts: dict[str, Fact] = field(default_factory=dict)
    due: list[tuple[int, str]] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    score: Score = field(default_factory=Score)

    def learn(self, fact: Fact) -> None:
        self._put(fact, fact.created_at)
        self.score.most = max(self.score.most, len(self.facts))
        cap = self.policy.fact_cap
        if self.fades and len(self.facts) > cap and is_checked(fact.fact_id, cap):
            now = fact.created_at
            ratings = [rated(each, now, _alignment(each.statement, self.queries)) for each in self.facts.values()]
            for gone in evicted(ratings, self.policy):
                self._forget(gone.fact.fact_id)

    def pass_to(self, now: int) -> None:
        """All that falls due, each step as the service takes it."""
        while self.due and self.due[0][0] <= now:
            at, fact_id = heapq.heappop(self.due)
            fact = self.facts.get(fact_id)
            if fact is None:
                continue
            step = going(fact, self.policy, max(at, T0))
            if step is None:
                self._put(fact, at)
            elif step.state is FactState.FORGOTTEN:
                self._forget(fact_id)
            else:
                self._put(fact.model_copy(update={"state": step.state, "gone_by": step.rule}), at)

    def ask(self, needed: Needed, now: int) -> None:
        active = [fact for fact in self.facts.values() if fact.state is FactState.ACTIVE]
        always = [fact for fact in active if is_always_served(fact)]
        rest = [fact for fact in active if not is_always_served(fact)]
        best = best_facts(needed.query, rest, {}, share=0.0, now=now, count=SERVED)
        served = [*(fact.fact_id for fact in always), *(each.name for each in best)]
        says = {fact_id: self.facts[fact_id].statement for fact_id in served}
        self.score.asked += 1
        self.score.recalled += needed.statement in says.values()
        top = self.facts[best[0].name].statement if best else ""
        self.score.first += needed.statement == top or needed.statement in {fact.statement for fact in always}
        others = [query for query in self.queries if query != needed.query]
        self.queries = [*others, needed.query][-QUERIES_KEPT:]
        for fact_id in served if self.fades else ():
            up = woken(self.facts[fact_id], now, self.policy, now, spoken=False)
            if up is not None:
                self._put(up, now)

    def end(self) -> Score:
        important = {needed.statement for needed in NEEDED if needed.importance > 7}  # the law's number
        held = {fact.statement for fact in self.facts.values() if fact.state is FactState.ACTIVE}
        self.score.lost = len(important - held)
        self.score.living = len(self.facts)
        return self.score

    def _put(self, fact: Fact, now: int) -> None:
        self.facts[fact.fact_id] = fact
        due = due_at(fact, self.policy, now) if self.fades else None
        if due is not None:
            heapq.heappush(self.due, (max(due, now + 1), fact.fact_id))

    def _forget(self, fact_id: str) -> None:
        del self.facts[fact_id]
        self.score.forgotten += 1


@lru_cache(maxsize=100_000)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(terms(text))


@lru_cache(maxsize=200_000)
def _aligned(statement: str, query: str) -> float:
    return alignment(_terms(statement), [_terms(query)])


def _alignment(statement: str, queries: Sequence[str]) -> float:
    """With the nearest query, each pair worked out once: the same statements come again and again."""
    return max((_aligned(statement, query) for query in queries), default=0.0)


def said(rng: Random) -> Iterator[tuple[int, Fact | Needed]]:
    """A year of one person, by the day: facts that she tells, and things that she asks for."""
    told = {rng.randrange(60): needed for needed in NEEDED}
    told |= {60 + place: needed for place, needed in enumerate(set(NEEDED) - set(told.values()))}
    asks: dict[int, list[Needed]] = {}
    for learned, needed in told.items():
        day = learned + needed.every
        while day < YEAR:
            asks.setdefault(day, []).append(needed)
            day += needed.every + rng.randrange(-3, 4)
    for day in range(YEAR):
        if day in told:
            yield day, _fact(f"n{day}", told[day], day)
        for number in range(NOISE_A_DAY):
            scene = rng.choice(_SCENES).format(a=rng.choice(_A), b=rng.choice(_B), c=rng.choice(_C))
            yield day, _fact(f"f{day}-{number}", Needed(scene, "", 0, importance=rng.choice((4, 4, 5))), day)
        for needed in asks.get(day, ()):
            yield day, needed


def _fact(fact_id: str, needed: Needed, day: int) -> Fact:
    at = T0 + day * DAY_MS
    return Fact.model_construct(
        **{name: spec.get_default(call_default_factory=True) for name, spec in Fact.model_fields.items()}
        | {"fact_id": fact_id, "statement": needed.statement, "category": needed.category}
        | {"importance": needed.importance, "attribute": needed.attribute, "version": 1, "state": FactState.ACTIVE}
        | dict.fromkeys(("observed_at", "last_confirmed_at", "valid_from", "created_at", "updated_at"), at)
    )


def lived(seed: int, memories: Sequence[Memory]) -> list[Score]:
    """One person's year in each memory, and at the end in a plain window."""
    window, spoken = Score(), dict[str, int]()
    for day, what in said(Random(seed)):  # noqa: S311  # a script, the same each time
        now = T0 + day * DAY_MS
        for memory in memories:
            memory.pass_to(now)
            memory.learn(what) if isinstance(what, Fact) else memory.ask(what, now)
        if isinstance(what, Fact):
            spoken[what.statement] = day
        else:
            window.asked += 1
            window.recalled += (day - spoken[what.statement]) * TURNS_A_DAY < WINDOW
            # The answer says it again.
            spoken[what.statement] = day
    for memory in memories:
        memory.pass_to(T0 + YEAR * DAY_MS)
    return [*(memory.end() for memory in memories), window]


def simulate(people: Iterable[int], *, compare: bool) -> dict[str, Score]:
    """These people's years; with ``compare`` in the memories that Slate is held against, too."""
    slate = DEFAULT_POLICY._replace(fact_cap=CAP)
    scores = {name: Score() for name in ("Slate", *(("no eviction", "keeps all") if compare else ()), "window")}
    with patch.object(ranking, "terms", _terms):
        for seed in people:
            memories = [Memory(slate)]
            if compare:
                memories += [Memory(DEFAULT_POLICY), Memory(DEFAULT_POLICY, fades=False)]
            for total, score in zip(scores.values(), lived(seed, memories), strict=True):
                total.add(score)
    return scores


def side_by_side(people: int) -> dict[str, Score]:
    """The same on every core."""
    cores = os.cpu_count() or 1
    totals: dict[str, Score] = {}
    with ProcessPoolExecutor(cores) as pool:
        for scores in pool.map(partial(simulate, compare=False), [range(n, people, cores) for n in range(cores)]):
            for name, score in scores.items():
                totals.setdefault(name, Score()).add(score)
    return totals


def catch_up(backlog: int, due_a_run: float, cap: int) -> int:
    """Runs until a backlog is worked off under a cap, while more falls due."""
    runs, left = 0, float(backlog)
    while left > 0:
        left += due_a_run - cap
        runs += 1
    return runs


def measured(facts: int) -> dict[str, tuple[float, float, float]]:
    """Calls, read units and write units a fact, of each step, as DynamoDB would bill them."""
    with InProcessSlate() as slate, slate.client() as client:
        for start in range(0, facts, 100):
            given = [{"statement": f"Saw bird number {n}", "category": "other"} for n in range(start, start + 100)]
            client.facts.post("customer-1", given)
        steps: dict[str, tuple[float, float, float]] = {}
        slate.advance(30 * 86_400)
        with slate.meter() as idle:
            slate.drain()
        for name, days in (("to limbo", 31), ("forgotten", 150), ("removed", 31)):
            slate.service.local.clock.advance(days * 86_400)  # type: ignore[attr-defined]  # a manual one
            with slate.meter() as cost:
                slate.service.slate.memory.decay.run_once()
            steps[name] = tuple(  # type: ignore[assignment]  # three
                (getattr(cost, unit) - getattr(idle, unit) / 2) / facts for unit in ("calls", "reads", "writes")
            )
        return steps


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def show(title: str, scores: dict[str, Score], people: int) -> None:
    say(title)
    for name, score in scores.items():
        held = "" if name == "window" else f", facts held at once {score.most}, at the end {score.living / people:.0f}"
        first = "" if name == "window" else f", first {score.precision:.1%}"
        lost = "" if name == "window" else f", above 7 lost {score.lost}, forgotten {score.forgotten / people:.0f}"
        say(f"  {name:12} recall {score.recall:.1%}{first}{held}{lost}")


def main() -> None:
    people, some = (int(sys.argv[1]) if len(sys.argv) > 1 else 1_000), 40
    started = time.perf_counter()
    scores = side_by_side(people)
    show(f"a year of {people:,} people, {NOISE_A_DAY * YEAR + len(NEEDED)} facts each:", scores, people)
    say(f"  in {time.perf_counter() - started:.0f} s")
    show(f"the same year of {some} of them, side by side:", simulate(range(some), compare=True), some)
    for name, (calls, reads, writes) in measured(200).items():
        say(f"a fact {name}: {calls:.2f} calls, {reads:.1f} read units, {writes:.1f} write units")
    an_hour = 1_000_000 / (30 * 24)
    week, cap = round(an_hour * 24 * 7), 10_000
    say(f"a million facts due over 30 days: {an_hour:,.0f} an hour, found by 16 queries a run, no scan")
    runs = catch_up(week, an_hour / 12, cap)
    say(f"after a week without decay: {week:,} wait; at {cap:,} a tenant and run of 5 minutes, {runs} runs")


if __name__ == "__main__":
    main()
