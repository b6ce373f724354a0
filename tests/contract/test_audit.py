"""No change of memory without somebody named for it, no answer without its entry, whoever is killed; and never a fork."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from contract import faults, talking
from contract.faults import Killed, meanwhile
from contract.world import DAY, START, TENANT, World
from slate.adapters.dynamodb.audit_store import DynamoAuditStore, day_of
from slate.adapters.dynamodb.calls import Calls, Item, Key, to_wire
from slate.adapters.dynamodb.keys import audit_root_key, ref_of
from slate.contract.facts import ExtractFacts, PatchFact, PostFacts
from slate.domain.audit.chain import Flaw, Link, flaws
from slate.domain.audit.entries import Entry, Phase, Verb
from slate.domain.errors import Unavailable
from slate.domain.fences import Intent
from slate.ports.audit import Period
from slate.service.audit.writing import Asked
from slate.service.facts.remembering import FactFilter
from slate_functions.extractor.dispatch import Dispatch

ALWAYS: Final = Period(START, START + 400 * DAY * 1000)
MEMORY: Final = ("FACT#", "PAST#", "TURN#", "EPISODE#")
Act = Callable[[World], Any]


def requested(w: World, act: Act, deed: str = "r-1", verb: Verb = Verb.WRITE, **more: Any) -> Any:
    """As a route would do it: an operation, and within it a deed with its answer."""
    intent = {Verb.READ: Intent.READ, Verb.SERVE: Intent.READ, Verb.DELETE: Intent.DELETE}.get(verb, Intent.WRITE)
    asked = Asked(principal=w.me, verb=verb, act="a route", request_id=deed, **more)
    with w.slate.operate(intent, TENANT), w.slate.audit.writing.request(asked) as under_way:
        under_way.answer = act(w)
    return under_way.answer


def kept(w: World) -> list[Link]:
    """Every entry, by day, chain and number: from a scan, since a test reads them often."""
    chains = {Key(item["pk"], item["sk"]): item for item in w.everything().values() if "#A#" in item["pk"]}
    return [
        Link(
            day=key.pk.split("#")[2],
            shard=int(key.pk.split("#")[3]),
            number=int(key.sk.partition("#")[2]),
            previous=item["previous"],
            hash=item["hash"],
            text=item["text"],
        )
        for key, item in sorted(chains.items())
    ]


def entries(w: World) -> list[Entry]:
    return [link.entry for link in kept(w)]


def store(w: World, rng: random.Random | None = None) -> DynamoAuditStore:
    ledger = Calls(w.dynamodb, w.settings.ledger_table, random.Random(1), lambda _: None)  # noqa: S311  # a test's
    return DynamoAuditStore(w.storage, ledger, rng or random.Random(1))  # noqa: S311  # as above


def forks(w: World) -> list[Flaw]:
    """What is wrong with any day."""
    found = kept(w)
    return [
        flaw
        for day in {link.day for link in found}
        for flaw in flaws(TENANT, day, [link for link in found if link.day == day], None, None)
    ]


def memories(w: World) -> set[tuple[Key, int]]:
    return {(key, item["version"]) for key, item in w.items().items() if key.sk.startswith(MEMORY)}


def state(w: World) -> Any:
    facts = {"facts": [{"statement": f"Plays the {what}", "category": "other"} for what in ("cello", "tuba")]}
    return w.slate.memory.facts.post(w.me, "u-ann", PostFacts.model_validate(facts), None)


def known(w: World) -> Any:
    return w.slate.memory.facts.find(w.me, "u-ann", FactFilter(), 10, None)


def fact_id(w: World) -> str:
    return str(known(w).items[0].fact_id)


def say(w: World) -> Any:
    return talking.say(w, "I am Ann.", "And so on.")


def begin(w: World) -> Any:
    return talking.create(w, subject="u-ann", system="Be brief.")


ACTS: Final[dict[str, tuple[tuple[Act, ...], Act]]] = {
    "state facts": ((), state),
    "edit a fact": (
        (state,),
        lambda w: w.slate.memory.facts.edit(w.me, "u-ann", fact_id(w), PatchFact(importance=8), None),
    ),
    "delete a fact": ((state,), lambda w: w.slate.memory.facts.delete(w.me, "u-ann", fact_id(w), None)),
    "delete all facts": ((state,), lambda w: w.slate.memory.facts.delete_all(w.me, "u-ann")),
    "begin a session": ((), begin),
    "say something": ((begin,), say),
    "delete a turn": ((begin, say), lambda w: talking.remove(w, 1)),
    "delete a session": ((begin, say), lambda w: w.slate.memory.sessions.delete(w.me, "s", None)),
}


QUICK: Final = {"state facts", "delete a fact", "say something", "delete a session"}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.race) for name in ACTS]
)
def test_killed_anywhere_no_change_is_without_its_entry_and_no_entry_is_lost(
    worlds: Callable[..., World], name: str
) -> None:
    first, act = ACTS[name]
    for writes in range(40):
        w = worlds()
        for each in first:
            each(w)
        before, told = memories(w), len(kept(w))
        w.faults.kill_after(writes)
        try:
            requested(w, act)
        except Killed:
            killed = True
        else:
            killed = False
        w.faults.disarm()
        after = [entry for entry in entries(w)[told:] if entry.deed == "r-1"]
        assert not forks(w)
        if memories(w) != before:
            assert Phase.BEGUN in {entry.phase for entry in after}, f"killed after {writes} writes"
        if not killed:
            assert {entry.phase for entry in after} == {Phase.BEGUN, Phase.DONE}
            changed = {item.id for entry in after for item in entry.items}
            assert changed, "who did it is told, and to what"
            return
    raise AssertionError("it never came through")


def test_what_was_done_names_each_item_at_its_version_and_tells_what_it_said(w: World) -> None:
    results = requested(w, state).results
    (done,) = [entry for entry in entries(w) if entry.phase is Phase.DONE]
    assert [(item.kind, item.id, item.version) for item in done.items] == [
        ("fact", str(result.fact_id), 1) for result in results
    ]
    served = requested(w, known, "r-2", Verb.READ, subject="u-ann")
    (read,) = [entry for entry in entries(w) if entry.deed == "r-2"]
    assert [item.id for item in read.items] == [fact.fact_id for fact in served.items]
    digests = {item.id: item.digest for item in done.items}
    assert {item.id: item.digest for item in read.items} == digests, "the same words have the same digest"
    assert len(set(digests.values())) == len(digests)
    assert None not in digests.values()
    assert read.ref == done.ref == w.storage.codec.keyring.name(TENANT, "u-ann")


def test_an_entry_holds_no_content_and_no_name(w: World) -> None:
    requested(w, begin, session="s")
    requested(w, say, "r-2", session="s")
    requested(w, state, "r-3", subject="u-ann")
    requested(w, known, "r-4", Verb.READ, subject="u-ann")
    for link in kept(w):
        assert not [word for word in ("u-ann", "cello", "Ann", "brief") if word in link.text], link.text


def test_what_cannot_be_written_down_is_neither_done_nor_answered(w: World) -> None:
    before = memories(w)
    w.faults.arm(1, faults.throttled, times=60)
    with pytest.raises(Unavailable):
        requested(w, state)
    w.faults.disarm()
    assert memories(w) == before
    state(w)
    w.faults.arm(1, faults.throttled, times=60)
    with pytest.raises(Unavailable):
        requested(w, known, "r-2", Verb.READ, subject="u-ann")
    w.faults.disarm()


def test_what_fails_after_it_began_says_so(w: World) -> None:
    def half(w: World) -> None:
        state(w)
        raise Unavailable("no")

    with pytest.raises(Unavailable):
        requested(w, half)
    assert [(entry.phase, entry.code) for entry in entries(w)] == [(Phase.BEGUN, None), (Phase.FAILED, "retry")]
    assert len(entries(w)[1].items) == 2
    with pytest.raises(Unavailable):
        requested(w, lambda _: (_ for _ in ()).throw(Unavailable("no")), "r-2")
    assert len(entries(w)) == 2, "what fails before anything changes did nothing"


def test_what_slate_does_by_itself_is_written_down_as_its_own(w: World) -> None:
    asked = {"messages": [{"role": "user", "content": "I live in Porto. I like tea."}]}
    w.slate.memory.extracting.ask(w.me, "u-ann", ExtractFacts.model_validate(asked), None, wait=False)
    work = Dispatch(w.slate)
    for message in w.queues.waiting("memory"):
        work.consume(message)
    (done,) = [entry for entry in entries(w) if entry.phase is Phase.DONE and entry.act == "extract"]
    assert (done.agent, done.key_id) == ("slate", None)
    assert {item.kind for item in done.items} >= {"fact", "extraction"}
    count = len(entries(w))
    w.slate.memory.decay.run_once()
    assert len(entries(w)) == count, "a job that changes nothing tells nothing"


@pytest.mark.parametrize("loss", [faults.reply_lost, faults.request_lost, faults.conflict], ids=lambda f: f.__name__)
def test_a_lost_reply_appends_once(w: World, loss: faults.Fault) -> None:
    w.faults.arm_every(loss)
    requested(w, state)
    w.faults.disarm()
    assert [entry.phase for entry in entries(w)] == [Phase.BEGUN, Phase.DONE]
    assert not forks(w)


@pytest.mark.parametrize("others", [1, 2, 5])
def test_two_processes_at_one_chain_lose_nothing(w: World, others: int) -> None:
    seed = 3
    one, two = (store(w, random.Random(seed)) for _ in range(2))  # noqa: S311  # both begin at the same chain

    def entry(deed: str) -> Entry:
        return Entry(at=START, deed=deed, phase=Phase.DONE, verb=Verb.READ, act="a", agent="ann")

    def meet() -> None:
        for n in range(others):
            two.append(TENANT, [entry(f"two-{n}")])

    one.append(TENANT, [entry("one-0")])
    w.faults.arm(1, meanwhile(meet))
    one.append(TENANT, [entry("one-1"), entry("one-2")])
    w.faults.disarm()
    one.append(TENANT, [entry("one-3")])
    deeds = [each.deed for each in entries(w)]
    assert sorted(deeds) == sorted([*(f"one-{n}" for n in range(4)), *(f"two-{n}" for n in range(others))])
    assert not forks(w)


def test_many_at_once_append_each_entry_once(w: World) -> None:
    def append(process: int) -> None:
        mine = store(w, random.Random(3))  # noqa: S311  # all begin at the same chain
        for n in range(6):
            entry = Entry(at=START, deed=f"{process}-{n}", phase=Phase.DONE, verb=Verb.READ, act="a", agent="ann")
            mine.append(TENANT, [entry])

    with ThreadPoolExecutor(8) as processes:
        list(processes.map(append, range(8)))
    assert sorted(entry.deed for entry in entries(w)) == sorted(f"{p}-{n}" for p in range(8) for n in range(6))
    assert not forks(w)


# ---- days


def bound(w: World) -> tuple[str, list[Link], Any]:
    """A day that is over, its entries and its root."""
    requested(w, state)
    requested(w, known, "r-2", Verb.READ, subject="u-ann")
    w.clock.advance(2 * DAY)
    w.slate.memory.decay.run_once()
    day = day_of(START)
    return day, [link for link in kept(w) if link.day == day], store(w).root(TENANT, day)


def test_a_day_that_is_over_is_bound_once(w: World) -> None:
    day, links, root = bound(w)
    assert root is not None
    assert flaws(TENANT, day, links, root, None) == []
    assert store(w).close(TENANT, day) == root
    assert not [key for key in w.everything() if key.pk.endswith("#N#audit") and key.sk == f"DAY#{day}"]
    requested(w, known, "r-3", Verb.READ, subject="u-ann")
    w.clock.advance(2 * DAY)
    w.slate.memory.decay.run_once()
    following = store(w).root(TENANT, day_of(START + 2 * DAY * 1000))
    assert following is not None
    assert (following.previous_day, following.previous) == (day, root.hash)


def test_nothing_is_bound_before_an_hour_after_its_end(w: World) -> None:
    requested(w, state)
    w.clock.advance(DAY - START / 1000 % DAY + 3_500)
    w.slate.memory.decay.run_once()
    assert store(w).root(TENANT, day_of(START)) is None
    w.clock.advance(200)
    w.slate.memory.decay.run_once()
    assert store(w).root(TENANT, day_of(START)) is not None


TAMPERING: Final[dict[str, Callable[[list[Item]], tuple[list[Item], list[Item]]]]] = {
    "altered": lambda items: ([{**items[0], "text": items[0]["text"].replace("ann", "eve")}], []),
    "removed": lambda items: ([], items[:1]),
    "the last removed": lambda items: ([], items[-1:]),
    "swapped": lambda items: ([{**items[0], "text": items[1]["text"]}, {**items[1], "text": items[0]["text"]}], []),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_who_writes_past_slate_is_found(w: World, name: str) -> None:
    day, _, root = bound(w)
    items = [item for key, item in sorted(w.everything().items()) if f"#A#{day}" in key.pk]
    put, removed = TAMPERING[name](items)
    for item in put:
        w.dynamodb.put_item(TableName=w.settings.table, Item=to_wire(item))
    for item in removed:
        w.dynamodb.delete_item(TableName=w.settings.table, Key=to_wire({n: item[n] for n in ("pk", "sk")}))
    links = [link for link in kept(w) if link.day == day]
    assert flaws(TENANT, day, links, root, None), name


def test_all_entries_of_a_period_are_read_in_one_order_from_wherever_the_reader_was(w: World) -> None:
    bound(w)
    requested(w, known, "r-3", Verb.READ, subject="u-ann")
    found = list(store(w).within(TENANT, ALWAYS, None))
    assert [link for _, link in found] == kept(w)
    assert list(store(w).within(TENANT, ALWAYS, found[1][0])) == found[2:]
    today = Period(w.clock.now(), w.clock.now())
    assert [link.entry.deed for _, link in store(w).within(TENANT, today, None)] == ["r-3"]


def test_the_root_stands_in_the_ledger(w: World) -> None:
    day, _, _ = bound(w)
    key = to_wire(audit_root_key(TENANT, day).attributes)
    assert "Item" in w.dynamodb.get_item(TableName=w.settings.ledger_table, Key=key)


def test_entries_about_a_person_are_found_and_are_not_the_persons_own(w: World) -> None:
    requested(w, state)
    ref = w.storage.codec.keyring.name(TENANT, "u-ann")
    requested(w, lambda w: talking.create(w, subject="u-bob"), "r-2")
    about = [link.entry for _, link in store(w).about(TENANT, ref, ALWAYS, None)]
    assert {entry.deed for entry in about} == {"r-1"}
    first, *rest = list(store(w).about(TENANT, ref, ALWAYS, None))
    assert list(store(w).about(TENANT, ref, ALWAYS, first[0])) == rest, "a walk goes on where it was"
    assert {ref_of(item) for key, item in w.everything().items() if "#A#" in key.pk} >= {ref}
    assert not [
        item for key, item in w.everything().items() if "#A#" in key.pk and item["subject_pk"] == f"{TENANT}#{ref}"
    ]
