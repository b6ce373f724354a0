"""What every index does: the one of a laptop, with numpy and without, and OpenSearch's, over HTTP."""

from __future__ import annotations

import random
import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from contract.opensearch_stub import Stub, served
from opensearch_node.fixture import Node
from opensearch_node.indices import Made, expunged, made_on
from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.opensearch.admin import OpenSearchAdmin
from slate.adapters.opensearch.breaker import Breaker
from slate.adapters.opensearch.memory_index import OpenSearchMemoryIndex
from slate.adapters.opensearch.signed import BotocoreSender
from slate.adapters.opensearch.transport import NoAnswer, Transport
from slate.domain.errors import Internal, Unavailable
from slate.domain.indexed import Entry, Kind
from slate.domain.ranking.terms import asked, terms
from slate.ports.memory_index import MemoryIndex, Name, Probe

EMBEDDER = HashingEmbedder()
A, B = "acme", "globex"


def entry(entry_id: str, text: str, **more: Any) -> Entry:
    vector = EMBEDDER.embed([text])[0]
    base = Entry(
        kind=Kind.TURN,
        id=entry_id,
        scope="ann",
        version=1,
        at=1,
        terms=tuple(terms(text)),
        vector=vector,
        embedder=EMBEDDER.name,
    )
    return replace(base, **more)


def probe(query: str, *scopes: str, **more: Any) -> Probe:
    given = {"kind": Kind.TURN, "scopes": scopes or ("ann",), "terms": asked(query)}
    return Probe(**{**given, "vector": EMBEDDER.embed([query])[0], "embedder": EMBEDDER.name, **more})


def found(index: MemoryIndex, query: str, *scopes: str, tenant: str = A, **more: Any) -> list[str]:
    return sorted(
        hit.id for hit in index.seek(tenant, probe(query, *scopes, **more)) if hit.lexical or hit.likeness > 0.1
    )


def transport(stub: Stub, **more: Any) -> Transport:
    sender = BotocoreSender(stub.url, "eu-central-1", timeout_seconds=5)
    return Transport(sender, more.get("breaker") or Breaker(lambda: 0.0), random.Random(1), lambda _: None)  # noqa: S311  # repeatable, not secret


@pytest.fixture(scope="module")
def domain() -> Iterator[Stub]:
    with served() as stub:
        yield stub


@pytest.fixture
def stub(domain: Stub) -> Stub:
    domain.__init__(url=domain.url)  # type: ignore[misc]  # as new
    OpenSearchAdmin(transport(domain)).begin(EMBEDDER, 1)
    return domain


@pytest.fixture
def on_node(opensearch_node: Node) -> Iterator[Made]:
    with made_on(opensearch_node.address, EMBEDDER, leases_ms=300) as made:
        yield made


@pytest.fixture(params=["inprocess", "stub", "node"])
def index(request: pytest.FixtureRequest) -> MemoryIndex:
    if request.param == "inprocess":
        return InProcessMemoryIndex()
    if request.param == "stub":
        return OpenSearchMemoryIndex(transport(request.getfixturevalue("stub")))
    made: Made = request.getfixturevalue("on_node")
    return made.index


def test_an_entry_is_found_by_its_words_and_by_its_vector(index: MemoryIndex):
    index.put(A, [entry("1", "parcels to Norway"), entry("2", "the weather in Rome")])
    assert found(index, "Norway parcel") == ["1"]
    (hit,) = index.seek(A, probe("norwegian", terms=(), limit=1))
    assert hit.id == "1"
    assert hit.lexical == 0
    assert hit.likeness > 0
    (only_words,) = index.seek(A, probe("Norway", vector=()))
    assert only_words.id == "1"
    assert only_words.lexical > 0
    assert only_words.likeness == 0


def test_both_legs_tell_of_every_candidate(index: MemoryIndex):
    index.put(A, [entry("1", "parcels to Norway"), entry("2", "a parcel"), entry("3", "Norwegian wood")])
    hits = {hit.id: hit for hit in index.seek(A, probe("parcels to Norway", limit=1))}
    assert hits["1"].lexical > 0
    assert hits["1"].likeness > 0.9


