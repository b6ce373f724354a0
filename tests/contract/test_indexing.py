"""The index follows the table: late, repeated and failing records do no harm, and it can be made anew and checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from contract.stream import Record, Stream
from contract.world import World
from slate.adapters.dynamodb.index_walk import walk
from slate.adapters.dynamodb.table import INDEX_FILTER
from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.contract.erasures import AskErasure
from slate.contract.facts import GivenFact, PostFacts
from slate.contract.search import PutDocument, PutEpisode
from slate.contract.sessions import AppendTurns, CreateSession, GivenTurn
from slate.domain.errors import Unavailable
from slate.domain.facts.model import Category
from slate.domain.indexed import Kind, Place, turn_id
from slate.domain.sessions import Speaker
from slate.ports.memory_index import Name
from slate.service.search.indexing import Indexing
from slate.service.search.reindexing import Memory, Reindexing
from slate_functions.indexer.consume import IndexConsumer
from slate_functions.local.stream import matches


class Indexed:
    """A world, its stream, and an index that is fed from it by hand."""

    def __init__(self, w: World, streams: Any) -> None:
        self.w, self.stream = w, Stream(w, streams)
        self.index = InProcessMemoryIndex()
        own = w.slate.memory.retrieval
        self.keyring = own.search._keyring
        self.indexing = Indexing(
            self.index,
            HashingEmbedder(),
            own.recalling._sessions,
            own.recalling._facts,
            own.episodes._store,
            own.knowledge._store,
            self.keyring,
        )
        self.consumer = IndexConsumer(self.indexing, w.slate.operate)

    def records(self) -> list[Record]:
        return [record for record in self.stream.read() if matches(record, INDEX_FILTER)]

    def hand(self, records: list[Record]) -> list[str]:
        answer = self.consumer({"Records": records}, None)
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def fill(self) -> None:
        memory, me = self.w.slate.memory, self.w.me
        memory.sessions.create(me, CreateSession(session_id="s", subject="ann"), None)
        turns = tuple(GivenTurn(role=Speaker.USER, content=f"I keep bees {i}") for i in range(4))
        memory.talking.append(me, "s", AppendTurns(turns=turns), None)
        fact = GivenFact(statement="Keeps bees", category=Category.OTHER)
        memory.facts.post(me, "ann", PostFacts(facts=(fact,)), None)
        memory.retrieval.episodes.put(me, PutEpisode(task="bees", outcome="ok"), None)
        document = PutDocument(document_id="d", title="Bees", text="# A\n\none\n\n# B\n\ntwo", collection="c")
        memory.retrieval.knowledge.put(me, document, None)

    def there(self) -> dict[Kind, set[str]]:
        ref = self.keyring.ref("acme", "ann")
        scopes = {Kind.TURN: ref, Kind.FACT: ref, Kind.EPISODE: "-", Kind.CHUNK: "c"}
        return {
            kind: {each.name.id for each in self.index.listed("acme", kind, scope)} for kind, scope in scopes.items()
        }

    def memories(self) -> list[Memory]:
        return [Memory(*change[:4]) for change in walk(self.w.dynamodb, self.w.settings.table)]


@pytest.fixture(scope="module")
def streams() -> Iterator[Any]:
    with MotoEngine(region="eu-central-1") as engine:
        yield engine.client("dynamodbstreams")


@pytest.fixture
def indexed(w: World, streams: Any) -> Indexed:
    return Indexed(w, streams)


def counts(there: dict[Kind, set[str]]) -> dict[str, int]:
    return {kind.value: len(ids) for kind, ids in there.items()}


ALL = {"turn": 4, "fact": 1, "episode": 1, "chunk": 2}


def test_every_kind_of_memory_is_indexed(indexed: Indexed):
    indexed.fill()
    assert indexed.hand(indexed.records()) == []
    assert counts(indexed.there()) == ALL


def test_records_that_come_twice_late_and_out_of_order_change_nothing(indexed: Indexed):
    indexed.fill()
    first = indexed.records()
    indexed.w.slate.memory.talking.delete(indexed.w.me, "s", "2", None)
    later = indexed.records()
    indexed.hand(first + later)
    after = indexed.there()
    assert after[Kind.TURN] == {turn_id("s", seq) for seq in (1, 3, 4)}
    indexed.hand(list(reversed(first)))
    indexed.hand(first[:3])
    assert indexed.there() == after


def test_records_of_who_is_being_erased_are_let_go_and_hold_up_nobody(indexed: Indexed):
    indexed.fill()
    ref = indexed.keyring.ref("acme", "ann")
    indexed.w.slate.privacy.erasing.ask(indexed.w.me, AskErasure(subject="ann", reason="by letter"), None)
    assert indexed.hand(indexed.records()) == []
    left = {kind: list(indexed.index.listed("acme", kind, ref)) for kind in (Kind.TURN, Kind.FACT, Kind.EPISODE)}
    assert not any(left.values())


def test_a_document_that_is_written_anew_leaves_no_part_behind(indexed: Indexed):
    indexed.fill()
    indexed.hand(indexed.records())
    before = indexed.there()[Kind.CHUNK]
    document = PutDocument(document_id="d", title="Bees", text="three", collection="c")
    indexed.w.slate.memory.retrieval.knowledge.put(indexed.w.me, document, None)
    indexed.hand(indexed.records())
    after = indexed.there()[Kind.CHUNK]
    assert len(after) == 1
    assert not after & before
    indexed.w.slate.memory.retrieval.knowledge.delete(indexed.w.me, "d", None)
    indexed.hand(indexed.records())
    assert indexed.there()[Kind.CHUNK] == set()


def test_what_fails_is_given_back_and_its_neighbours_are_indexed(indexed: Indexed, monkeypatch: pytest.MonkeyPatch):
    indexed.fill()
    records = indexed.records()

    def busy(*_: Any) -> Any:
        raise Unavailable("busy")

    with monkeypatch.context() as patched:
        patched.setattr(indexed.indexing, "facts", busy)
        failed = indexed.hand(records)
    facts = [r["dynamodb"]["SequenceNumber"] for r in records if r["dynamodb"]["Keys"]["sk"]["S"].startswith("FACT#")]
    assert failed == facts[:1]
    assert counts(indexed.there()) == {**ALL, "fact": 0}
    assert indexed.hand(records) == []
    assert counts(indexed.there()) == ALL


def test_a_session_that_goes_while_it_is_indexed_takes_its_turns_with_it(indexed: Indexed):
    indexed.fill()
    records, sessions = indexed.records(), indexed.w.slate.memory.sessions
    put = indexed.index.put

    def slow(tenant: str, entries: Any) -> None:
        put(tenant, entries)
        if entries and entries[0].kind is Kind.TURN:
            sessions.delete(indexed.w.me, "s", None)

    indexed.index.put = slow  # type: ignore[method-assign]
    indexed.hand(records)
    assert indexed.there()[Kind.TURN] == set()


def test_an_unreadable_record_is_let_go(indexed: Indexed):
    assert indexed.hand([{"dynamodb": {}}, {"dynamodb": {"Keys": {"pk": {"S": "x"}, "sk": {"S": "y"}}}}]) == []


def test_without_an_index_records_are_let_go(indexed: Indexed):
    indexed.fill()
    assert IndexConsumer(None, indexed.w.slate.operate)({"Records": indexed.records()}, None) == {
        "batchItemFailures": []
    }


def test_an_index_is_made_anew_checked_and_mended(indexed: Indexed):
    indexed.fill()
    seen: list[int] = []
    reindexing = Reindexing(indexed.indexing, lambda report: seen.append(report.entries))
    assert reindexing.check(indexed.memories()).missing == 8
    report = reindexing.rebuild(indexed.memories())
    assert (report.memories, report.entries) == (7, 8)
    assert seen[-1] == 8
    assert reindexing.check(indexed.memories()).agrees
    assert counts(indexed.there()) == ALL
    indexed.index.remove("acme", [Name(Kind.TURN, "s/1")])
    (entry,) = indexed.indexing.entries_of_turns("acme", "s", [4])
    indexed.indexing.put("acme", [type(entry)(**{**_fields(entry), "id": "gone/1"})])
    found = reindexing.check(indexed.memories(), mend=True)
    assert (found.missing, found.unknown) == (1, ["acme turn gone/1"])


def test_a_check_sees_what_is_left_of_a_person_of_whom_the_storage_has_nothing(indexed: Indexed):
    indexed.fill()
    reindexing = Reindexing(indexed.indexing)
    reindexing.rebuild(indexed.memories())
    (entry,) = indexed.indexing.entries_of_turns("acme", "s", [4])
    left = [type(entry)(**{**_fields(entry), "id": "old/1", "scope": "ref-of-nobody", "kind": kind}) for kind in Kind]
    indexed.indexing.put("acme", left)
    held = [Place("acme", kind, "ref-of-nobody") for kind in Kind]
    found = reindexing.check(indexed.memories(), held)
    assert sorted(found.unknown) == sorted(f"acme {kind} old/1" for kind in Kind)
    assert not found.agrees
    reindexing.check(indexed.memories(), held, mend=True)
    assert reindexing.check(indexed.memories(), held).agrees
    assert counts(indexed.there()) == ALL


def test_what_is_written_during_a_check_is_not_unknown(indexed: Indexed):
    indexed.fill()
    Reindexing(indexed.indexing).rebuild(indexed.memories())
    (entry,) = indexed.indexing.entries_of_turns("acme", "s", [1])
    places = [Place("acme", kind, scope) for kind in Kind for scope in (entry.scope, "default", "-")]
    report = Reindexing(indexed.indexing).check([], places, mend=True)
    assert report.agrees, "the walk saw none of them, and all are there"
    assert counts(indexed.there()) == ALL


def _fields(entry: Any) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in entry.__slots__}
