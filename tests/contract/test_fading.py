"""Facts that fade under lost replies, crashes, and workers beside each other: each step once, each act logged once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from botocore.exceptions import ClientError

from contract import faults
from contract.world import TENANT, World
from slate.adapters.dynamodb.fact_fading import DynamoFactFading
from slate.adapters.dynamodb.keys import subject_pk
from slate.contract.contexts import AskContext
from slate.contract.facts import PostFacts
from slate.contract.tenants import PutTenant
from slate.domain.access import Principal, Scope
from slate.domain.facts.model import Fact, FactState
from slate.domain.forgetting.strength import DAY_MS
from slate.ports.memory_timer import DueMemory, MemoryKind
from slate.service.facts.remembering import FactFilter
from slate.service.forgetting.undoing import LogFilter
from slate.wiring.local import build_local, manual_clock
from slate.wiring.parts import Slate

PERSON = "maria.muster@example.com"
DAY = DAY_MS / 1000


def post(slate: Slate, me: Principal, *statements: str, **more: Any) -> list[str]:
    given = [{"statement": each, "category": "other", **more} for each in statements]
    results = slate.memory.facts.post(me, PERSON, PostFacts.model_validate({"facts": given}), None).results
    return [str(result.fact_id) for result in results]


def states(slate: Slate, me: Principal) -> Counter[str]:
    found = [
        fact.state.value
        for state in FactState
        for fact in slate.memory.facts.find(me, PERSON, FactFilter(state=state), 200, None).items
    ]
    return Counter(found)


def acts(slate: Slate, me: Principal) -> Counter[tuple[str | None, str]]:
    entries = slate.memory.forgetting.undoing.log(me, PERSON, LogFilter(), 200, None).items
    return Counter((entry.fact_id, entry.reason.partition(":")[0]) for entry in entries)


def decayed(w: World) -> None:
    w.slate.memory.decay.run_once()


def ref_of(w: World) -> str:
    return w.slate.memory.facts._keyring.ref(TENANT, PERSON)


@pytest.mark.parametrize("fault", [faults.reply_lost, faults.request_lost], ids=lambda f: f.__name__)
def test_a_lost_reply_is_made_good_and_the_act_is_logged_once(w: World, fault: faults.Fault) -> None:
    (fact,) = post(w.slate, w.me, "Once saw a blue heron")
    for days, wanted in ((61, ["in limbo"]), (150, ["in limbo", "forgotten"])):
        w.clock.advance(days * DAY)
        w.faults.arm_every(fault)
        decayed(w)
        assert w.faults.disarm()
        assert acts(w.slate, w.me) == Counter((fact, each) for each in wanted)


def test_killed_at_any_write_a_worker_leaves_work_that_the_next_one_finishes_once(
    worlds: Callable[..., World],
) -> None:
    for writes in range(20):
        w = worlds()
        facts = post(w.slate, w.me, "Once saw a blue heron", "Saw a kite", "Saw a crane")
        w.clock.advance(61 * DAY)
        w.faults.kill_after(writes)
        crashed = False
        try:
            decayed(w)
        except faults.Killed:
            crashed = True
        w.faults.disarm()
        decayed(w)
        assert states(w.slate, w.me) == {"limbo": 3}
        assert acts(w.slate, w.me) == Counter((fact, "in limbo") for fact in facts)
        if not crashed:
            return
    raise AssertionError("it is never done")


def test_two_workers_at_once_decay_each_fact_once_and_log_it_once() -> None:
    clock = manual_clock()
    me = Principal(tenant=TENANT, agent="ann", key_id="k", scopes=frozenset(Scope))
    with build_local(clock=clock) as local, ThreadPoolExecutor(4) as threads:
        facts = post(local.slate, me, *(f"Once saw bird number {n}" for n in range(40)))
        for days, wanted in ((61, ["in limbo"]), (200, ["in limbo", "forgotten"])):
            clock.advance(days * DAY)
            for _ in range(2):
                list(threads.map(lambda _: local.slate.memory.decay.run_once(), range(4)))
            assert acts(local.slate, me) == Counter((fact, each) for fact in facts for each in wanted)
        clock.advance(31 * DAY)
        list(threads.map(lambda _: local.slate.memory.decay.run_once(), range(4)))
        local.drain()
        assert states(local.slate, me) == {}


def die_beside(w: World, *, written: bool) -> faults.Fault:
    """At this write another worker does a whole run; then this one dies, its write done or not."""

    def fault(_: str, __: Mapping[str, Any], call: faults.Call) -> faults.Answer:
        with ThreadPoolExecutor(1) as other:
            other.submit(decayed, w).result()
        if written:
            with suppress(ClientError):
                call()
        raise faults.Killed

    return fault


STAGES = (
    (2, [61], ["in limbo"], {"limbo": 2}),
    (2, [61, 150], ["in limbo", "forgotten"], {"forgotten": 2}),
    (1, [61, 150, 31], ["in limbo", "forgotten"], {}),
)


@pytest.mark.parametrize("written", [False, True], ids=["before it writes", "after it wrote"])
@pytest.mark.parametrize(("facts", "days", "logged", "left"), STAGES, ids=["limbo", "forgotten", "gone"])
def test_of_two_workers_at_once_one_dies_at_any_write_and_each_step_is_taken_and_logged_once(
    worlds: Callable[..., World], facts: int, days: list[int], logged: list[str], left: dict[str, int], written: bool
) -> None:
    for at in range(1, 20):
        w = worlds()
        ids = post(w.slate, w.me, *(f"Once saw bird number {n}" for n in range(facts)))
        for each in days[:-1]:
            w.clock.advance(each * DAY)
            decayed(w)
        w.clock.advance(days[-1] * DAY)
        w.faults.arm(at, die_beside(w, written=written))
        died = False
        try:
            decayed(w)
        except faults.Killed:
            died = True
        w.faults.disarm()
        decayed(w)
        assert acts(w.slate, w.me) == Counter((fact, each) for fact in ids for each in logged)
        assert states(w.slate, w.me) == left
        if left:
            assert {w.slate.memory.facts.get(w.me, PERSON, fact).version for fact in ids} == {1 + len(logged)}
        else:
            decayed(w)
            assert left_of(w) == ["FORGOT"] * len(logged)
        if not died:
            assert at > 2, "every write was tried"
            return
    raise AssertionError("it is never done")


def test_a_fact_that_is_woken_while_it_is_put_in_limbo_stays(w: World) -> None:
    """The step is pinned to the use that was read: whoever is second decides again."""
    (fact,) = post(w.slate, w.me, "Once saw a blue heron")
    w.clock.advance(61 * DAY)
    fading = DynamoFactFading(w.storage, w.slate.memory.extracting._ids)
    ref, now = ref_of(w), w.clock.now()

    def wake() -> None:
        fading.wake(TENANT, ref, [fact], lambda each: each.model_copy(update={"woken_at": now, "wakes": 1}))

    w.faults.arm(1, faults.meanwhile(wake))
    decayed(w)
    w.faults.disarm()
    assert states(w.slate, w.me) == {"active": 1}
    assert acts(w.slate, w.me) == {}


def test_an_edit_does_not_lose_a_use_that_came_between(w: World) -> None:
    (fact,) = post(w.slate, w.me, "Once saw a blue heron")
    fading, ref = DynamoFactFading(w.storage, w.slate.memory.extracting._ids), ref_of(w)
    w.clock.advance(DAY)
    now = w.clock.now()

    def used(each: Fact) -> Fact:
        return each.model_copy(update={"woken_at": now, "wakes": 1})

    w.faults.arm(1, faults.meanwhile(lambda: fading.wake(TENANT, ref, [fact], used)))
    after = w.slate.memory.facts.confirm(w.me, PERSON, fact)
    w.faults.disarm()
    assert (after.wakes, after.woken_at) == (1, now)


def test_beyond_its_share_a_tenant_waits_in_its_place_and_others_pass(w: World) -> None:
    other = w.principal(tenant="globex")
    post(w.slate, w.me, *(f"Once saw bird number {n}" for n in range(10)))
    w.clock.advance(1)
    post(w.slate, other, *(f"Once saw bird number {n}" for n in range(3)))
    w.slate.memory.forgetting.fading._cap = 4
    w.clock.advance(67 * DAY)
    for left in (6, 2, 0):
        decayed(w)
        decayed(w)
        assert states(w.slate, w.me).get("active", 0) == left
        assert states(w.slate, other) == {"limbo": 3}, "whoever stands behind is not kept waiting"
        w.clock.advance(w.settings.decay_minutes * 60)


class Holding:
    """Says whether somebody is held, and counts how often it is asked."""

    def __init__(self) -> None:
        self.people: set[tuple[str, str]] = set()
        self.asked = 0

    def __call__(self, tenant: str, ref: str) -> bool:
        self.asked += 1
        return (tenant, ref) in self.people


def test_what_is_held_is_left_alone_asked_once_a_batch_and_looked_at_again(w: World) -> None:
    post(w.slate, w.me, "Once saw a blue heron")
    w.slate.memory.forgetting.fading._held = holding = Holding()
    holding.people.add((TENANT, ref_of(w)))
    w.clock.advance(61 * DAY)
    decayed(w)
    assert states(w.slate, w.me) == {"active": 1}
    assert list(w.slate.memory.forgetting.fading.preview(w.clock.now(), 100)) == []
    holding.people.clear()
    decayed(w)
    assert states(w.slate, w.me) == {"active": 1}
    w.clock.advance(DAY)
    decayed(w)
    assert states(w.slate, w.me) == {"limbo": 1}


def test_whether_somebody_is_held_is_asked_once_a_batch_however_many_of_their_facts_are_due(w: World) -> None:
    post(w.slate, w.me, *(f"Once saw bird number {n}" for n in range(40)))
    w.slate.memory.forgetting.fading._held = holding = Holding()
    w.clock.advance(61 * DAY)
    decayed(w)
    assert states(w.slate, w.me) == {"limbo": 40}
    assert holding.asked <= 16, "a batch is a page of a shard"


def test_of_whoever_is_held_nothing_is_evicted(w: World) -> None:
    w.slate.memory.tenants.put(w.me, PutTenant(fact_cap=2), None)
    facts = post(w.slate, w.me, *(f"Once saw bird number {n}" for n in range(4)))
    evicting = w.slate.memory.forgetting.evicting
    evicting._held = holding = Holding()
    holding.people.add((TENANT, ref_of(w)))
    assert evicting.check(TENANT, ref_of(w)) == 0
    assert (states(w.slate, w.me), acts(w.slate, w.me)) == ({"active": 4}, {})
    holding.people.clear()
    assert evicting.check(TENANT, ref_of(w)) == 2
    assert holding.asked == 2
    assert set(acts(w.slate, w.me)) == {(fact, "more than 2 facts") for fact in facts[:2]}


def test_of_what_is_kept_for_forgetting_all_is_sealed_and_says_whom_it_is_about(w: World) -> None:
    post(w.slate, w.me, "Plays the xyzzy cello")
    w.clock.advance(DAY)
    ask = AskContext.model_validate({"subject": PERSON, "query": "who plays the xyzzy?"})
    context = w.slate.memory.contexts.give(w.me, ask)
    forgetting = w.slate.memory.forgetting
    fading, ref = forgetting.waking._fading, ref_of(w)
    served = [item.id for section in context.sections if section.name == "facts" for item in section.items]
    message = {
        "tenant": TENANT,
        "ref": ref,
        "context_id": context.context_id,
        "facts": served,
        "at": context.created_at,
    }
    assert forgetting.waking.served(message) == 1
    assert forgetting.waking.served(message) == 0, "delivered again, it changes nothing"
    fading.note_served(TENANT, ref, "s1", served)
    assert fading.queries(TENANT, ref) == ["who plays the xyzzy?"]
    assert fading.served(TENANT, ref, "s1") == served
    mine = [item for item in w.items().values() if item["pk"] == subject_pk(TENANT, ref)]
    assert {str(item["sk"]).partition("#")[0] for item in mine} == {"SLOT", "FACT", "ASKED", "SERVED"}
    assert all(item["subject_pk"] == f"{TENANT}#{ref}" for item in mine)
    assert "xyzzy" not in str(w.items())


def left_of(w: World) -> list[str]:
    mine = [item for item in w.items().values() if item["pk"] == subject_pk(TENANT, ref_of(w))]
    return sorted(str(item["sk"]).partition("#")[0] for item in mine)


def test_when_its_window_is_over_only_the_log_is_left_of_a_fact(w: World) -> None:
    post(w.slate, w.me, "Once saw a blue heron")
    for days in (61, 150, 31):
        w.clock.advance(days * DAY)
        decayed(w)
        decayed(w)
    assert left_of(w) == ["FORGOT", "FORGOT"]


@pytest.mark.parametrize("fault", [faults.reply_lost, faults.request_lost], ids=lambda f: f.__name__)
def test_what_goes_for_good_goes_whole_though_replies_are_lost(w: World, fault: faults.Fault) -> None:
    (fact,) = post(w.slate, w.me, "Once saw a blue heron")
    w.slate.memory.facts.delete(w.me, PERSON, fact, None)
    w.clock.advance(31 * DAY)
    w.faults.arm_every(fault)
    decayed(w)
    assert w.faults.disarm()
    decayed(w)
    assert left_of(w) == ["FORGOT"]


def test_a_step_that_is_told_again_moves_nothing(w: World) -> None:
    (fact,) = post(w.slate, w.me, "Once saw a blue heron")
    fading, ref = DynamoFactFading(w.storage, w.slate.memory.extracting._ids), ref_of(w)

    def up(each: Fact) -> Fact:
        return each.model_copy(update={"importance": each.importance + 1})

    w.faults.arm_every(faults.reply_lost)
    assert fading.step(TENANT, ref, fact, "c-1", "used", up)
    w.faults.disarm()
    assert not fading.step(TENANT, ref, fact, "c-1", "used", up)
    assert w.slate.memory.facts.get(w.me, PERSON, fact).importance == 6


def test_an_entry_of_a_fact_that_is_gone_is_no_work(w: World) -> None:
    forgetting = w.slate.memory.forgetting
    for kind in (MemoryKind.LIVING, MemoryKind.FACT):
        forgetting.fading.tick(DueMemory(TENANT, kind, ref_of(w), "f-gone"))