def test_what_a_hit_tells_is_what_was_put(index: MemoryIndex):
    index.put(A, [entry("1", "Norway", group="s", version=7, at=9, speaker="ann", words=3, question=True, timed=True)])
    (hit,) = index.seek(A, probe("Norway"))
    assert (hit.scope, hit.group, hit.version, hit.at, hit.speaker) == ("ann", "s", 7, 9, "ann")
    assert (hit.words, hit.question, hit.timed, hit.readers) == (3, True, True, ())


def test_nothing_is_found_of_another_tenant_scope_or_kind(index: MemoryIndex):
    index.put(A, [entry("1", "secret Norway")])
    assert found(index, "secret Norway", tenant=B) == []
    assert found(index, "secret Norway", "bob") == []
    assert found(index, "secret Norway", "an") == []
    assert found(index, "secret Norway", "ann-corp") == []
    assert found(index, "secret Norway", kind=Kind.FACT) == []
    assert index.names(B, Kind.TURN, ["ann"], ["norway"]) == frozenset()
    assert list(index.listed(B, Kind.TURN, "ann")) == []


def test_one_id_of_two_tenants_is_two_entries(index: MemoryIndex):
    index.put(A, [entry("1", "apples")])
    index.put(B, [entry("1", "oranges")])
    index.remove(B, [Name(Kind.TURN, "1")])
    assert found(index, "apples") == ["1"]
    assert found(index, "oranges", tenant=B) == []


def test_readers_are_asked_for_while_looking(index: MemoryIndex):
    index.put(A, [entry("1", "Norway", readers=("work",)), entry("2", "Norway")])
    assert found(index, "Norway", readers=frozenset({"work"})) == ["1", "2"]
    assert found(index, "Norway", readers=frozenset({"home", "role"})) == ["2"]
    assert found(index, "Norway", readers=frozenset({"home"}), limit=1) == ["2"]
    assert found(index, "Norway") == ["1", "2"]


def test_a_group_narrows_what_is_found(index: MemoryIndex):
    index.put(A, [entry("1", "Norway", group="s1"), entry("2", "Norway", group="s2")])
    assert found(index, "Norway", groups=["s2"]) == ["2"]


@pytest.mark.parametrize("kind", [Kind.EPISODE, Kind.CHUNK])
def test_what_is_the_tenants_may_be_looked_for_in_every_scope(index: MemoryIndex, kind: Kind):
    index.put(A, [entry("1", "Norway", kind=kind, scope="x"), entry("2", "Norway", kind=kind, scope="y")])
    assert found(index, "Norway", kind=kind, scopes=None) == ["1", "2"]
    assert found(index, "Norway", kind=kind, scopes=["y"]) == ["2"]
    assert found(index, "Norway", kind=kind, scopes=None, tenant=B) == []


def test_the_same_put_again_changes_nothing_and_a_newer_one_replaces(index: MemoryIndex):
    for _ in range(2):
        index.put(A, [entry("1", "apples")])
    index.put(A, [entry("1", "oranges", version=2)])
    assert found(index, "apples") == []
    assert found(index, "oranges") == ["1"]


def test_an_older_version_never_replaces_a_newer_one(index: MemoryIndex):
    index.put(A, [entry("1", "oranges", version=2)])
    index.put(A, [entry("1", "apples", version=1)])
    assert found(index, "oranges") == ["1"]
    assert found(index, "apples") == []


def test_a_late_write_does_not_bring_back_what_went(index: MemoryIndex):
    index.put(A, [entry("1", "apples", version=3)])
    for _ in range(2):
        index.remove(A, [Name(Kind.TURN, "1"), Name(Kind.TURN, "never")])
    index.put(A, [entry("1", "apples", version=3)])
    assert found(index, "apples") == []
    index.put(A, [entry("1", "apples", version=4)])
    assert found(index, "apples") == ["1"], "what is made anew is there"


def test_vectors_of_another_embedder_are_never_compared(index: MemoryIndex):
    index.put(A, [entry("1", "parcels to Norway", embedder="other")])
    assert [hit.likeness for hit in index.seek(A, probe("parcels to Norway"))] == [0.0]
    assert index.seek(A, probe("parcels to Norway", terms=())) == []


