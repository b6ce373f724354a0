"""An erasure that dies anywhere ends in the same state as one that does not; what comes late brings nothing back."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jwt
import pytest

from contract import talking
from contract.faults import READS, WRITES, Killed
from contract.world import TENANT, World, task
from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.erasure_store import DynamoErasureStore
from slate.adapters.dynamodb.subject_kinds import kind_of
from slate.adapters.dynamodb.subject_walk import Batch, SubjectWalk
from slate.adapters.dynamodb.table import SUBJECT, SUBJECT_PK
from slate.contract.erasures import AskErasure, ErasureStatus
from slate.contract.facts import GivenFact, PostFacts
from slate.contract.search import PutEpisode
from slate.domain.erasing.erasure import Erasure
from slate.domain.erasing.steps import sweeps
from slate.domain.errors import NotFound, SubjectErased
from slate.domain.fences import Intent
from slate.service.due_work import ENTRY_MS
from slate.wiring.parts import MEMORY
from slate_functions.extractor.dispatch import Dispatch

ANN, BOB = "ann", "bob"
ALL_CALLS = WRITES | READS | {"query_index", "list_object_versions", "delete_objects"}
LARGE = "x" * 110_000


def live(w: World, who: str) -> None:
    """A session, facts, an episode and a graph of somebody, with objects."""
    talking.create(w, f"s-{who}", subject=who, system=f"Serve {who}")
    talking.say(w, f"I am {who}", LARGE, session_id=f"s-{who}")
    know(w, who, f"{who} is here")
    w.graph(task("a", input=LARGE), task("b", "a"), graph_id=f"g-{who}", subject=who)
    episode = PutEpisode.model_validate({"task": "help", "steps": [], "outcome": who, "subject": who})
    w.slate.memory.retrieval.episodes.put(w.me, episode, None)


def know(w: World, who: str, statement: str) -> Any:
    facts = PostFacts(facts=(GivenFact.model_validate({"statement": statement, "category": "other"}),))
    return w.slate.memory.facts.post(w.me, who, facts, None)


def ask(w: World, who: str = ANN) -> ErasureStatus:
    return w.slate.privacy.erasing.ask(w.me, AskErasure(subject=who, reason="by letter"), None)


def go_on(w: World, who: str = ANN) -> ErasureStatus:
    """Ask, unless it was asked; then let time go by until the receipt is there."""
    erasing = w.slate.privacy.erasing
    listed = erasing.list(w.me, who, 1, None).items
    status = listed[0] if listed else ask(w, who)
    for _ in range(40):
        if status.state == "RECEIPTED":
            return status
        w.clock.advance(max((status.next_at or 0) - w.clock.now(), 0) / 1000)
        w.slate.privacy.eraser.run_once()
        status = erasing.get(w.me, status.erasure_id)
    raise AssertionError(f"not finished: {status}")


def left(w: World) -> dict[Key, Item]:
    """What is in the main table, without what an erasure itself writes."""
    return {key: item for key, item in w.items().items() if kind_of(key).store not in ("erasures", "fences", "audit")}


def counted(w: World, status: ErasureStatus) -> Any:
    """What the receipt says of each store."""
    token = w.slate.privacy.proving.receipt(w.me, status.erasure_id)
    return jwt.decode(token, options={"verify_signature": False})["stores"]


@pytest.fixture
def peopled(worlds: Callable[..., World]) -> Callable[[], World]:
    def make() -> World:
        w = worlds()
        live(w, ANN)
        live(w, BOB)
        return w

    return make


def theirs(w: World, who: str) -> list[Key]:
    about = f"{TENANT}#{w.storage.codec.keyring.name(TENANT, who)}"
    return [key for key, item in w.items().items() if item.get(SUBJECT_PK) == about and not kind_of(key).kept]


def sort_of(key: Key) -> tuple[str, str]:
    return kind_of(key).partition, kind_of(key).sort


# ---- dying


def run_to_the_end(w: World, step: int) -> int:
    """Die after ever more calls, and go on each time, until one run comes through; how often it died."""
    for deaths in range(2_000):
        w.faults.kill_at(1 + deaths * step, ALL_CALLS)
        try:
            go_on(w)
        except Killed:
            w.faults.disarm()
        else:
            w.faults.disarm()
            return deaths
    raise AssertionError("it never comes through")


def assert_gone(w: World) -> None:
    assert theirs(w, ANN) == []
    ref = w.storage.codec.keyring.name(TENANT, ANN)
    assert not [name for name in w.objects() if ref in name]
    assert [name for name in w.objects() if ref not in name] != []
    assert w.storage.codec.keyring.count(TENANT, ref, 100) == 0


def test_a_run_that_dies_ever_later_ends_as_one_that_does_not(peopled: Callable[[], World]) -> None:
    clean, w = peopled(), peopled()
    before = left(w)
    plain = go_on(clean)
    assert run_to_the_end(w, 3) > 5
    done = go_on(w)
    assert_gone(w)
    assert {key: before[key] for key in left(w)} == left(w), "of everybody else nothing has changed"
    assert sorted(map(sort_of, left(w))) == sorted(map(sort_of, left(clean)))
    assert [step.step for step in done.steps] == [step.step for step in plain.steps]
    assert counted(w, done) == counted(clean, plain)


@pytest.mark.race
def test_it_may_die_at_any_call_at_all(peopled: Callable[[], World]) -> None:
    w = peopled()
    w.faults.disarm(among=ALL_CALLS)
    go_on(w)
    calls = w.faults.disarm()
    assert calls > 100
    for at in range(1, calls + 1):
        again = peopled()
        again.faults.kill_at(at, ALL_CALLS)
        with pytest.raises(Killed):
            go_on(again)
        again.faults.disarm()
        go_on(again)
        assert_gone(again)


# ---- what comes late


def deliver(w: World, messages: list[Any]) -> None:
    dispatch = Dispatch(w.slate)
    for message in messages:
        dispatch.consume(message)


def test_what_was_queued_brings_nothing_back_whenever_and_in_whatever_order_it_comes(
    peopled: Callable[[], World],
) -> None:
    w = peopled()
    w.slate.memory.sessions.close(w.me, "s-ann")
    talking.create(w, "s2-ann", subject=ANN)
    talking.say(w, "I live in Porto.", "I love tea.", session_id="s2-ann")
    messages = [message for message in w.queues.waiting(MEMORY) if "bob" not in str(message)]
    assert len(messages) >= 3
    deliver(w, messages[:1])
    status = ask(w)
    deliver(w, messages[::-1])
    w.slate.privacy.eraser.run_once()
    deliver(w, messages)
    w.clock.advance(60)
    deliver(w, messages[::-1])
    status = go_on(w)
    deliver(w, messages)
    assert theirs(w, ANN) == []
    assert status.state == "RECEIPTED"


def test_whoever_writes_when_the_fence_closes_is_refused_and_leaves_nothing(peopled: Callable[[], World]) -> None:
    writers_meet_the_fence(peopled(), 24)


@pytest.mark.race
def test_two_hundred_writers_meet_the_fence(peopled: Callable[[], World]) -> None:
    writers_meet_the_fence(peopled(), 200)


def writers_meet_the_fence(w: World, count: int) -> None:
    """Each writes on until it is refused; none is taken any more once the request was answered."""
    answered = threading.Event()
    taken_after: list[int] = []

    def write(number: int) -> None:
        for turn in itertools.count():
            late = answered.is_set()
            try:
                with w.slate.operate(Intent.WRITE):
                    know(w, ANN, f"Number {number} says {turn}")
            except SubjectErased:
                return
            if late:
                taken_after.append(number)

    with ThreadPoolExecutor(count) as pool:
        writing = [pool.submit(write, number) for number in range(count)]
        time.sleep(0.2)
        ask(w)
        answered.set()
        for each in writing:
            each.result()
    assert taken_after == []
    go_on(w)
    assert theirs(w, ANN) == []


def test_a_queue_in_which_a_task_of_an_erased_person_stands_goes_on(peopled: Callable[[], World]) -> None:
    w = peopled()
    ask(w)
    assert {claim.task.graph_id for claim in w.claims(max=10)} == {"g-bob"}, "before the eraser came"
    w.slate.privacy.eraser.run_once()
    assert w.claims(max=10) == ()


# ---- what the index does not show


def test_what_the_index_shows_late_is_found_by_its_key_or_swept_up(worlds: Callable[..., World]) -> None:
    w = worlds()
    live(w, BOB)
    w.freeze(SUBJECT)
    live(w, ANN)
    ask(w)
    w.slate.privacy.eraser.run_once()
    assert {key.pk.split("#")[1] for key in theirs(w, ANN)} <= {"G", "S", "N"}, "what stands by itself went at once"
    w.faults.thaw()
    status = go_on(w)
    assert theirs(w, ANN) == []
    assert {step.step: step.counts for step in status.steps}["DRAINED"]["graphs"] > 0


def test_a_run_that_is_late_takes_nothing_along_of_who_came_back(
    peopled: Callable[[], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands still within the last sweep, while another does that sweep and all that comes after it."""
    w = peopled()
    status, running = ask(w), w.slate.privacy.running
    batches, overtaken = SubjectWalk.batches, []

    def late(walk: SubjectWalk, *args: Any) -> Iterator[Batch]:
        monkeypatch.setattr(SubjectWalk, "batches", batches)
        assert go_on(w).state == "RECEIPTED"
        overtaken.append(know(w, ANN, "Is back"))
        yield from batches(walk, *args)

    for _ in range(len(sweeps(4))):
        w.slate.privacy.eraser.run_once()
        status = w.slate.privacy.erasing.get(w.me, status.erasure_id)
        w.clock.advance(((status.next_at or 0) - w.clock.now()) / 1000)
    monkeypatch.setattr(SubjectWalk, "batches", late)
    running.step(TENANT, status.erasure_id, w.clock.now() + ENTRY_MS)
    assert overtaken
    (fact,) = overtaken[0].results
    assert w.slate.memory.facts.get(w.me, ANN, fact.fact_id).statement == "Is back"


