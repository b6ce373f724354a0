"""What forgetting takes by the million: ``make bench`` prints it.

The calls and units of each step are counted on DynamoDB's stores. A month is then lived through by the handler of the
Lambda, over stores of this process that keep the same contract, at a virtual time: each call takes so long, each run is
started by the schedule and cut off as Lambda does. Facts that cannot fall due within the hour are in no query's range,
and are held back until their hour comes.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import count
from random import Random
from statistics import median
from typing import Any, Final, NamedTuple, cast

from remembering import Names, Numbered
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.context_store import InProcessContextStore
from slate.adapters.inprocess.counts import ProcessCounts
from slate.adapters.inprocess.facts.fact_fading import InProcessFactFading
from slate.adapters.inprocess.facts.fact_records import InProcessFactRecords
from slate.adapters.inprocess.facts.fact_store import InProcessFactStore
from slate.adapters.inprocess.facts.memory_timer import InProcessMemoryTimer
from slate.adapters.inprocess.facts.people import People
from slate.adapters.inprocess.tenant_store import InProcessTenantStore
from slate.domain.facts.model import Fact, FactState
from slate.domain.facts.slots import Slot
from slate.domain.forgetting.policy import DEFAULT_POLICY
from slate.domain.forgetting.strength import DAY_MS, due_at
from slate.ports.counts import Count
from slate.ports.fact_fading import Fade, Settled
from slate.ports.memory_timer import DueMemory
from slate.service.due_work import AT_ONCE
from slate.service.tenants import Tenants
from slate.settings import Settings
from slate.testing.in_process import InProcessSlate
from slate.testing.meter import Cost
from slate.wiring.remembering import FactStores, remembering_of
from slate_functions.scheduled.run import ScheduledRun

T0: Final = 1_800_000_000_000
HOUR_MS: Final = 3_600_000
MONTH_HOURS: Final = 30 * 24
CALL_MS: Final = 6
"""What a call of DynamoDB is taken to take."""
TIMEOUT_MS: Final = 900_000
"""Of the Lambda."""
A_PERSON: Final = 100
"""Facts."""
HALF_LIFE_MS: Final = 60 * DAY_MS
MANY: Final = "big"
"""The tenant that a backlog is of."""


# ---- counted on DynamoDB's stores


class Price(NamedTuple):
    """Of one step, or one page of the timer: calls, read units, write units."""

    calls: float
    reads: float
    writes: float

    @classmethod
    def each(cls, cost: Cost, idle: Price, of: int) -> Price:
        """What one of so many cost, beyond what looking at idle shards does."""
        return cls(*((spent - less) / of for spent, less in zip(_spent(cost), idle, strict=True)))


def _spent(cost: Cost) -> tuple[float, float, float]:
    return cost.calls, cost.reads, cost.writes


def measured(facts: int) -> dict[str, Price]:
    """Each step as the service takes it on DynamoDB's stores, and what it costs to pass 100 entries.

    Raises:
        AssertionError: anything was found by a scan.
    """
    with InProcessSlate() as slate, slate.client() as client:
        for start in range(0, facts, 100):
            client.facts.post("customer-1", [_bird(n) for n in range(start, min(start + 100, facts))])
        decay, clock = slate.service.slate.memory.decay, cast("ManualClock", slate.service.local.clock)
        slate.advance(30 * 86_400)

        def run(days: float, more: Callable[[], bool] = lambda: True) -> Cost:
            clock.advance(days * 86_400)
            with slate.meter() as cost:
                decay.run_once(more)
            assert "Scan" not in cost.by_operation
            return cost

        idle = Price(*_spent(run(0)))
        prices = {"idle run": idle}
        for name, days in (("limbo", 31), ("forgotten", 150), ("removed", 31)):
            prices[name] = Price.each(run(days), idle, facts)
            slate.drain()
        return prices


def beside(facts: int) -> dict[str, tuple[int, int]]:
    """Calls until a lapsed lease is reaped, and until an erasure has gone a step: with nothing due of memory, and with."""
    found: dict[str, tuple[int, int]] = {}
    for waiting in (0, facts):
        with InProcessSlate() as slate, slate.client() as client:
            for person, facts_of in (("customer-1", waiting), ("customer-2", 1)):
                for start in range(0, facts_of, 100):
                    client.facts.post(person, [_bird(n) for n in range(start, min(start + 100, facts_of))])
            clock = cast("ManualClock", slate.service.local.clock)
            slate.drain()
            clock.advance(61 * 86_400)
            client.create_graph(graph_id="g", goal="g", tasks=[{"task_id": "t", "title": "t", "role": "r"}])
            (claim,) = client.claim(["r"])
            slate.http().post("/v1/erasures", json={"subject": "customer-2", "reason": "asked to"}).raise_for_status()
            clock.advance(61)
            with slate.meter() as reaping:
                slate.service.slate.sweeping.run_once()
            (again,) = client.claim(["r"])
            assert again.epoch > claim.epoch
            with slate.meter() as erasing:
                slate.service.slate.privacy.eraser.run_once()
            for name, cost in (("lease", reaping), ("erasure", erasing)):
                found[name] = (*found.get(name, ()), cost.calls)  # type: ignore[assignment]  # two
    return found


def _bird(number: int) -> dict[str, Any]:
    return {"statement": f"Saw bird number {number}", "category": "other"}


# ---- lived through


@dataclass
class Tally:
    """What was done."""

    steps: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    late_ms: dict[str, int] = field(default_factory=dict)
    """The longest that a tenant's fact waited, from the moment that it was due."""

    def cost(self, prices: Mapping[str, Price], runs: int) -> Price:
        """What all of it costs; each run looks at every shard, and once more to hear that nothing is left."""
        parts = [(prices[step], times) for step, times in self.steps.items()]
        parts += [(prices["idle run"], 2 * runs), (PAGE, self.pages)]
        calls, reads, writes = (sum(price[n] * times for price, times in parts) for n in range(3))
        return Price(calls, reads, writes)


