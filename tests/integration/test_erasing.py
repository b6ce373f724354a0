"""Everything about a person goes, and nothing of anybody else: looked for in every table, bucket, index and queue.

What is sealed shows no word of anybody in a dump. So whatever is ever sealed is noted beside its bytes: a dump is read
as whoever had every key that there ever was would read it, also after the keys' table was restored from a backup.
"""

from __future__ import annotations

import gc
import json
import random
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

from person import Person
from slate.adapters.dynamodb.calls import Calls, Item, Key, from_wire
from slate.adapters.dynamodb.codec import Codec
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.subject_kinds import KINDS, Undeclared, kind_of
from slate.adapters.dynamodb.table import KEYS, LEDGER, MAIN, READY, SUBJECT, SUBJECT_PK, TABLES, TIMER
from slate.adapters.dynamodb.usage_meter import DynamoUsageMeter
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.inprocess.queues import InProcessQueues
from slate.domain.errors import Unavailable
from slate.domain.instants import parse_instant
from slate.domain.usage import ModelUsage
from slate.wiring.parts import MEMORY, WEBHOOKS
from slate_functions.local.service import LocalService, open_service

HOUR_MS = 3_600_000
DAY = 86_400
FINISHED = ("RECEIPTED", "CLOSED")


class Everything:
    """A Slate of which every place can be dumped."""

    service: LocalService

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sealed: dict[bytes, str] = {}
        self.sent: list[Mapping[str, Any]] = []
        self.indices: list[InProcessMemoryIndex] = []
        self._note(monkeypatch)

    def _note(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seal, put, made = Codec.seal, InProcessQueues.put, InProcessMemoryIndex.__init__

        def noting(codec: Codec, tenant: str, ref: str | None, key: Key, attribute: str, value: Any) -> bytes:
            sealed = seal(codec, tenant, ref, key, attribute, value)
            self.sealed[sealed] = json.dumps(value)
            return sealed

        def sending(queues: InProcessQueues, name: str, message: Mapping[str, Any], delay_seconds: int) -> None:
            self.sent.append({"queue": name, **message})
            put(queues, name, message, delay_seconds)

        def making(index: InProcessMemoryIndex, *given: Any, **named: Any) -> None:
            made(index, *given, **named)
            self.indices.append(index)

        monkeypatch.setattr(Codec, "seal", noting)
        monkeypatch.setattr(InProcessQueues, "put", sending)
        monkeypatch.setattr(InProcessMemoryIndex, "__init__", making)

    # ---- dumps

    def table(self, name: str) -> dict[Key, Item]:
        """Every item of one table, by its key."""
        tables = {MAIN.name: "table", KEYS.name: "keys_table", LEDGER.name: "ledger_table"}
        real = getattr(self.service.slate.settings, tables[name])
        pages = self.service.local.dynamodb.get_paginator("scan").paginate(TableName=real)
        found = [from_wire(raw) or {} for page in pages for raw in page["Items"]]
        return {Key(item["pk"], item["sk"]): item for item in found}

    def objects(self) -> dict[str, bytes]:
        """Every version of every object."""
        s3, bucket = self.service.local.s3, self.service.slate.settings.bucket
        pages = s3.get_paginator("list_object_versions").paginate(Bucket=bucket)
        versions = [version for page in pages for version in page.get("Versions", [])]
        markers = [marker for page in pages for marker in page.get("DeleteMarkers", [])]
        found = {marker["Key"]: b"" for marker in markers}
        for version in versions:
            answer = s3.get_object(Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"])
            found[f"{version['Key']} {version['VersionId']}"] = answer["Body"].read()
        return found

    def index(self) -> str:
        """Every text that anything of the index holds; it is the first that was made."""
        seen: set[int] = set()
        texts: list[str] = []
        left: list[Any] = [vars(self.indices[0])]
        while left:
            thing = left.pop()
            if id(thing) in seen or isinstance(thing, type) or callable(thing):
                continue
            seen.add(id(thing))
            if isinstance(thing, str):
                texts.append(thing)
            else:
                left.extend(gc.get_referents(thing))
        return "\n".join(texts)

    def dump(self, *, opened: bool, tenant: str = "") -> str:
        """All of it as one text, or all of one tenant's; ``opened`` with every key that there ever was."""
        read = self.open if opened else bytes.hex
        parts = [self.index(), json.dumps(self.sent)]
        for table in TABLES:
            items = self.table(table.name).items()
            parts += [_text(item, read) for key, item in items if key.pk.startswith(tenant)]
        parts += [f"{name} {read(content)}" for name, content in self.objects().items() if name.startswith(tenant)]
        return "\n".join(parts)

    def open(self, content: bytes) -> str:
        """What was sealed as these bytes; a packed context unpacked."""
        text = self.sealed.get(content, content.hex())
        with suppress(ValueError, TypeError, zlib.error):
            return zlib.decompress(b64decode(json.loads(text), validate=True)).decode()
        return text

    # ---- acts

    def ask(self, person: Person) -> Any:
        return person.api.post("/v1/erasures", {"subject": person.subject, "reason": "by letter"}, 202)

    def status(self, person: Person, asked: Any) -> Any:
        return person.api.get(f"/v1/erasures/{asked['erasure_id']}")

    def finish(self, person: Person, asked: Any) -> Any:
        for _ in range(20):
            status = self.status(person, asked)
            if status["state"] in FINISHED:
                return status
            self.wait_until(status["next_at"])
        raise AssertionError(f"not finished: {status}")

    def wait_until(self, instant: str) -> None:
        """Let time go by, and do what falls due then."""
        self.service.advance(max(parse_instant(instant) - self.service.local.clock.now(), 0) / 1000)


def _text(item: Item, read: Callable[[bytes], str]) -> str:
    return " ".join(f"{name}={read(value) if isinstance(value, bytes) else value}" for name, value in item.items())


@pytest.fixture(scope="module")
def everything() -> Iterator[Everything]:
    with pytest.MonkeyPatch.context() as patch:
        made = Everything(patch)
        with open_service(manual=True) as made.service:
            yield made


class Story(NamedTuple):
    """An erasure from before it was asked for to its receipt, and what was dumped meanwhile."""

    ann: Person
    others: list[Person]
    ref: str
    before: dict[str, Any]
    fenced: dict[str, Any]
    receipt: Any
    status: Any


@pytest.fixture(scope="module")
def story(everything: Everything) -> Story:
    """Ann is erased. Anne's name begins like hers, and another tenant has an Ann too."""
    service = everything.service
    ann = Person(service, "ann")
    others = [Person(service, "anne"), Person(service, "ann", tenant="globex")]
    ann.fill()
    for each in others:
        each.fill(sessions=2, more=1)
    service.drain()
    _count_usage(everything, ann)
    ann.leave_things_queued()
    before = _pictures(everything)
    asked = everything.ask(ann)
    service.drain()
    fenced = _pictures(everything)
    status = everything.finish(ann, asked)
    token = ann.api.ask("GET", f"/v1/erasures/{asked['erasure_id']}/receipt").text
    payload = token.split(".")[1]
    receipt = json.loads(b64decode(payload + "=" * (-len(payload) % 4), altchars=b"-_"))
    ref = next(str(item["ref"]) for key, item in everything.table(MAIN.name).items() if key.sk.startswith("ERASURE#"))
    return Story(ann, others, ref, before, fenced, receipt, status)


def _pictures(everything: Everything) -> dict[str, Any]:
    return {
        "main": everything.table(MAIN.name),
        "keys": everything.table(KEYS.name),
        "objects": everything.objects(),
        "opened": everything.dump(opened=True),
        "raw": everything.dump(opened=False),
    }


def _count_usage(everything: Everything, person: Person) -> None:
    """No model is asked here; where one is, the session counts it."""
    local = everything.service.local
    calls = Calls(local.dynamodb, everything.service.slate.settings.table, random.SystemRandom(), lambda _: None)
    meter = DynamoUsageMeter(cast("Storage", SimpleNamespace(calls=calls)))
    meter.add(person.tenant, person.session(0), ModelUsage(calls=1, input_tokens=2, output_tokens=3))


def _marked(text: str, person: Person) -> set[str]:
    return {marker for marker in person.markers if marker in text}


# ---- what is left


def test_two_hundred_markers_are_everywhere_before_and_nowhere_after(everything: Everything, story: Story) -> None:
    ann = story.ann
    assert len(ann.markers) >= 200
    assert _marked(story.before["opened"], ann) == set(ann.markers), "the dump shows what must be shown to be gone"
    assert not _marked(everything.dump(opened=True), ann), "with every key that there ever was"
    assert not _marked(everything.dump(opened=False), ann)


def test_the_subjects_id_is_left_nowhere(everything: Everything, story: Story) -> None:
    named = re.compile(rf"{story.ann.subject}\b")
    assert named.search(story.before["opened"])
    assert not named.search(story.before["raw"]), "nor was it ever in clear"
    assert not named.search(everything.dump(opened=True, tenant="acme"))


def test_nothing_that_was_sealed_for_the_person_is_left_beside_what_is_kept(
    everything: Everything, story: Story
) -> None:
    about = f"acme#{story.ref}"
    assert len([item for item in story.before["main"].values() if item.get(SUBJECT_PK) == about]) > 150
    left = [key for key, item in everything.table(MAIN.name).items() if story.ref in f"{key} {item}"]
    assert {kind_of(key).store for key in left} <= {"fences", "erasures", "audit"}
    assert not [name for name in everything.objects() if story.ref in name]
    assert [key.sk for key in everything.table(KEYS.name) if story.ref in key.pk] == []


def test_everybody_else_is_as_they_were_to_the_byte(story: Story) -> None:
    def others(main: dict[Key, Item]) -> dict[Key, Item]:
        theirs = {key: item for key, item in main.items() if kind_of(key).store not in ("audit", "erasures", "fences")}
        return {key: item for key, item in theirs.items() if item.get(SUBJECT_PK) != f"acme#{story.ref}"}

    before, fenced = others(story.before["main"]), others(story.fenced["main"])
    assert len(before) > 150
    assert {key: item for key, item in fenced.items() if before.get(key) != item} == {}
    assert {key: item for key, item in before.items() if fenced.get(key) != item} == {}
    kept = {name: content for name, content in story.before["objects"].items() if story.ref not in name}
    assert kept == story.fenced["objects"]
    for each in story.others:
        assert _marked(story.fenced["opened"], each) == set(each.markers)


def test_the_others_read_all_of_theirs(story: Story) -> None:
    for each in story.others:
        assert [
            path for path in each.reads if each.api.ask("GET", path).status >= 400 and "/contexts/" not in path
        ] == []
    for path in story.ann.reads:
        reply = story.ann.api.ask("GET", path)
        assert not _marked(reply.text, story.ann)
        assert reply.status in (200, 404), path


# ---- one of every kind


def test_there_was_one_thing_of_every_kind_and_no_kind_that_nobody_declared(story: Story) -> None:
    about = f"acme#{story.ref}"
    found = {kind_of(key) for key in story.before["main"]}  # raises where something is undeclared
    hers = {kind_of(key) for key, item in story.before["main"].items() if item.get(SUBJECT_PK) == about}
    personal = {kind for kind in KINDS if kind.kept is None and kind.store != "holds"}
    assert {(kind.partition, kind.sort) for kind in personal - hers} == set()
    assert {kind.store for kind in found - hers} <= {kind.store for kind in KINDS if kind.kept}


def test_every_item_of_a_person_says_so(story: Story) -> None:
    names = {"acme#U#", "acme#P#", "acme#S#", "acme#G#", "acme#X#", "acme#C#", "acme#E#", "acme#W#", "acme#I#"}
    silent = [
        key
        for key, item in story.before["main"].items()
        if key.pk[:7] in names and SUBJECT_PK not in item and kind_of(key).kept is None
    ]
    assert silent == []


def test_an_item_of_no_declared_kind_is_an_error_and_not_passed_over() -> None:
    for key in (Key("acme#U#r", "DIARY#1"), Key("acme#Z#1", "ANYTHING"), Key("acme#N#friends", "r")):
        with pytest.raises(Undeclared):
            kind_of(key)


def test_every_place_where_bytes_can_lie_is_one_that_is_looked_through(everything: Everything, story: Story) -> None:
    """A further table, index or queue makes this fail: say then how it is erased, and dump it here."""
    assert {table.name for table in TABLES} == {MAIN.name, KEYS.name, LEDGER.name}
    assert {index.name for index in MAIN.indexes} == {READY, TIMER, SUBJECT}, "of keys alone"
    assert set(everything.service.local.queues.consumed()) == {MEMORY, WEBHOOKS}
    assert {message["queue"] for message in everything.sent} >= {MEMORY, WEBHOOKS}
    objects = {name.split("/")[2] for name in story.before["objects"]}
    assert objects == {"sessions", "graphs", "episodes", "extractions", "exports"}
    assert all(name.split("/")[1] in (story.ref, *_refs(story)) for name in story.before["objects"])


def _refs(story: Story) -> set[str]:
    return {str(item[SUBJECT_PK]).split("#")[1] for item in story.before["main"].values() if SUBJECT_PK in item}


# ---- what is said of it


def test_the_receipt_counts_every_store(story: Story) -> None:
    stores = story.receipt["stores"]
    declared = {kind.store for kind in KINDS if kind.kept is None} | {"vectors", "objects", "keys"}
    assert set(stores) == declared
    assert {name for name, count in stores.items() if not count["counted"]} == {"holds"}
    assert all(count["erased"] >= count["counted"] and count["after"] == 0 for count in stores.values())
    assert [step["step"] for step in story.status["steps"]] == [
        "RECEIVED",
        "FENCED",
        "KEYS_SHREDDED",
        "INDEX_DELETED",
        "PRIMARY_DELETED",
        "DRAINED",
        "EXPUNGED",
        "VERIFIED",
        "RECEIPTED",
    ]
    assert (story.status["subject"], story.status["reason"]) == (None, None), "they went with the keys"


def test_a_person_who_comes_back_is_somebody_new(everything: Everything, story: Story) -> None:
    back = Person(everything.service, "ann")
    back.learn(statement="Is back for good", category="other")
    everything.service.drain()
    facts = back.api.get(f"{back.path}/facts")["items"]
    assert [fact["statement"] for fact in facts] == ["Is back for good"]
    again = everything.ask(back)
    assert again["erasure_id"] != story.status["erasure_id"]
    assert again["epoch"] == 2
    assert everything.ask(back)["erasure_id"] == again["erasure_id"], "one is open: whoever asks is answered that one"
    assert everything.finish(back, again)["state"] == "RECEIPTED"


# ---- when things go wrong


def test_an_index_that_refuses_for_an_hour_holds_the_erasure_up_and_no_more(
    everything: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    beth = Person(everything.service, "beth")
    beth.learn(statement=f"Sings {beth.mark()}", category="other")
    everything.service.drain()

    def refuse(*_: Any) -> None:
        raise Unavailable("the index does not answer")

    with monkeypatch.context() as down:
        down.setattr(InProcessMemoryIndex, "remove", refuse)
        asked = everything.ask(beth)
        waiting = everything.status(beth, asked)
        while everything.service.local.clock.now() < parse_instant(asked["received_at"]) + HOUR_MS:
            everything.wait_until(waiting["next_at"])
            waiting = everything.status(beth, asked)
        assert (waiting["state"], waiting["failure"]) == ("KEYS_SHREDDED", "Unavailable")
        assert beth.markers[0] not in beth.api.ask("GET", f"{beth.path}/facts").text, "and yet nothing is served"
        assert "erasures_failed" in everything.service.metrics()
    assert everything.finish(beth, asked)["failures"] == 0
    assert not _marked(everything.dump(opened=True), beth)


# ---- one thing alone


def test_a_deleted_fact_and_its_history_leave_nothing_once_they_cannot_come_back(everything: Everything) -> None:
    cleo = Person(everything.service, "cleo")
    place = {"category": "identity", "attribute": "city", "importance": 8}
    cleo.learn(statement=f"Lives in {(old := cleo.mark())}", value=old, **place)
    everything.service.advance(60)
    fact = cleo.learn(statement=f"Lives in {(new := cleo.mark())}", value=new, **place)
    kept = cleo.learn(statement=f"Plays {(plays := cleo.mark())}", category="preference", importance=8)
    everything.service.drain()
    seen = cleo.api.post("/v1/context", {"subject": cleo.subject, "query": "where does she live, and play?"})
    assert {new, plays} <= _marked(json.dumps(seen), cleo)
    cleo.api.ask("DELETE", f"{cleo.path}/facts/{fact}")
    everything.service.advance(29 * DAY)
    assert {old, new} <= _marked(everything.dump(opened=True), cleo), "as long as it can be restored"
    everything.service.advance(2 * DAY)
    assert _marked(everything.dump(opened=True), cleo) == {plays}
    assert cleo.api.get(f"{cleo.path}/facts/{kept}")["statement"] == f"Plays {plays}"


def test_a_deleted_turn_leaves_nothing_and_what_was_digested_from_it_no_longer_says_it(everything: Everything) -> None:
    dora = Person(everything.service, "dora")
    session = dora.session(0)
    dora.api.post("/v1/sessions", {"session_id": session, "subject": dora.subject}, 201)
    said, other = dora.mark(), dora.mark()
    turns = [f"I live in {said.title()}.", f"I love {other}.", "Thanks, that is all."]
    for text in turns:
        talk = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
        dora.api.post(f"/v1/sessions/{session}/turns", {"turns": talk})
    dora.api.post(f"/v1/sessions/{session}/close", expect=202)
    everything.service.drain()
    seen = dora.api.post("/v1/context", {"subject": dora.subject, "session": session, "query": "where does she live?"})
    assert said in json.dumps(seen).lower()
    assert said in json.dumps(dora.api.get(f"/v1/sessions/{session}/summaries")).lower()
    assert said in json.dumps(dora.api.get(f"{dora.path}/facts")).lower(), "a fact was learned from it"
    dora.api.ask("DELETE", f"/v1/sessions/{session}/turns/1")
    everything.service.drain()
    assert said not in json.dumps(dora.api.get(f"/v1/sessions/{session}/summaries")).lower()
    assert other in json.dumps(dora.api.get(f"/v1/sessions/{session}/summaries")), "it was made anew"
    assert said not in json.dumps(dora.api.get(f"{dora.path}/facts")).lower()
    everything.service.advance(31 * DAY)
    assert said not in everything.dump(opened=True).lower()