def test_a_name_stands_in_more_than_a_tenth_of_a_memory(index: MemoryIndex):
    index.put(
        A, [entry(str(i), "x", names=frozenset({"ann"} if i < 3 else {"bob"} if i < 4 else ())) for i in range(20)]
    )
    assert index.names(A, Kind.TURN, ["ann"], ["ann", "bob", "norway"]) == {"ann"}
    index.remove(A, [Name(Kind.TURN, str(i)) for i in range(2)])
    assert index.names(A, Kind.TURN, ["ann"], ["ann"]) == frozenset()


def test_all_of_a_scope_is_listed(index: MemoryIndex):
    index.put(A, [entry("1", "a", version=4), entry("2", "b"), entry("3", "c", scope="bob")])
    listed = {(each.name.id, each.version, each.embedder) for each in index.listed(A, Kind.TURN, "ann")}
    assert listed == {("1", 4, EMBEDDER.name), ("2", 1, EMBEDDER.name)}


def test_what_is_left_of_a_person_is_counted_and_of_nobody_else(index: MemoryIndex):
    index.put(A, [entry("1", "a"), entry("2", "b", kind=Kind.FACT), entry("3", "c", kind=Kind.EPISODE)])
    index.put(A, [entry("4", "d", scope="bob"), entry("5", "e", kind=Kind.CHUNK)])
    index.put(B, [entry("1", "a")])
    assert index.count(A, "ann") == 3
    assert index.count(A, "ann", {Kind.FACT}) == 1
    assert index.count(A, "ann", {Kind.CHUNK}) == 1, "a collection may have a person's name"
    assert [index.count(A, "an"), index.count(A, "ann-corp"), index.count("acme-corp", "ann")] == [0, 0, 0]
    index.remove(A, [Name(Kind.TURN, "1"), Name(Kind.FACT, "2"), Name(Kind.EPISODE, "3")])
    assert [index.count(A, "ann"), index.count(A, "bob"), index.count(B, "ann")] == [0, 1, 1]


def test_what_was_removed_is_expunged_in_the_end_and_what_was_not_stays(index: MemoryIndex):
    index.put(A, [entry("1", "apples"), entry("2", "apples")])
    index.remove(A, [Name(Kind.TURN, "1")])
    for _ in range(2):
        expunged(index)
    assert found(index, "apples") == ["2"]
    assert index.count(A, "ann") == 1


def test_a_mark_may_be_used_again_and_says_nothing_of_whom(index: MemoryIndex):
    index.put(A, [entry("1", "apples")])
    index.remove(A, [Name(Kind.TURN, "1")])
    mark = index.expunge()
    expunged(index)
    assert mark is None or not {A, "ann", "apples"} & set(re.findall(r"\w+", mark))
    while mark is not None:
        mark = index.expunge(mark)
    assert index.count(A, "ann") == 0


@pytest.mark.parametrize(
    "text", ["喜欢喝乌龙茶", "100% _wild*cards_", "🦔", "Donaudampfschifffahrt", 'a "quoted" \\ word', '{"wood": 1}']
)
def test_any_text_is_data(index: MemoryIndex, text: str):
    index.put(A, [entry("1", text), entry("2", "something else")])
    assert found(index, text)[:1] == ["1"]
    index.seek(A, probe('* _ % ? ~ " \\ { } [ ] ( ) / :'))


# ---- OpenSearch alone


@pytest.fixture
def opensearch(stub: Stub) -> OpenSearchMemoryIndex:
    return OpenSearchMemoryIndex(transport(stub))


def maintained(stub: Stub) -> list[str]:
    """What of the files' upkeep was asked for, in order."""
    paths = [path.partition("/")[2].partition("?")[0] for _, path, _ in stub.requests]
    return [path for path in paths if path in ("_flush", "_forcemerge", "_refresh")]


def test_of_a_bulk_that_fails_in_part_only_that_part_is_sent_again(opensearch: OpenSearchMemoryIndex, stub: Stub):
    stub.refuse_items = [200, 429, 503]
    opensearch.put(A, [entry(str(i), "apples") for i in range(3)])
    bulks = [body for _, path, body in stub.requests if path == "_bulk"]
    assert [body.count('"_id"') for body in bulks] == [3, 2]