PAGE: Final = Price(1, 2.5, 0)
"""100 entries of the timer, some 200 bytes each, eventually consistent."""


class Worked:
    """Fading and timer that take as long as DynamoDB's would, and are counted."""

    def __init__(self, people: People, clock: ManualClock, prices: Mapping[str, Price]) -> None:
        self._fading, self._timer = InProcessFactFading(people), InProcessMemoryTimer(people)
        self._clock, self._prices = clock, prices
        self.tally = Tally()

    def due(self, shard: int, at_once: int, *, by: int | None = None) -> Iterator[DueMemory]:
        for place, due in enumerate(self._timer.due(shard, at_once, by=by)):
            if place % AT_ONCE == 0:
                self.tally.pages += 1
                self._take(1)
            yield due

    def postpone(self, due: DueMemory, ms: int) -> None:
        self._timer.postpone(due, ms)

    def settle(self, tenant: str, ref: str, fact_id: str, decide: Callable[[Fact], Fade | None]) -> Settled | None:
        settled = self._fading.settle(tenant, ref, fact_id, decide)
        assert settled is not None
        assert settled.fact.state is FactState.LIMBO
        assert settled.due is not None
        self.tally.steps["limbo"] += 1
        self._take(self._prices["limbo"].calls)
        late = self._clock.now() - settled.due
        self.tally.late_ms[tenant] = max(late, self.tally.late_ms.get(tenant, 0))
        return settled

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fading, name)

    def _take(self, calls: float) -> None:
        self._clock.advance(calls * CALL_MS / 1000)