def test_who_comes_back_before_the_last_note_of_an_erasure_and_asks_again_is_erased_again(
    peopled: Callable[[], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run dies between opening the fence and noting that it did."""
    w = peopled()
    save = DynamoErasureStore.save

    def dying(store: DynamoErasureStore, tenant: str, erasure: Erasure) -> bool:
        if erasure.state == "RECEIPTED":
            raise Killed
        return save(store, tenant, erasure)

    monkeypatch.setattr(DynamoErasureStore, "save", dying)
    with pytest.raises(Killed):
        go_on(w)
    monkeypatch.undo()
    know(w, ANN, "Is back")
    first = w.slate.privacy.erasing.list(w.me, ANN, 1, None).items[0]
    again = ask(w)
    assert (first.state, again.state, again.epoch) == ("VERIFIED", "FENCED", 2)
    assert again.erasure_id != first.erasure_id
    assert w.slate.privacy.erasing.get(w.me, first.erasure_id).state == "RECEIPTED"
    assert go_on(w).erasure_id == again.erasure_id
    assert theirs(w, ANN) == []


def test_however_little_time_a_run_has_it_comes_further(peopled: Callable[[], World]) -> None:
    w = peopled()
    status, running, erasing = ask(w), w.slate.privacy.running, w.slate.privacy.erasing
    for _ in range(40):
        running.step(TENANT, status.erasure_id, w.clock.now() - 1)
        if erasing.get(w.me, status.erasure_id).state == "PRIMARY_DELETED":
            break
    assert erasing.get(w.me, status.erasure_id).state == "PRIMARY_DELETED"
    assert {sort_of(key) for key in theirs(w, ANN)} == {("S", "TURNS#HEAD"), ("G", "META")}, "they stand for a while"
    assert go_on(w).state == "RECEIPTED"
    assert_gone(w)


def test_an_item_that_no_kind_declares_is_never_passed_over(peopled: Callable[[], World]) -> None:
    w = peopled()
    pk = f"{TENANT}#U#{w.storage.codec.keyring.name(TENANT, ANN)}"
    diary = {"pk": {"S": pk}, "sk": {"S": "DIARY#1"}}
    w.dynamodb.put_item(TableName=w.settings.table, Item=diary)
    status = ask(w)
    w.slate.privacy.eraser.run_once()
    status = w.slate.privacy.erasing.get(w.me, status.erasure_id)
    assert (status.state, status.failure) == ("FENCED", "Undeclared")
    w.dynamodb.delete_item(TableName=w.settings.table, Key=diary)
    assert go_on(w).state == "RECEIPTED"


def test_an_id_that_another_took_since_is_not_touched(peopled: Callable[[], World]) -> None:
    w = peopled()
    w.freeze(SUBJECT)  # it still shows ann's graph and session
    w.delete_graph("g-ann")
    w.slate.memory.sessions.delete(w.me, "s-ann", None)
    w.clock.advance(100)
    for _ in range(3):
        w.sweep()
        w.slate.memory.decay.run_once()
        w.clock.advance(100)
    w.graph(task("a"), graph_id="g-ann", subject=BOB)
    talking.create(w, "s-ann", subject=BOB)
    before = {key: item for key, item in w.items().items() if key in theirs(w, BOB)}
    go_on(w)
    assert {key: item for key, item in w.items().items() if key in before} == before


# ---- whose it is


def test_of_two_people_in_one_session_it_is_the_one_that_the_session_is_about(worlds: Callable[..., World]) -> None:
    w = worlds()
    talking.create(w, "s", subject=ANN)
    talking.say(w, "Bob lives in Porto.")
    know(w, BOB, "Lives in Porto")
    go_on(w, BOB)
    assert len(talking.said(w)) == 1, "what ann said stays hers"
    go_on(w, ANN)
    with pytest.raises(NotFound):
        talking.said(w)


def test_a_call_that_comes_again_under_its_key_is_answered_the_same(peopled: Callable[[], World]) -> None:
    w = peopled()
    body = AskErasure(subject=ANN, reason="by letter")
    first = w.slate.privacy.erasing.ask(w.me, body, "once")
    assert w.slate.privacy.erasing.ask(w.me, body, "once") == first
    w.slate.privacy.eraser.run_once()
    assert w.slate.privacy.erasing.ask(w.me, body, "once").state == "PRIMARY_DELETED", "as it stands by now"


def test_a_key_bound_to_a_person_asks_for_that_person_alone(peopled: Callable[[], World]) -> None:
    w = peopled()
    me = w.principal("app", subject=ANN)
    erasing = w.slate.privacy.erasing
    with pytest.raises(NotFound):
        erasing.ask(me, AskErasure(subject=BOB, reason="mine"), None)
    other = ask(w, BOB)
    mine = erasing.ask(me, AskErasure(subject=ANN, reason="mine"), None)
    assert [each.erasure_id for each in erasing.list(me, None, 10, None).items] == [mine.erasure_id]
    with pytest.raises(NotFound):
        erasing.get(me, other.erasure_id)
