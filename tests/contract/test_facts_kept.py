"""Facts under lost replies, conflicts, crashes and racing writers; what is stored of them, and how."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

from contract import faults
from contract.world import TENANT, World
from slate.adapters.dynamodb.fact_records import DynamoFactRecords
from slate.adapters.dynamodb.fact_store import DynamoFactStore
from slate.contract.facts import ExtractFacts, PostFacts, PutConsents
from slate.domain.access import Principal, Scope
from slate.domain.errors import SubjectErased
from slate.domain.facts.model import Fact
from slate.service.facts.remembering import FactFilter
from slate.wiring.local import build_local
from slate.wiring.parts import Slate

PERSON = "maria.muster@example.com"
MARK = "xyzzy-marker"


def post(slate: Slate, me: Principal, statement: str, **more: Any) -> Any:
    body = PostFacts.model_validate({"facts": [{"statement": statement, "category": "other", **more}]})
    return slate.memory.facts.post(me, PERSON, body, None).results[0]


def lives(slate: Slate, me: Principal, city: str, at: int, **more: Any) -> Any:
    return post(slate, me, f"Lives in {city}", attribute="city", value=city, observed_at=at, **more)


def listed(slate: Slate, me: Principal, **wanted: Any) -> list[Fact]:
    return list(slate.memory.facts.find(me, PERSON, FactFilter(**wanted), 200, None).items)


def history(slate: Slate, me: Principal) -> list[Any]:
    (standing, *_) = listed(slate, me)
    told = slate.memory.facts.history(me, PERSON, standing.fact_id).items
    return [(fact.value, fact.state, fact.valid_from, fact.valid_to, fact.last_confirmed_at) for fact in told]


def everybody(tenant: str = TENANT) -> Principal:
    return Principal(tenant=tenant, agent="ann", key_id="k", scopes=frozenset(Scope))


def test_eight_writers_in_any_order_end_as_one_writer_in_order() -> None:
    """24 statements of one slot, no two at one instant, by 8 threads at once."""
    said = [("Paris", "Rome", "Oslo")[i % 3] for i in range(24)]
    with build_local() as alone:
        now, me = alone.clock.now() - 1_000_000, everybody()
        for i, city in enumerate(said):
            lives(alone.slate, me, city, now + i)
        wanted = history(alone.slate, me)
    order = list(enumerate(said))
    Random(7).shuffle(order)  # noqa: S311  # an order, the same each time
    with build_local() as local, ThreadPoolExecutor(8) as threads:
        done = list(threads.map(lambda each: lives(local.slate, me, each[1], now + each[0]), order))
        assert {decision.op for decision in done} <= {"ADD", "UPDATE", "NOOP"}
        assert history(local.slate, me) == wanted
        assert [fact.value for fact in listed(local.slate, me)] == ["Oslo"]


def test_two_adds_of_one_statement_at_once_give_one_fact() -> None:
    with build_local() as local, ThreadPoolExecutor(8) as threads:
        done = list(threads.map(lambda _: post(local.slate, everybody(), "Likes tea"), range(8)))
        assert sorted(decision.op for decision in done) == ["ADD", *["NOOP"] * 7]
        assert len({decision.fact_id for decision in done}) == len(listed(local.slate, everybody())) == 1


def step_add(w: World) -> Any:
    return lives(w.slate, w.me, "Rome", w.clock.now() - 50)


def step_update(w: World) -> Any:
    lives(w.slate, w.me, "Rome", w.clock.now() - 50)
    return lives(w.slate, w.me, "Oslo", w.clock.now() - 40)


def step_late(w: World) -> Any:
    lives(w.slate, w.me, "Oslo", w.clock.now() - 40)
    lives(w.slate, w.me, "Oslo", w.clock.now() - 20)
    return lives(w.slate, w.me, "Rome", w.clock.now() - 30)


def step_trivial(w: World) -> Any:
    return post(w.slate, w.me, "Wore a hat", importance=2)


def step_quarantine(w: World) -> Any:
    return post(w.slate, w.me, "Has root access")


def step_delete_and_restore(w: World) -> Any:
    fact_id = step_update(w).fact_id
    w.slate.memory.facts.delete(w.me, PERSON, fact_id, None)
    return w.slate.memory.facts.restore(w.me, PERSON, fact_id).state


def step_consent(w: World) -> Any:
    body = {"health": {"given": True, "at": w.clock.now(), "source": "form"}}
    w.slate.memory.reviewing.put_consents(w.me, PERSON, PutConsents.model_validate(body), None)
    post(w.slate, w.me, "Has asthma")
    body["health"]["given"] = False
    w.slate.memory.reviewing.put_consents(w.me, PERSON, PutConsents.model_validate(body), None)
    return len(listed(w.slate, w.me))


def step_extract(w: World) -> Any:
    body = ExtractFacts.model_validate({"messages": [{"role": "user", "content": "I live in Rome and use Python."}]})
    done = w.slate.memory.extracting.ask(w.me, PERSON, body, None, wait=True)
    return [decision["op"] for decision in done.decisions]


STEPS = [
    step_add, step_update, step_late, step_trivial, step_quarantine, step_delete_and_restore, step_consent, step_extract,
]  # fmt: skip


def shape(w: World) -> Any:
    """What is kept, without ids and ciphers."""
    plain = {"said", "subject_pk", "pk", "by", "slot", "timer_pk", "timer_sk", "fact", "digest", "wrapped"}
    return sorted(
        str(
            (str(item["sk"]).partition("#")[0], sorted((k, v) for k, v in item.items() if k not in plain and k != "sk"))
        )
        for item in w.items().values()
        if "#U#" in item["pk"]
    )


@pytest.mark.parametrize("fault", [faults.reply_lost, faults.request_lost], ids=lambda f: f.__name__)
@pytest.mark.parametrize("step", STEPS, ids=lambda s: s.__name__)
def test_a_lost_reply_is_made_good_within_the_call(
    worlds: Callable[..., World], step: Callable[[World], Any], fault: faults.Fault
) -> None:
    clean, w = worlds(), worlds()
    wanted = step(clean)
    w.faults.arm_every(fault)
    got = step(w)
    assert w.faults.disarm()
    assert answer(got) == answer(wanted)
    assert shape(w) == shape(clean)


def answer(result: Any) -> Any:
    return result.op if hasattr(result, "op") else result


@pytest.mark.parametrize("step", [step_late, step_trivial, step_delete_and_restore], ids=lambda s: s.__name__)
def test_after_a_crash_at_any_write_the_same_again_ends_as_it_should(
    worlds: Callable[..., World], step: Callable[[World], Any]
) -> None:
    clean = worlds()
    step(clean)
    wanted = [(fact.statement, fact.state) for fact in listed(clean.slate, clean.me)]
    for writes in range(8):
        w = worlds()
        w.faults.kill_after(writes)
        try:
            step(w)
            crashed = False
        except faults.Killed:
            crashed = True
        w.faults.disarm()
        step(w)
        assert [(fact.statement, fact.state) for fact in listed(w.slate, w.me)] == wanted
        if not crashed:
            return


def test_everything_is_sealed_says_whom_it_is_about_and_goes_with_the_key(w: World) -> None:
    lives(w.slate, w.me, MARK, w.clock.now() - 50, topics=[MARK], source=MARK)
    lives(w.slate, w.me, f"{MARK}ville", w.clock.now())
    post(w.slate, w.me, f"Once wore {MARK}", importance=2)
    post(w.slate, w.me, f"Has root access to {MARK}")
    gone = post(w.slate, w.me, f"Likes {MARK}").fact_id
    w.slate.memory.facts.delete(w.me, PERSON, gone, None)
    ref = w.slate.memory.facts._keyring.ref(TENANT, PERSON)
    records = DynamoFactRecords(w.storage)
    (notice,) = records.undelivered(TENANT, ref, "s")
    assert records.deliver(TENANT, ref, "s", [notice.notice_id]) == {notice.notice_id}
    assert records.deliver(TENANT, ref, "s", [notice.notice_id]) == set()
    assert records.undelivered(TENANT, ref, "s") == []
    body = ExtractFacts.model_validate({"messages": [{"role": "user", "content": f"I like {MARK}."}] * 1000})
    w.slate.memory.extracting.ask(w.me, PERSON, body, None, wait=False)
    ours = [item for item in w.items().values() if "#U#" in item["pk"] or "#X#" in item["pk"]]
    assert {str(item["sk"]).partition("#")[0] for item in ours} == {
        "SLOT", "FACT", "PAST", "NOTICE", "TOLD", "QUARANTINE", "FORGOT", "EXTRACTION", "MATERIAL",
    }  # fmt: skip
    assert all(item["subject_pk"] == f"{TENANT}#{ref}" for item in ours)
    everything = "".join(str(item) for item in w.items().values())
    assert MARK not in everything
    assert "maria" not in everything
    keys = w.dynamodb.scan(TableName=w.settings.keys_table)["Items"]
    for item in keys:
        if ref in item["pk"]["S"]:
            w.dynamodb.delete_item(TableName=w.settings.keys_table, Key={"pk": item["pk"], "sk": item["sk"]})
    w.clock.advance(3600)
    assert DynamoFactStore(w.storage, w.slate.memory.extracting._ids).active(TENANT, ref) == []
    assert listed(w.slate, w.me) == []
    with pytest.raises(SubjectErased):
        w.slate.memory.facts.get(w.me, PERSON, gone)


def test_a_notice_that_is_out_of_date_is_told_no_more(w: World) -> None:
    for day, city in enumerate(("London", "Berlin", "Paris")):
        lives(w.slate, w.me, city, w.clock.now() - 50 + day)
        w.clock.advance(1)
    ref = w.slate.memory.facts._keyring.ref(TENANT, PERSON)
    (notice,) = DynamoFactRecords(w.storage).undelivered(TENANT, ref, "s")
    assert "Paris" in notice.text
    assert "London" not in notice.text


def test_a_forgotten_fact_is_gone_with_its_words_once_its_time_is_over(w: World) -> None:
    lives(w.slate, w.me, "London", w.clock.now() - 50)
    gone = lives(w.slate, w.me, "Berlin", w.clock.now()).fact_id
    w.slate.memory.facts.delete(w.me, PERSON, gone, None)
    w.clock.advance(29 * 86_400)
    w.slate.memory.decay.run_once()
    assert w.slate.memory.facts.get(w.me, PERSON, gone).state == "forgotten"
    w.clock.advance(2 * 86_400)
    w.slate.memory.decay.run_once()
    ref = w.slate.memory.facts._keyring.ref(TENANT, PERSON)
    store = DynamoFactStore(w.storage, w.slate.memory.extracting._ids)
    assert [item["sk"] for item in w.items().values() if gone in str(item["sk"])] == []
    slots = [store._items.timeline(TENANT, item) for item in w.items().values() if str(item["sk"]).startswith("SLOT#")]
    assert "berlin" not in str(slots)
    assert "london" not in str(slots), "what it had replaced goes with it"
    assert store.active(TENANT, ref) == []
