"""A tenant goes: nothing of it is left anywhere but what proves it, and its neighbour does not notice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from contract.faults import Killed
from contract.talking import create, say
from contract.world import TENANT, World, task
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.jose.receipts import JwsSigner, keys_of, verified
from slate.contract.facts import PostFacts
from slate.contract.holds import CreateHold
from slate.contract.search import PutDocument, PutEpisode
from slate.domain.access import Principal
from slate.domain.erasing.receipts import Erased
from slate.domain.errors import Conflict, SubjectErased
from slate.domain.indexed import PERSONAL, Entry, Kind
from slate.wiring.assembling import assemble
from slate.wiring.operating import offboarding_of
from slate.wiring.parts import Slate

NEIGHBOUR = f"{TENANT}-corp"
PERSON, MARK = "u-17", "xyzzy-marker"


class Leaving:
    """A tenant with something of everything, beside one whose name begins like its own."""

    def __init__(self, w: World) -> None:
        self.w = w
        self.index = InProcessMemoryIndex()
        self.parts = replace(w.parts, index=self.index, sleep=w.clock.advance)
        self.slate = assemble(w.settings, self.parts)
        self.refs = {t: w.storage.codec.keyring.name(t, PERSON) for t in (TENANT, NEIGHBOUR)}
        for tenant in self.refs:
            self.fill(w.principal(tenant=tenant))

    def fill(self, me: Principal) -> None:
        facts(self.slate, me, MARK)
        create(self.w, "s", by=me, subject=PERSON)
        say(self.w, f"I like {MARK}", session_id="s", by=me)
        self.w.graph(task("t", input={"text": MARK * 10_000}), graph_id="g", by=me)
        for subject in (PERSON, None):
            episode = PutEpisode(task=MARK, steps=(), outcome=MARK, subject=subject)
            self.slate.memory.retrieval.episodes.put(me, episode, None)
        document = PutDocument(document_id="d", title=MARK, text=MARK, collection="help")
        self.slate.memory.retrieval.knowledge.put(me, document, None)
        ref = self.refs[me.tenant]
        scopes = ((Kind.FACT, ref), (Kind.TURN, ref), (Kind.EPISODE, "-"), (Kind.CHUNK, "help"))
        self.index.put(me.tenant, [entry(kind, scope) for kind, scope in scopes])

    def offboard(self) -> str:
        return offboarding_of(self.w.settings, self.parts).offboard(TENANT, lambda _: None)

    def left(self, tenant: str) -> dict[str, list[Any]]:
        """All that is stored of a tenant, by table and bucket."""
        settings = self.w.settings
        tables = (settings.table, settings.keys_table, settings.ledger_table)
        found = {
            table: [i for i in self.w.dynamodb.scan(TableName=table)["Items"] if i["pk"]["S"].startswith(f"{tenant}#")]
            for table in tables
        }
        listed = self.w.parts.s3.list_object_versions(Bucket=settings.bucket, Prefix=f"{tenant}/")
        return {**found, "bucket": listed.get("Versions", [])}

    def indexed(self, tenant: str) -> int:
        scopes = (self.refs[tenant], PERSONAL), ("-", [Kind.EPISODE]), ("help", [Kind.CHUNK])
        return sum(self.index.count(tenant, scope, kinds) for scope, kinds in scopes)


def entry(kind: Kind, scope: str) -> Entry:
    return Entry(kind=kind, id=f"{kind}-1", scope=scope, version=1, at=0, terms=("xyzzy",))


def facts(slate: Slate, me: Principal, statement: str) -> None:
    body = PostFacts.model_validate({"facts": [{"statement": statement, "category": "other"}]})
    slate.memory.facts.post(me, PERSON, body, None)


@pytest.fixture
def leaving(w: World) -> Leaving:
    return Leaving(w)


def test_nothing_is_left_but_the_proof_and_the_neighbour_is_whole(leaving: Leaving) -> None:
    before, main = leaving.left(NEIGHBOUR), leaving.w.settings.table
    assert all(leaving.left(TENANT)[name] for name in (main, leaving.w.settings.keys_table, "bucket"))
    assert leaving.indexed(TENANT) == leaving.indexed(NEIGHBOUR) == 4
    receipt = leaving.offboard()
    left = leaving.left(TENANT)
    assert {item["sk"]["S"].partition("#")[0] for item in left.pop(main)} == {"KNOWN"}
    ledger = left.pop(leaving.w.settings.ledger_table)
    assert {item["sk"]["S"].partition("#")[0] for item in ledger} == {"HEAD", "ERASURE"}
    assert not any(left.values())
    assert MARK not in str(ledger)
    assert leaving.left(NEIGHBOUR) == before
    assert (leaving.indexed(TENANT), leaving.indexed(NEIGHBOUR)) == (0, 4)
    claims = verified(receipt, keys_of(keys(leaving)))
    assert (claims.erased, claims.tenant, claims.subject_digest) == (Erased.TENANT, TENANT, None)
    assert claims.keys_shredded == 2
    stores = {
        name: (count.counted > 0, count.counted == count.erased, count.after) for name, count in claims.stores.items()
    }
    assert {"facts", "sessions", "graphs", "episodes", "documents", "objects", "vectors", "keys"} <= stores.keys()
    assert set(stores.values()) == {(True, True, 0)}
    assert "others" not in stores


def keys(leaving: Leaving) -> bytes:
    return json.dumps(JwsSigner(leaving.parts.signing_key).public_keys()).encode()


def test_nothing_is_taken_for_it_any_more_and_its_receipt_is_read_again(leaving: Leaving) -> None:
    receipt = leaving.offboard()
    fresh = assemble(leaving.w.settings, leaving.parts)
    me = leaving.w.me
    with pytest.raises(SubjectErased, match="offboarded"):
        facts(fresh, me, "Is back")
    with pytest.raises(SubjectErased, match="offboarded"):  # about nobody, too
        fresh.memory.retrieval.knowledge.put(me, PutDocument(document_id="d", title="t", text="t"), None)
    facts(fresh, leaving.w.principal(tenant=NEIGHBOUR), "Is here")
    assert leaving.offboard() == receipt


def test_what_arrives_late_is_swept_up(leaving: Leaving) -> None:
    """A process that knows nothing of it yet writes once more while the operator waits."""
    said = iter(["Said late"])

    def sleep(seconds: float) -> None:
        for statement in said:
            facts(leaving.slate, leaving.w.me, statement)
        leaving.w.clock.advance(seconds)

    leaving.parts = replace(leaving.parts, sleep=sleep)
    leaving.offboard()
    left = leaving.left(TENANT)
    assert {item["sk"]["S"].partition("#")[0] for item in left[leaving.w.settings.table]} == {"KNOWN"}
    assert not left[leaving.w.settings.keys_table]


def test_a_hold_stands_in_its_way(leaving: Leaving) -> None:
    made = leaving.slate.privacy.holding.create(leaving.w.me, CreateHold(subject=PERSON, reason="in court"), None)
    with pytest.raises(Conflict, match="1 holds stand"):
        leaving.offboard()
    assert leaving.left(TENANT)["bucket"]
    leaving.slate.privacy.holding.lift(leaving.w.me, made.hold_id)
    leaving.offboard()


@pytest.mark.parametrize("writes", [0, 1, 2, 4])
def test_killed_and_begun_again_it_ends_the_same_and_the_receipt_counts_what_there_was(
    leaving: Leaving, writes: int
) -> None:
    counted = len(leaving.left(TENANT)[leaving.w.settings.table])
    leaving.w.faults.kill_after(writes)
    with pytest.raises(Killed):
        leaving.offboard()
    leaving.w.faults.disarm()
    claims = verified(leaving.offboard(), keys_of(keys(leaving)))
    assert {item["sk"]["S"].partition("#")[0] for item in leaving.left(TENANT)[leaving.w.settings.table]} == {"KNOWN"}
    assert claims.keys_shredded == claims.stores["keys"].counted == 2
    apart = ("keys", "objects", "vectors")
    assert sum(store.counted for name, store in claims.stores.items() if name not in apart) == counted
    assert all(store.erased == store.counted for store in claims.stores.values())
