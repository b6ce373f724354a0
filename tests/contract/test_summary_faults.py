"""Segments and digests under lost replies, crashes at every write, and deletions that come in between."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from contract import faults
from contract.talking import broken, create, head, remove, say, store
from contract.world import TENANT, World
from slate.adapters.dynamodb.tenant_store import DynamoTenantStore
from slate.adapters.dynamodb.usage_meter import DynamoUsageMeter
from slate.adapters.inprocess.random_ids import RandomIds
from slate.contract.tenants import PutTenant
from slate.domain.errors import VersionMismatch
from slate.domain.sessions import Merged, Segment
from slate.domain.tenants import TenantSettings
from slate.domain.usage import ModelUsage
from slate.service.summaries import FORGOTTEN_AFTER_SECONDS
from slate.wiring.parts import MEMORY
from slate_functions.extractor.consume import Consumer
from slate_functions.extractor.dispatch import Dispatch

BUDGET = "The budget is $4,200, must be spent by March 15, except the printer."


def begun(w: World, exchanges: int = 33) -> World:
    create(w, subject="u")
    w.queues.consume(MEMORY, Consumer(Dispatch(w.slate)), visibility_seconds=1)
    pairs = [(f"Tell me about the weather, part {n}.", ("assistant", f"Part {n} is rain.")) for n in range(exchanges)]
    say(w, BUDGET, *(turn for pair in pairs for turn in pair))
    return w


def work_off(w: World) -> None:
    while w.queues.run_once():
        pass


def digests(w: World) -> tuple[list[Segment], Merged]:
    segments = store(w).newest_segments(TENANT, "s", 100)
    return segments, store(w).merged(TENANT, "s")


def told(w: World) -> Any:
    """All that digests say, without the versions that a repeat may move on."""
    segments, merged = digests(w)
    return [segment.model_dump() for segment in segments], merged.model_dump(exclude={"version"})


@pytest.fixture
def wanted(worlds: Callable[..., World]) -> Any:
    w = begun(worlds())
    work_off(w)
    return told(w)


@pytest.mark.parametrize("loss", [faults.reply_lost, faults.conflict], ids=["reply_lost", "conflict"])
def test_every_reply_lost_and_every_conflict_change_nothing(worlds: Any, wanted: Any, loss: faults.Fault) -> None:
    w = begun(worlds())
    w.faults.arm_every(loss)
    work_off(w)
    w.faults.disarm()
    assert told(w) == wanted
    assert len(wanted[0]) == 2
    assert broken(w.items()) == []


@pytest.mark.parametrize("writes", range(6))
def test_a_crash_at_any_write_is_made_good(w: World, wanted: Any, writes: int) -> None:
    """The message shows again; where its segment had ended, the look that follows asks for the digest."""
    begun(w)
    w.faults.kill_after(writes)
    with pytest.raises(faults.Killed):
        work_off(w)
    w.faults.disarm()
    w.clock.advance(1)
    work_off(w)
    say(w, "And now?")
    work_off(w)
    w.clock.advance(FORGOTTEN_AFTER_SECONDS)
    work_off(w)
    assert told(w) == wanted
    assert broken(w.items()) == []


MOMENTS = [
    pytest.param(among, place, marks=() if place in (2, 4) else pytest.mark.race)
    for among in (faults.WRITES, faults.READS)
    for place in range(1, 12)
]


@pytest.mark.parametrize(("among", "place"), MOMENTS)
def test_a_turn_deleted_at_any_moment_of_a_digest_is_in_none(w: World, among: frozenset[str], place: int) -> None:
    """Before, between and after each write, and after each read, of the digest's making."""
    begun(w, 16)
    w.faults.arm(place, faults.meanwhile(lambda: remove(w, 1)), among=among)
    work_off(w)
    w.faults.disarm()
    w.clock.advance(FORGOTTEN_AFTER_SECONDS)
    say(w, "And now?", ("assistant", "Sun."))
    work_off(w)
    w.clock.advance(FORGOTTEN_AFTER_SECONDS)
    work_off(w)
    segments, merged = digests(w)
    text = json.dumps([*(segment.model_dump(mode="json") for segment in segments), merged.model_dump(mode="json")])
    kept = any(turn.seq == 1 for turn in store(w).turns(TENANT, "s", 0, 1).items)
    assert kept is ("4,200" in text)
    assert merged.last_seq == segments[-1].last_seq == head(w).segment_first - 1
    assert not any(segment.due for segment in segments)