class Life:
    """Facts that fall due, and the Lambda that its schedule starts once an hour."""

    def __init__(self, prices: Mapping[str, Price], *, cap: int) -> None:
        self.clock = ManualClock(T0)
        self.people = People(self.clock, Numbered())
        self.worked, self.counts = Worked(self.people, self.clock, prices), ProcessCounts()
        self.tenants = Tenants(InProcessTenantStore(), self.clock, cache_seconds=60)
        stores = FactStores(
            facts=InProcessFactStore(self.people),
            fades=self.worked,
            records=InProcessFactRecords(self.people),
            contexts=InProcessContextStore(self.clock),
            timer=self.worked,
        )
        uses = remembering_of(
            stores,
            self.tenants,
            Names(),  # type: ignore[arg-type]  # nothing is sealed
            self,  # type: ignore[arg-type]  # no cap is near: nothing is sent
            self.clock,
            self.counts,
            operate=lambda *_: nullcontext(),
            cap=cap,
            share_ms=Settings().decay_minutes * 54_000,
            others={},
        )
        self._run = ScheduledRun(uses.decay)
        self._numbers = count()
        self._groups: list[list[tuple[str, str]]] = []
        self._template = _template()
        self.runs = 0

    def fall_due(self, tenant: str, instants: list[int]) -> None:
        """Facts of a tenant, which were learned a half-life before."""
        group: list[tuple[str, str]] = []
        for place in range(0, len(instants), A_PERSON):
            ref = f"person-{next(self._numbers)}"
            group.append((tenant, ref))
            with self.people.person(tenant, ref) as person:
                for due in instants[place : place + A_PERSON]:
                    fact = self._learned(due - HALF_LIFE_MS - 1)
                    person.slots[fact.fact_id] = _SLOT
                    self.people.put(person, fact, due_at(fact, DEFAULT_POLICY, fact.created_at))
        self._groups.append(group)

    def _learned(self, at: int) -> Fact:
        instants = dict.fromkeys(("observed_at", "last_confirmed_at", "valid_from", "created_at", "updated_at"), at)
        return self._template.model_copy(update={"fact_id": f"f{next(self._numbers):012x}", **instants})

    def hour(self, number: int) -> None:
        """The hour is over, and its run starts; or as soon as the one before has ended."""
        self.clock.advance(max(T0 + (number + 1) * HOUR_MS - self.clock.now(), 0) / 1000)
        self._started = self.clock.now()
        self._run({}, self)
        self.runs += 1

    def get_remaining_time_in_millis(self) -> int:
        """Of this run, as Lambda answers."""
        return TIMEOUT_MS - (self.clock.now() - self._started)

    def forget_done(self) -> None:
        """What went into limbo is not due again for months: it is let go here, to make room."""
        for group in self._groups:
            for tenant, ref in group[:]:
                with self.people.person(tenant, ref) as person:
                    done = all(fact.state is FactState.LIMBO for fact in person.living.values())
                    logged = len(person.log) == len(person.living)
                if done:
                    assert logged, "each act is logged once"
                    self.people.drop(tenant, ref)
                    group.remove((tenant, ref))
        self._groups = [group for group in self._groups if group]

    @property
    def waiting(self) -> int:
        return sum(map(len, self._groups))


_SLOT: Final = Slot("=saw a bird")


def _template() -> Fact:
    instants = dict.fromkeys(("observed_at", "last_confirmed_at", "valid_from", "created_at", "updated_at"), T0)
    fact = Fact(fact_id="f", statement="Saw a bird", category="other", **instants)  # type: ignore[arg-type]  # as read
    return Fact.model_construct(_fields_set=set(), **dict(fact))


class Month(NamedTuple):
    """A month of facts that fall due."""

    facts: int
    hours: list[int]
    """Facts done in each."""
    cost: Price
    runs: int
    late_ms: int


