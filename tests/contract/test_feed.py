"""The feed over the storage: what the stream tells becomes entries once, also when calls fail and graphs go."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from contract.faults import Killed, meanwhile, reply_lost, throttled
from contract.scenarios import SCENARIOS, SWEEPS, Scenario
from contract.stream import Record, Stream, keys_of, lines
from contract.world import TENANT, World, after, task
from slate.adapters.dynamodb.calls import from_wire
from slate.adapters.dynamodb.feed_records import TASK_NAMES
from slate.adapters.dynamodb.task_items import shown_state
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.domain.errors import NotFound, SlateError
from slate.domain.events import FeedEntry
from slate.domain.feed import WAIT_MS
from slate.service.feed import numbering


@pytest.fixture(scope="module")
def streams() -> Iterator[Any]:
    with MotoEngine(region="eu-central-1") as engine:
        yield engine.client("dynamodbstreams")


@pytest.fixture
def stream(w: World, streams: Any) -> Stream:
    return Stream(w, streams)


# ---- what a version is


@pytest.mark.parametrize("name", [*SCENARIOS, *SWEEPS])
def test_a_change_of_state_is_one_version_and_nothing_else_is(w: World, streams: Any, name: str):
    every: dict[str, Scenario] = {**SCENARIOS, **SWEEPS}
    act = every[name](w)
    with suppress(SlateError):
        act()
    for record in Stream(w, streams).records():
        old, new = (record["dynamodb"].get(image) or {} for image in ("OldImage", "NewImage"))
        if not old or "#G#" not in keys_of(record)[0]:
            continue
        grown = int(new["version"]["N"]) - int(old["version"]["N"])
        assert grown == (1 if _reads(old) != _reads(new) else 0), (keys_of(record), _reads(old), _reads(new))


def _reads(image: dict[str, Any]) -> Any:
    """What of an item a version stands for: its state, what it waits for, and its history."""
    item = from_wire({name: image[name] for name in TASK_NAMES if name in image and name != "version"}) or {}
    state = shown_state(item) if "history" in item else item["state"]
    return state, item.get("need"), item.get("history")


def test_a_heartbeat_makes_no_entry(w: World, stream: Stream):
    w.graph(task("a"))
    claim = w.claim()
    stream.follow()
    before = stream.feed()
    for _ in range(3):
        w.clock.advance(1)
        w.heartbeat(claim, progress={"half": True})
    assert len(stream.records()) == 3
    assert stream.feed() == before


# ---- the entries


def test_entries_say_what_happened_to_whom_and_by_whom(w: World, stream: Stream):
    w.graph(task("a"), task("b", "a", needs_approval=True))
    w.complete(w.claim(by=w.principal("worker-7")), by=w.principal("worker-7"))
    w.resume("b", by=w.principal("carla"))
    w.fail(w.claim(), retryable=False)
    stream.follow()
    assert lines(stream.feed()) == [
        "graph.created",
        "task.ready a",
        "task.blocked b",
        "task.claimed a",
        "task.completed a",
        "task.waiting b",
        "task.ready b",
        "task.claimed b",
        "task.failed b",
        "graph.completed",
    ]
    assert [e.agent for e in stream.feed()] == [
        None,
        None,
        None,
        "worker-7",
        "worker-7",
        None,
        "carla",
        "ann",
        "ann",
        None,
    ]
    assert [e.epoch for e in stream.feed() if e.task_id == "b"] == [0, 0, 0, 1, 2]
    assert {e.role for e in stream.feed() if e.task_id} == {"worker"}
    assert stream.feed()[-1].state == "FAILED"


def test_a_graph_in_parts_is_told_when_it_begins_and_when_it_is_whole(w: World, stream: Stream):
    w.graph(task("a"), more=True)
    w.add(task("b", "a"))
    stream.follow()
    assert lines(stream.feed()) == [
        "graph.creating",
        "task.blocked a",
        "task.blocked b",
        "graph.created",
        "task.ready a",
    ]
    w.cancel_graph()
    w.settle()
    stream.follow()
    assert lines(stream.feed())[5:] == ["graph.cancelling", "task.cancelled a", "task.cancelled b", "graph.cancelled"]


def test_a_page_goes_on_where_the_last_ended(w: World, stream: Stream):
    w.graph(*(task(f"t{i}") for i in range(5)))
    stream.follow()
    w.claim()
    stream.follow()  # the next page of the storage
    assert [e.seq for e in stream.page(after=5, limit=9).items] == [6, 7]
    page = stream.page(after=2, limit=3)
    assert [e.seq for e in page.items] == [3, 4, 5]
    assert page.next_after == 5
    assert stream.page(after=99).items == ()
    assert stream.page(after=99).next_after == 99


# ---- once, whatever happens


def test_redelivered_and_reordered_records_change_nothing(w: World, stream: Stream):
    w.graph(task("a"), task("b", "a"))
    w.work_off()
    records = stream.records()
    for record in reversed(records):
        assert stream.hand([record]) == []
    told = stream.feed()
    assert [e.state for e in told if e.task_id == "b"] == ["BLOCKED", "READY", "RUNNING", "DONE"]
    kept = stream.kept()
    assert stream.hand([*records, *records]) == []
    assert stream.feed() == told
    assert stream.kept() == kept


@pytest.mark.parametrize("fault", [reply_lost, throttled])
def test_a_consumer_whose_call_fails_or_is_lost_numbers_each_change_once(w: World, stream: Stream, fault: Any):
    w.graph(task("a"), task("b"))
    w.work_off()
    records = stream.records()
    w.faults.arm_every(fault)
    for _ in range(40):
        if not stream.hand(records):
            break
    w.faults.disarm()
    assert [e.seq for e in stream.feed()] == list(range(1, 9))
    assert sorted(e.state for e in stream.feed() if e.task_id == "a") == ["DONE", "READY", "RUNNING"]


def test_a_consumer_that_is_killed_at_any_call_is_gone_on_from(
    worlds: Callable[..., World], streams: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(numbering, "STEPS_AT_ONCE", 30)
    for writes in range(4):
        w = worlds()
        stream = Stream(w, streams)
        w.graph(*(task(f"t{i}") for i in range(45)))  # two transactions, and what the bus was told after each
        records = stream.records()
        w.faults.kill_after(writes)
        with suppress(Killed):
            stream.hand(records)
        w.faults.disarm()
        assert stream.hand(records) == []
        assert [e.seq for e in stream.feed()] == list(range(1, 47))
        assert len({e.task_id for e in stream.feed()}) == 46


def test_two_consumers_at_once_number_each_change_once(w: World, stream: Stream):
    w.graph(*(task(f"t{i}") for i in range(10)))
    first, second = (records := stream.records())[:6], records[6:]
    w.faults.arm(1, meanwhile(lambda: stream.hand([*second, *first])))
    assert stream.hand(records) == []
    assert [e.seq for e in stream.feed()] == list(range(1, 12))
    assert len({e.task_id for e in stream.feed()}) == 11


def test_the_bus_is_told_each_entry_at_least_once_in_order(w: World, stream: Stream, monkeypatch: pytest.MonkeyPatch):
    told: list[FeedEntry] = []
    broken = iter((True, True, False, True))

    def publish(tenant: str, events: Any) -> None:
        assert tenant == TENANT
        if next(broken, False):
            raise ConnectionError
        told.extend(events)

    monkeypatch.setattr(w.slate.feeds._bus, "publish", publish)
    w.graph(task("a"))
    records = stream.records()
    assert stream.hand(records) == [records[0]["dynamodb"]["SequenceNumber"]]
    assert len(stream.feed()) == 2, "the feed does not wait for the bus"
    assert stream.hand(records) != []
    assert stream.hand(records) == []
    w.claim()
    more = stream.records()
    assert stream.hand(more) != []
    assert stream.hand(more) == []
    assert told == list(stream.feed())


# ---- what cannot be read, and what does not come


def broken(record: Record, *names: str) -> Record:
    spoilt = copy.deepcopy(record)
    for name in names:
        del spoilt["dynamodb"]["NewImage"][name]
    return spoilt


def test_a_poison_record_is_reported_leaves_a_gap_and_holds_up_nobody(w: World, stream: Stream):
    w.graph(task("a"), task("b"))
    w.work_off()
    records = stream.records()
    i = next(i for i, r in enumerate(records) if keys_of(r)[1] == "T#a" and r["eventName"] == "MODIFY")
    records[i] = broken(records[i], "state")
    assert stream.hand(records) == []
    assert [str(e.type) for e in stream.feed() if e.task_id == "a"] == ["task.ready", "gap", "task.completed"]
    assert [e.state for e in stream.feed() if e.task_id == "b"] == ["READY", "RUNNING", "DONE"]
    assert [e.seq for e in stream.feed()] == list(range(1, 9))
    (failure,) = stream.failures()
    assert failure["sk"] == "T#a"
    assert failure["sequence_number"] == records[i]["dynamodb"]["SequenceNumber"]


def test_a_poison_record_at_the_end_does_not_spoil_the_counts(w: World, stream: Stream):
    w.graph(task("a"))
    w.work_off()
    *most, last = stream.records()
    stream.hand([*most, broken(last, "history")])
    assert lines(stream.feed())[-1] == "gap a"
    w.sweep()
    assert lines(stream.feed())[-2:] == ["gap a", "graph.completed"], "the table itself was looked at"
    assert stream.feed()[-1].state == "DONE"


def test_a_record_that_is_given_up_becomes_a_gap_after_its_time(w: World, stream: Stream):
    w.graph(task("a"))
    w.work_off()
    records = [r for r in stream.records() if r["dynamodb"].get("NewImage", {}).get("version") != {"N": "2"}]
    assert stream.hand(records) == []
    assert lines(stream.feed()) == ["graph.created", "task.ready a"]
    w.clock.advance(WAIT_MS / 1000 - 1)
    w.sweep()
    assert lines(stream.feed()) == ["graph.created", "task.ready a"]
    w.clock.advance(1)
    w.sweep()
    assert lines(stream.feed())[2:] == ["gap a", "task.completed a", "graph.completed"]
    assert not w.waits()


def test_a_record_without_a_version_waits_as_one_that_did_not_come(w: World, stream: Stream):
    w.graph(task("a", lease_seconds=3_600))
    (head, made) = stream.records()
    stream.hand([head, broken(made, "version")])
    assert len(stream.failures()) == 1
    w.claim()
    stream.follow()
    assert lines(stream.feed()) == ["graph.created"]
    w.clock.advance(WAIT_MS / 1000)
    w.sweep()
    assert lines(stream.feed()) == ["graph.created", "gap a", "task.claimed a"]


def test_one_graph_that_fails_does_not_hold_up_another(w: World, stream: Stream, monkeypatch: pytest.MonkeyPatch):
    w.graph(task("a"), graph_id="bad")
    w.graph(task("a"), graph_id="good")
    number = w.slate.feeds.number

    def failing(tenant: str, graph_id: str, steps: Any) -> int:
        if graph_id == "bad":
            raise ZeroDivisionError
        return number(tenant, graph_id, steps)

    monkeypatch.setattr(w.slate.feeds, "number", failing)
    records = stream.records()
    assert stream.hand(records) == [records[0]["dynamodb"]["SequenceNumber"]]
    assert len(stream.feed("good")) == 2
    monkeypatch.undo()
    assert stream.hand(records) == []
    assert len(stream.feed("bad")) == len(stream.feed("good")) == 2


def test_what_the_stream_lost_is_told_by_the_table(w: World, stream: Stream):
    w.graph(task("a"), task("b"))
    w.complete(next(claim for claim in w.claims(max=2) if claim.task.task_id == "a"))
    stream.records()  # nobody reads them
    w.slate.feeds.check(TENANT, "g")
    assert lines(stream.feed()) == ["graph.created"]
    w.clock.advance(WAIT_MS / 1000)
    w.slate.feeds.check(TENANT, "g")
    assert sorted(lines(stream.feed())[1:]) == ["gap a", "gap a", "gap b", "task.claimed b", "task.completed a"]


# ---- graphs that go, and come again


def test_records_that_come_after_a_deletion_make_no_ghost(w: World, stream: Stream):
    w.graph(task("a"), subject="maria")
    first = stream.records()
    stream.hand(first)
    w.claim()
    late = stream.records()
    w.delete_graph()
    assert stream.hand(late) == []
    assert stream.kept() == []
    w.settle()
    assert stream.hand([*first, *late, *stream.records()]) == []
    assert not [key for key in w.items() if "#G#" in key.pk]


def test_a_deletion_between_the_reading_and_the_writing_leaves_no_ghost(w: World, stream: Stream):
    w.graph(task("a"))
    w.faults.arm(1, meanwhile(w.delete_graph))
    assert stream.hand(stream.records()) == []
    w.faults.disarm()
    assert stream.kept() == []


def test_a_deletion_in_the_middle_of_a_feed_leaves_no_ghost(w: World, stream: Stream):
    w.graph(task("a"))
    stream.follow()
    w.claim()
    w.faults.arm(1, meanwhile(w.delete_graph))
    assert stream.hand(stream.records()) == []
    w.faults.disarm()
    assert stream.kept() == []
    w.settle()
    assert not [key for key in w.items() if "#G#" in key.pk]


def test_what_is_written_while_a_deletion_is_under_way_goes_with_it(w: World, stream: Stream):
    w.graph(task("a"))
    stream.follow()
    w.claim()
    w.faults.arm(1, meanwhile(lambda: w.graphs.begin_delete(TENANT, "g", None)))
    stream.hand(stream.records())
    w.faults.disarm()
    w.settle()
    assert not [key for key in w.items() if "#G#" in key.pk]


def test_a_graph_of_the_same_id_has_a_feed_of_its_own(w: World, stream: Stream):
    w.graph(task("a"))
    w.work_off()
    old = stream.records()
    stream.hand(old)
    w.delete_graph()
    w.settle()
    w.graph(task("a"), goal="another")
    assert stream.hand([*old, *stream.records(), *old]) == []
    assert lines(stream.feed()) == ["graph.created", "task.ready a"]


# ---- whose


def test_another_tenants_graph_is_not_found_and_not_mixed_up(w: World, stream: Stream):
    other = w.principal(tenant="globex")
    w.graph(task("a"))
    with pytest.raises(NotFound):
        stream.page(by=other)
    w.graph(task("x"), by=other)
    stream.follow()
    assert lines(stream.feed())[1:] == ["task.ready a"]
    assert lines(stream.feed(tenant="globex"))[1:] == ["task.ready x"]


def test_a_bound_key_reads_its_own_subjects_feeds_only(w: World, stream: Stream):
    w.graph(task("a"), graph_id="hers", subject="maria")
    w.graph(task("a"), graph_id="nobodys")
    stream.follow()
    bound = w.principal(subject="maria")
    assert len(stream.page("hers", by=bound).items) == 2
    with pytest.raises(NotFound):
        stream.page("nobodys", by=bound)


def test_all_that_is_kept_of_a_feed_about_somebody_is_found_by_the_subject(w: World, stream: Stream):
    w.graph(task("a"), task("b", after("a")), subject="maria")
    w.work_off()
    stream.follow()
    kept = stream.kept()
    assert {item["sk"][:2] for item in kept} == {"FE", "F#", "M#"}
    assert len({item["subject_pk"] for item in kept}) == 1
    assert not any("maria" in str(item) for item in kept)


# ---- counts


def test_counts_beyond_a_thousand_tasks_are_the_feeds(w: World, stream: Stream, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("slate.adapters.dynamodb.graph_store.EXACT_TASKS", 10)
    w.graph(*(task(f"t{i:02}") for i in range(12)))
    stream.follow()
    w.complete(w.claim())
    assert w.graphs.counts(TENANT, "g").done == 0, "as of what the feed has seen"
    w.faults.arm_every(lambda *_: pytest.fail("the tasks were looked at"), among=frozenset({"query"}))
    counts = w.graphs.counts(TENANT, "g")
    w.faults.disarm()
    assert (counts.total, counts.ready) == (12, 12)
    stream.follow()
    assert (w.graphs.counts(TENANT, "g").done, w.graphs.counts(TENANT, "g").ready) == (1, 11)


def test_whether_a_large_graph_has_ended_is_looked_up(w: World, stream: Stream, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("slate.adapters.dynamodb.graph_store.EXACT_TASKS", 2)
    w.graph(*(task(f"t{i}") for i in range(3)))
    w.work_off()
    stream.follow()
    w.add(task("late"))
    assert w.slate.planning.get(w.me, "g").state == "ACTIVE"


def test_counts_come_right_whatever_was_lost(w: World, stream: Stream, monkeypatch: pytest.MonkeyPatch):
    w.graph(*(task(f"t{i}") for i in range(6)))
    stream.follow()
    for claim in w.claims(max=4):
        w.complete(claim)
    stream.records()  # lost
    monkeypatch.setattr("slate.domain.feed.CHECKED_EVERY", 8)
    w.add(task("late"))
    stream.follow()
    for _ in range(2):
        w.clock.advance(WAIT_MS / 1000)
        w.sweep()
    monkeypatch.setattr("slate.adapters.dynamodb.graph_store.EXACT_TASKS", 0)
    counts = w.graphs.counts(TENANT, "g")
    assert (counts.done, counts.ready, counts.total) == (4, 3, 7)


def test_a_batch_is_bounded(w: World, stream: Stream):
    w.graph(*(task(f"t{i:02}") for i in range(90)))
    records = stream.records()
    sizes: list[int] = []

    def seen(_: str, arguments: Any, call: Any) -> Any:
        sizes.append(len(arguments["TransactItems"]))
        return call()

    w.faults.arm(1, seen, times=100, among=frozenset({"transact_write_items"}))
    assert stream.hand(records) == []
    w.faults.disarm()
    assert len(stream.feed()) == 2 + 2 * 90
    assert 90 < max(sizes) <= numbering.STEPS_AT_ONCE + 4 <= 100
