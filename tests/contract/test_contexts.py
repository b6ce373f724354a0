"""Receipts of contexts: under faults, at rest, and when what they were made of is gone."""

from __future__ import annotations

import random
from typing import Any

import pytest

from contract import faults
from contract.talking import create, remove, say, store
from contract.world import TENANT, World
from slate.adapters.dynamodb.context_store import PART_BYTES, DynamoContextStore
from slate.contract.contexts import AskContext, GivenContext
from slate.contract.facts import PostFacts
from slate.domain.access import Scope
from slate.domain.context import Format, SectionName
from slate.domain.errors import Conflict, NotFound, SubjectErased
from slate.domain.sessions import Merged


def give(w: World, **more: Any) -> GivenContext:
    return w.slate.memory.contexts.give(w.me, AskContext.model_validate({"session": "s", **more}))


def again(w: World, given: GivenContext) -> GivenContext:
    return w.slate.memory.contexts.get(w.me, given.context_id, given.format)


def receipts(w: World) -> list[dict[str, Any]]:
    return [item for item in w.items().values() if item["pk"].startswith(f"{TENANT}#C#")]


@pytest.fixture
def begun(w: World) -> World:
    create(w, subject="person-1", system="Be brief.")
    say(w, "Hello, I am in Germany.", ("assistant", "Noted."), "What does it cost?")
    return w


def notices(given: GivenContext) -> list[str]:
    return [item.text for each in given.sections if each.name is SectionName.NOTICES for item in each.items]


@pytest.fixture
def moved(begun: World) -> World:
    for city in ("London", "Berlin"):
        fact = {"statement": f"Lives in {city}", "category": "identity", "attribute": "city", "value": city}
        begun.slate.memory.facts.post(begun.me, "person-1", PostFacts.model_validate({"facts": [fact]}), None)
    return begun


@pytest.mark.parametrize("writes", [0, 1])
def test_a_notice_of_a_context_that_died_is_told_by_the_next(moved: World, writes: int) -> None:
    moved.faults.kill_after(writes)
    with pytest.raises(faults.Killed):
        give(moved)
    moved.faults.disarm()
    assert len(notices(give(moved))) == 1
    assert notices(give(moved)) == []


@pytest.mark.parametrize("fault", [faults.reply_lost, faults.request_lost], ids=lambda f: f.__name__)
def test_a_notice_whose_write_got_no_reply_is_told(moved: World, fault: faults.Fault) -> None:
    moved.faults.arm_every(fault)
    assert len(notices(give(moved))) == 1
    moved.faults.disarm()
    assert notices(give(moved)) == []


def test_of_two_contexts_at_once_one_tells_and_each_receipt_says_what_was_given(moved: World) -> None:
    others: list[GivenContext] = []
    moved.faults.arm(1, faults.meanwhile(lambda: others.append(give(moved))))
    mine = give(moved)
    assert [len(notices(each)) for each in (mine, *others)] == [0, 1]
    assert all(again(moved, each) == each for each in (mine, *others))


@pytest.mark.parametrize("fault", [faults.reply_lost, faults.request_lost], ids=lambda f: f.__name__)
def test_a_lost_reply_leaves_one_receipt(begun: World, fault: faults.Fault) -> None:
    begun.faults.arm_every(fault)
    given = give(begun, format=Format.TEXT)
    assert begun.faults.disarm() == 2
    assert len(receipts(begun)) == 1
    assert again(begun, given) == given


def test_a_receipt_is_never_written_over(begun: World) -> None:
    given = give(begun)
    with pytest.raises(Conflict):
        DynamoContextStore(begun.storage).keep(TENANT, given, given.created_at + 1_000)
    assert again(begun, given) == given


def test_nothing_that_was_said_is_at_rest_in_clear(begun: World) -> None:
    give(begun)
    (item,) = receipts(begun)
    assert set(item) == {"pk", "sk", "subject_pk", "said", "parts", "agent", "created_at", "expires_at", "ttl"}
    assert "person-1" not in str(item)
    assert b"Germany" not in bytes(item["said"])


def test_a_large_one_takes_several_items_all_of_them_the_persons(begun: World) -> None:
    noise = random.Random(3).randbytes(160_000).hex()  # noqa: S311  # it only has to be incompressible
    for start in range(0, len(noise), 80_000):
        say(begun, noise[start : start + 80_000])
    given = give(begun, budget={"total": 400_000})
    items = receipts(begun)
    assert len(items) == items[0]["parts"] >= 1
    assert {item["subject_pk"] for item in items} == {items[0]["subject_pk"]}
    assert all(len(bytes(item["said"])) <= PART_BYTES for item in items)
    assert again(begun, given) == given