def month(prices: Mapping[str, Price], facts: int, hours: int = MONTH_HOURS, tenants: int = 50) -> Month:
    """So many facts of so many tenants fall due over these hours, each at a moment of its own."""
    life, rng = Life(prices, cap=Settings().decay_acts_per_tenant), Random(1)  # noqa: S311  # a script
    done: list[int] = []
    for hour in range(hours):
        due = facts * (hour + 1) // hours - facts * hour // hours
        by_tenant = Counter(f"t{rng.randrange(tenants)}" for _ in range(due))
        for tenant, number in by_tenant.items():
            life.fall_due(tenant, sorted(T0 + hour * HOUR_MS + rng.randrange(HOUR_MS) for _ in range(number)))
        before = life.worked.tally.steps["limbo"]
        life.hour(hour)
        done.append(life.worked.tally.steps["limbo"] - before)
        life.forget_done()
    tally = life.worked.tally
    return Month(facts, done, tally.cost(prices, life.runs), life.runs, max(tally.late_ms.values()))


class Backlog(NamedTuple):
    """A sweep that was off, and caught up."""

    waiting: int
    runs: int
    others_late_ms: int
    """The longest that a fact of another tenant waited from the moment that it was due."""
    capped: int
    longest_run_ms: int


def backlog(prices: Mapping[str, Price], waiting: int, an_hour: int, cap: int) -> Backlog:
    """Off for a week, so many facts of one tenant wait; more fall due each hour, and some of others."""
    life, rng = Life(prices, cap=cap), Random(2)  # noqa: S311  # a script
    life.fall_due(MANY, sorted(T0 - rng.randrange(7 * DAY_MS) for _ in range(waiting)))
    hour = longest = 0
    while True:
        begun = T0 + hour * HOUR_MS
        life.fall_due(MANY, sorted(begun + rng.randrange(HOUR_MS) for _ in range(an_hour)))
        for other in range(20):
            life.fall_due(f"small-{other}", [begun + rng.randrange(HOUR_MS)])
        life.hour(hour)
        longest = max(longest, life.clock.now() - life._started)  # its own
        life.forget_done()
        hour += 1
        if not life.waiting:
            others = max(late for tenant, late in life.worked.tally.late_ms.items() if tenant != MANY)
            return Backlog(waiting, hour, others, int(life.counts.value(Count.CAPPED)), longest)


# ---- printed


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> None:
    logging.disable(logging.WARNING)  # that a tenant is capped is what is measured here
    facts = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    prices = measured(200)
    for name, (calls, reads, writes) in prices.items():
        what = "a run with nothing due" if name == "idle run" else f"a fact {name}"
        say(f"{what}: {calls:.2f} calls, {reads:.1f} read units, {writes:.1f} write units; no scan")
    cap, an_hour, started = Settings().decay_acts_per_tenant, facts // MONTH_HOURS, time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        lived = pool.submit(month, prices, facts)
        caught_up = pool.submit(backlog, prices, an_hour * 24 * 7, an_hour, cap)
        done, left = lived.result(), caught_up.result()
    cost = [each / facts for each in done.cost]
    say(f"{facts:,} facts of 50 tenants due over 30 days, {CALL_MS} ms a call, a run an hour:")
    say(f"  an hour: {min(done.hours):,} to {max(done.hours):,} facts, {median(done.hours):,.0f} in the middle")
    say(f"  a fact, idle queries included: {cost[0]:.2f} calls, {cost[1]:.2f} read units, {cost[2]:.2f} write units")
    say(f"  the latest {done.late_ms / 60_000:.0f} min after it was due")
    say(
        f"off for a week, {left.waiting:,} facts of one tenant wait and {an_hour:,} more come an hour; at {cap:,} a run:"
    )
    say(f"  {left.runs} runs until none waits, the longest {left.longest_run_ms / 1000:.0f} s")
    say(f"  facts of 20 other tenants: the latest {left.others_late_ms / 60_000:.0f} min after they were due")
    say(f"both lived through in {time.perf_counter() - started:.0f} s")
    for name, (alone, beside_memory) in beside(300).items():
        say(f"a due {name}: {alone} calls with nothing due of memory, {beside_memory} with 300 facts due before it")


if __name__ == "__main__":
    main()