def test_a_bulk_that_stays_busy_is_told(opensearch: OpenSearchMemoryIndex, stub: Stub):
    stub.refuse_items = [429] * 3
    with pytest.raises(Unavailable, match="1 of 1"):
        opensearch.put(A, [entry("1", "apples")])


def test_an_entry_that_will_never_be_taken_is_a_fault(opensearch: OpenSearchMemoryIndex):
    with pytest.raises(Internal):
        opensearch.put(A, [entry("1", "apples", vector=(1.0, 0.0))])


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_is_busy_is_asked_again(opensearch: OpenSearchMemoryIndex, stub: Stub, status: int):
    opensearch.put(A, [entry("1", "apples")])
    stub.refuse = [status, status]
    assert found(opensearch, "apples") == ["1"]


def test_what_a_shard_did_not_answer_is_not_passed_for_the_whole(opensearch: OpenSearchMemoryIndex, stub: Stub):
    opensearch.put(A, [entry("1", "apples")])
    stub.shards_failed = 1
    with pytest.raises(Unavailable):
        opensearch.seek(A, probe("apples"))


def test_where_nobody_answers_it_is_unavailable():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and never listened to
        nowhere = Stub(url=f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(Unavailable):
            OpenSearchMemoryIndex(transport(nowhere)).seek(A, probe("apples"))


def test_no_index_is_unavailable_and_says_what_makes_one(domain: Stub):
    domain.__init__(url=domain.url)  # type: ignore[misc]
    index = OpenSearchMemoryIndex(transport(domain))
    with pytest.raises(Unavailable, match="reindex"):
        index.put(A, [entry("1", "apples")])


def test_where_there_is_no_index_nothing_is_left(domain: Stub):
    domain.__init__(url=domain.url)  # type: ignore[misc]
    index = OpenSearchMemoryIndex(transport(domain))
    index.remove(A, [Name(Kind.TURN, "1")])
    assert index.count(A, "ann") == 0
    assert index.expunge() is None


def test_a_removal_of_what_is_not_there_writes_nothing(opensearch: OpenSearchMemoryIndex, stub: Stub):
    opensearch.remove(A, [Name(Kind.TURN, "never")])
    assert [path for _, path, _ in stub.requests if path == "_bulk"] == []


def test_what_changes_while_it_is_removed_is_removed_as_it_is_then(opensearch: OpenSearchMemoryIndex, stub: Stub):
    opensearch.put(A, [entry("1", "apples")])
    stub.meanwhile = [partial(opensearch.put, A, [entry("1", "oranges", version=2)])]
    opensearch.remove(A, [Name(Kind.TURN, "1")])
    assert opensearch.count(A, "ann") == 0


def test_what_keeps_changing_is_not_passed_for_removed(opensearch: OpenSearchMemoryIndex, stub: Stub):
    opensearch.put(A, [entry("1", "apples")])
    stub.meanwhile = [partial(opensearch.put, A, [entry("1", "apples", version=2 + i)]) for i in range(3)]
    with pytest.raises(Unavailable, match="change while"):
        opensearch.remove(A, [Name(Kind.TURN, "1")])


def test_nothing_is_merged_before_every_lease_has_passed_the_last_delete(opensearch: OpenSearchMemoryIndex, stub: Stub):
    opensearch.put(A, [entry("1", "apples")])
    opensearch.remove(A, [Name(Kind.TURN, "1")])
    (index,) = stub.indices.values()
    index.retained = 1  # the delete is operation 1
    mark = opensearch.expunge()
    assert [opensearch.expunge(mark) for _ in range(2)] == [mark, mark]
    assert maintained(stub) == []
    index.retained = 2
    mark = opensearch.expunge(mark)
    assert maintained(stub) == ["_flush", "_forcemerge"]
    assert opensearch.expunge(mark) is None
    assert maintained(stub) == ["_flush", "_forcemerge", "_refresh"]


def test_a_merge_under_way_is_waited_for_and_one_that_failed_or_went_is_begun_again(
    opensearch: OpenSearchMemoryIndex, stub: Stub
):
    opensearch.put(A, [entry("1", "apples")])
    mark = opensearch.expunge(opensearch.expunge())
    stub.tasks["node:0"]["completed"] = False
    assert opensearch.expunge(mark) == mark
    stub.tasks["node:0"] = {"completed": True, "response": {"_shards": {"failed": 1}}}
    mark = opensearch.expunge(opensearch.expunge(mark))
    del stub.tasks["node:1"]
    mark = opensearch.expunge(opensearch.expunge(mark))
    assert list(stub.tasks) == ["node:0", "node:1"]
    assert opensearch.expunge(mark) is None


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_shard_that_does_not_answer_is_told_and_the_mark_is_good_for_later(
    opensearch: OpenSearchMemoryIndex, stub: Stub, done: int
):
    opensearch.put(A, [entry("1", "apples")])
    mark = None
    for _ in range(done):
        mark = opensearch.expunge(mark)
    stub.shards_failed = 1
    with pytest.raises(Unavailable):
        opensearch.expunge(mark)
    with pytest.raises(Unavailable):
        opensearch.count(A, "ann")
    stub.shards_failed = 0
    for _ in range(3 - done):
        mark = opensearch.expunge(mark)
    assert mark is None


def test_a_new_index_made_while_expunging_holds_nothing_back(opensearch: OpenSearchMemoryIndex, stub: Stub):
    opensearch.put(A, [entry("1", "apples")])
    mark = opensearch.expunge()
    admin = OpenSearchAdmin(transport(stub))
    name = admin.begin(EMBEDDER, 2)
    stub.indices[name].retained = 0
    opensearch.put(A, [entry("1", "apples")])
    assert opensearch.count(A, "ann") == 2, "in both"
    admin.finish(name)
    while mark is not None:
        mark = opensearch.expunge(mark)


def test_the_filters_stand_inside_the_knn_clause(opensearch: OpenSearchMemoryIndex, stub: Stub):
    opensearch.seek(A, probe("apples", readers=frozenset({"work"}), limit=1))
    (body,) = [body for _, path, body in stub.requests if path == "_msearch"][:1]
    clause = body.splitlines()[3]
    inside = clause[clause.index('"filter"') :]
    assert all(part in inside for part in ('"tenant": "acme"', '"kind": "turn"', '"scope": ["ann"]', '"work"'))


def test_a_domain_shows_no_term_no_name_and_no_vector(stub: Stub, opensearch: OpenSearchMemoryIndex):
    opensearch.put(A, [entry("1", "apples", names=frozenset({"ann"}))])
    (index,) = stub.indices.values()
    assert set(index.body["mappings"]["_source"]["excludes"]) == {"terms", "names", "vector"}
    assert index.body["mappings"]["dynamic"] == "strict"


def test_a_new_embedder_is_taken_into_use_in_one_step(stub: Stub, opensearch: OpenSearchMemoryIndex):
    class Other(HashingEmbedder):
        name = "other-512"

    opensearch.put(A, [entry("1", "apples")])
    admin = OpenSearchAdmin(transport(stub))
    name = admin.begin(Other(), 2)
    opensearch.put(A, [entry("2", "apples")])
    assert found(opensearch, "apples") == ["1", "2"], "the one before is searched until the new one is filled"
    opensearch.put(A, [entry("1", "apples", embedder="other-512")])
    before = admin.finish(name)
    assert len(before) == 1
    assert list(stub.indices) == [name]
    assert found(opensearch, "apples") == ["1", "2"]
    opensearch.put(A, [entry("3", "apples")])
    assert found(opensearch, "apples") == ["1", "2", "3"]


def test_a_domain_that_fails_is_let_alone_for_a_while():
    now, sent = [0.0], []

    class Dead:
        def send(self, *request: Any) -> tuple[int, bytes]:
            sent.append(request)
            raise NoAnswer

    transport = Transport(Dead(), Breaker(lambda: now[0]), random.Random(1), lambda _: None)  # noqa: S311  # repeatable
    index = OpenSearchMemoryIndex(transport)
    ask: Callable[[], Any] = lambda: index.seek(A, probe("apples"))  # noqa: E731  # three times below
    with pytest.raises(Unavailable):
        ask()
    assert len(sent) == 3
    with pytest.raises(Unavailable):
        ask()
    assert len(sent) == 3, "it is not asked while the circuit is open"
    now[0] = 16.0
    with pytest.raises(Unavailable):
        ask()
    assert len(sent) == 4, "one call sees whether it is back"