def test_two_merges_at_once_lose_no_segment(w: World) -> None:
    begun(w)
    w.slate.memory.summaries.look(TENANT, "s")
    first, second = store(w).newest_segments(TENANT, "s", 10)
    again = faults.meanwhile(lambda: w.slate.memory.summaries.summarise(TENANT, "s", second.last_seq))
    w.faults.arm(2, again)  # the merge of the first is overtaken by that of the second
    assert w.slate.memory.summaries.summarise(TENANT, "s", first.last_seq)
    assert digests(w)[1].segments == (1, 2)
    assert digests(w)[1].last_seq == second.last_seq


def test_a_person_whose_key_is_gone_is_digested_no_more(w: World) -> None:
    begun(w)
    w.clock.advance(w.settings.key_cache_seconds + 1)
    ref = w.storage.codec.keyring.ref(TENANT, "u")
    found = [item for item in w.dynamodb.scan(TableName=w.settings.keys_table)["Items"] if ref in str(item)]
    assert found
    for item in found:
        key = {name: item[name] for name in ("pk", "sk")}
        w.dynamodb.delete_item(TableName=w.settings.keys_table, Key=key)
    work_off(w)
    assert w.queues.waiting(MEMORY) == []
    assert w.queues.dead_letters(MEMORY) == []
    assert not [key for key in w.items() if key.sk.startswith("SEGMENT#")]


def test_the_meter_counts_and_goes_with_its_session(w: World) -> None:
    meter = DynamoUsageMeter(w.storage)
    meter.add(TENANT, "nowhere", ModelUsage(calls=1))
    assert meter.of(TENANT, "nowhere") == ModelUsage()
    create(w, subject="u")
    meter.add(TENANT, "s", ModelUsage(calls=1, input_tokens=10))
    meter.add(TENANT, "s", ModelUsage(calls=2, output_tokens=5))
    assert meter.of(TENANT, "s") == ModelUsage(calls=3, input_tokens=10, output_tokens=5)
    w.slate.memory.sessions.delete(w.me, "s", None)
    meter.add(TENANT, "s", ModelUsage(calls=1))
    assert meter.of(TENANT, "s") == ModelUsage(), "what is being removed grows no item"


SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}}


def test_settings_whose_reply_is_lost_are_kept_once(w: World) -> None:
    w.faults.arm_every(faults.reply_lost)
    kept = w.slate.memory.tenants.put(w.me, PutTenant(summary_schema=SCHEMA), 0)
    assert (kept.version, kept.summary_schema_version) == (1, 2)
    kept = w.slate.memory.tenants.put(w.me, PutTenant(), 1)
    w.faults.disarm()
    assert (kept.version, kept.summary_schema_version) == (2, 3)


def test_settings_set_meanwhile_are_not_overwritten(w: World) -> None:
    tenants = w.slate.memory.tenants
    w.faults.arm(1, faults.meanwhile(lambda: tenants.put(w.me, PutTenant(summary_schema=SCHEMA), None)))
    with pytest.raises(VersionMismatch):
        tenants.put(w.me, PutTenant(), None)
    assert tenants.show(w.me).summary_schema == SCHEMA


def test_settings_are_worked_by_within_the_caches_time(w: World) -> None:
    tenants = w.slate.memory.tenants
    assert tenants.of(TENANT).version == 0
    DynamoTenantStore(w.storage, RandomIds()).put(TENANT, TenantSettings(version=1))
    assert tenants.of(TENANT).version == 0
    w.clock.advance(w.settings.tenant_cache_seconds)
    assert tenants.of(TENANT).version == 1
