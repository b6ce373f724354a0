"""What a year of simulated people says of Slate: stores in this process and DynamoDB's come to the same, act by act."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from contract.world import START, World
from evals.forgetting import MEMORIES, Memory, live
from evals.people import YEAR
from remembering import TENANT, Numbered, Remembered, in_process, on_dynamo
from slate.adapters.inprocess.clocks import ManualClock
from slate.domain.errors import Conflict
from slate.domain.facts.model import Fact
from slate.domain.forgetting.acts import Act
from slate.domain.forgetting.feedback import stepped
from slate.domain.forgetting.strength import DAY_MS
from slate.ports.fact_store import Shelf

Pair = Callable[..., tuple[Remembered, Remembered]]
OWN_IDS = {"fact_id", "superseded_by", "contradicts", "log_id"}
"""Each store makes its own."""


@pytest.fixture
def pair(worlds: Callable[..., World]) -> Pair:
    """The same memory twice, at the same instant: in DynamoDB, and in this process."""

    def make(**settings: Any) -> tuple[Remembered, Remembered]:
        world, clock = worlds(), ManualClock(START)
        return (
            Remembered(on_dynamo(world.storage, Numbered()), world.clock, **settings),
            Remembered(in_process(clock, Numbered()), clock, **settings),
        )

    return make


def facts(r: Remembered, person: str) -> list[Fact]:
    """All there are, in an order that does not hang on ids."""
    page = r.stores.facts.page(TENANT, r.ref(person), tuple(Shelf), None, 10_000)
    return sorted((fact for _, fact in page.items), key=lambda fact: (fact.created_at, fact.statement, fact.version))


def everything(r: Remembered, person: str) -> dict[str, Any]:
    """All that is known of somebody, all that was done about it, and what will fall due of it."""
    ref, kept = r.ref(person), facts(r, person)
    named = {fact.fact_id: fact.statement for fact in kept}
    log = r.stores.records.log(TENANT, ref, None, 10_000).items
    by = r.clock.now() + 366 * DAY_MS
    due = [each for shard in range(16) for each in r.stores.timer.due(shard, 100, by=by) if each.owner == ref]
    return {
        "facts": [(fact.model_dump(exclude=OWN_IDS), named.get(fact.superseded_by or "")) for fact in kept],
        "log": sorted(
            ((named.get(each.fact_id or "", ""), each.model_dump(exclude=OWN_IDS)) for each in log),
            key=lambda told: (told[1]["at"], told[1]["rule"], told[0], sorted(told[1]["numbers"].items())),
        ),
        "due": Counter((named[each.name], each.kind) for each in due),
        "asked": r.stores.fades.queries(TENANT, ref),
        "notices": [notice.text for notice in r.stores.records.notices(TENANT, ref, None, 1_000).items],
    }


def same_days(pair: Pair, *, people: int, days: int, decay_every: int) -> None:
    stored, fast = pair(**MEMORIES["Slate"])
    scores = [live(range(people), Memory(each), days=days, decay_every=decay_every) for each in (stored, fast)]
    assert scores[0] == scores[1]
    assert scores[0].evicted > 4 * people
    assert scores[0].purged > 0
    for n in range(people):
        assert everything(stored, f"person-{n}") == everything(fast, f"person-{n}")
    assert stored.counts.prometheus() == fast.counts.prometheus()


def test_half_a_year_of_a_simulated_person_ends_the_same_in_dynamodb(pair: Pair) -> None:
    same_days(pair, people=1, days=200, decay_every=14)


@pytest.mark.race
def test_a_year_of_some_simulated_people_ends_the_same_in_dynamodb(pair: Pair) -> None:
    same_days(pair, people=6, days=YEAR, decay_every=1)


def deeds(r: Remembered, rng: Random) -> Mapping[str, Callable[[], object]]:
    """What somebody may do now, and what time may; both draw the same."""
    stores, now, ref, kept = r.stores, r.clock.now(), r.ref("u"), facts(r, "u")
    word, city = rng.choice(("heron", "kite", "crane", "stork")), rng.choice(("Rome", "Oslo", "Bonn"))
    importance, days, chosen = rng.randrange(2, 10), rng.randrange(1, 70), rng.random()
    said = {"importance": importance, "keep_maybe": importance == 5}
    by_word = {
        "tell": lambda: r.tell("u", f"Saw a {word}", **said),
        "slot": lambda: r.tell("u", f"Lives in {city}", attribute="city", value=city, confidence=importance / 10),
        "ask": lambda: r.ask("u", f"which {word} was it?"),
        "time": lambda: r.pass_days(days),
    }
    if not kept:
        return by_word
    fact = kept[int(chosen * len(kept))].fact_id
    log = Act("deleted", "on request", "ann", now, now + 30 * DAY_MS)
    return by_word | {
        "forget": lambda: stores.facts.forget(TENANT, ref, fact, log, said=importance > 5),
        "restore": lambda: stores.facts.restore(TENANT, ref, fact, now),
        "keep": lambda: stores.facts.keep(TENANT, ref, fact, log._replace(rule="keep_maybe")),
        "confirm": lambda: stores.facts.confirm(TENANT, ref, fact, now),
        "step": lambda: stores.fades.step(TENANT, ref, fact, f"c-{importance}", "used", lambda each: stepped(each, 1)),
        "purge": lambda: stores.facts.purge(TENANT, ref, fact),
    }


def same(pair: Pair, seed: int, acts: int) -> None:
    stored, fast = pair(fact_cap=6)
    for each in (stored, fast):
        rng = Random(seed)  # noqa: S311  # the same each time
        for _ in range(acts):
            each.clock.advance(1)
            possible = deeds(each, rng)
            with suppress(Conflict):
                possible[rng.choice(sorted(possible))]()
    assert everything(stored, "u") == everything(fast, "u")


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_both_come_to_the_same(pair: Pair, seed: int) -> None:
    same(pair, seed, acts=40)


@pytest.mark.race
@pytest.mark.parametrize("seed", range(100, 140))
def test_whatever_is_done_for_long_both_come_to_the_same(pair: Pair, seed: int) -> None:
    same(pair, seed, acts=150)