def test_it_goes_with_the_persons_key(begun: World) -> None:
    given = give(begun)
    ref = begun.storage.codec.keyring.ref(TENANT, "person-1")
    begun.storage.codec.keyring.shred(TENANT, ref, 1)
    begun.clock.advance(begun.settings.key_cache_seconds)
    with pytest.raises(SubjectErased):
        again(begun, given)


def test_it_goes_with_its_session_and_after_its_time(begun: World) -> None:
    given = give(begun)
    begun.clock.advance(30 * 86_400 - 1)
    assert again(begun, given) == given
    begun.slate.memory.sessions.delete(begun.me, "s", None)
    with pytest.raises(NotFound):
        again(begun, given)
    create(begun, "other")
    other = give(begun, session="other")
    begun.clock.advance(30 * 86_400)
    with pytest.raises(NotFound):
        again(begun, other)


def test_a_turn_that_was_deleted_is_not_served_through_a_receipt(begun: World) -> None:
    given = give(begun, format=Format.ANTHROPIC)
    remove(begun, 2)
    remove(begun, 1)
    shown = again(begun, given)
    assert "Noted." not in shown.model_dump_json()
    assert "Germany" not in shown.model_dump_json()
    assert "What does it cost?" in str(shown.messages)
    assert shown.breakdown == given.breakdown
    assert [each.id for each in shown.dropped if each.reason == "deleted since"] == ["turn:1", "turn:2"]


def test_what_was_digested_from_a_deleted_turn_is_not_served_through_a_receipt(begun: World) -> None:
    kept = store(begun)
    cut = kept.cut(TENANT, kept.head(TENANT, "s"), 2, exchanges=1, tokens=1)
    assert cut is not None
    digest = Merged(kept=("They are in Germany.",), segments=(1,), last_seq=2)
    assert kept.keep_merged(TENANT, "s", digest)
    given = give(begun, format=Format.TEXT)
    assert "They are in Germany." in str(given.text)
    assert again(begun, given) == given
    remove(begun, 1)
    assert kept.keep_merged(TENANT, "s", digest.model_copy(update={"kept": ("Noted.",), "version": 2}))
    shown = again(begun, given)
    assert "Germany" not in shown.model_dump_json()
    assert "summary:1" in [each.id for each in shown.dropped]
    anew = give(begun, format=Format.TEXT)
    assert "Noted." in str(anew.text)
    assert again(begun, anew) == anew, "what was digested after the deletion is served"


def test_a_recalled_turn_that_was_deleted_is_not_served_through_a_receipt(begun: World) -> None:
    given = give(begun, session=None, subject="person-1", query="Germany", format=Format.TEXT)
    assert "I am in Germany" in str(given.text)
    assert again(begun, given) == given
    remove(begun, 1)
    shown = again(begun, given)
    assert "Germany" not in shown.model_dump_json(exclude={"query"})
    assert [each.id for each in shown.dropped if each.reason == "deleted since"] == ["turn:s/1"]


@pytest.mark.parametrize("gone", ["turn", "session"])
def test_a_turn_recalled_into_another_session_goes_from_its_receipt_too(begun: World, gone: str) -> None:
    create(begun, "other", subject="person-1")
    given = give(begun, session="other", query="Germany", format=Format.TEXT)
    assert "I am in Germany" in str(given.text)
    if gone == "turn":
        remove(begun, 1)
    else:
        begun.slate.memory.sessions.delete(begun.me, "s", None)
    shown = again(begun, given)
    assert "Germany" not in shown.model_dump_json(exclude={"query"})
    assert ("turn:s/1", "deleted since") in {(each.id, each.reason) for each in shown.dropped}


def test_a_receipt_is_for_the_agent_that_it_was_made_for(begun: World) -> None:
    given = give(begun)
    mine = begun.me.model_copy(update={"scopes": frozenset({Scope.MEMORY_READ})})
    contexts = begun.slate.memory.contexts
    assert contexts.get(mine, given.context_id, given.format) == given
    with pytest.raises(NotFound):
        contexts.get(mine.model_copy(update={"agent": "another"}), given.context_id, given.format)
