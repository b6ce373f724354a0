"""Nothing that is said in a session is stored in clear, every item of it says whom it is about, and it goes with the key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contract.talking import close, create, decay, items_of, mark, pin, put_value, remove, said, say, store
from contract.world import TENANT, World
from slate.adapters.dynamodb.calls import Key
from slate.domain.errors import SubjectErased
from slate.domain.sessions import Merged, Summary

MARK = "xyzzy-marker"
PERSON = "maria.muster@example.com"


def live(w: World) -> None:
    """Says the marker in every place where a caller may say something, small and large."""
    create(w, subject=PERSON, system=f"{MARK} system", pinned={"goal": f"{MARK} goal"})
    call = {"id": MARK, "name": MARK, "arguments": {"x": MARK}}
    say(
        w,
        {"role": "user", "content": f"{MARK} said", "name": MARK, "client_id": f"{MARK} {PERSON}", "marks": ["fact"]},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": f"{MARK} " * 5_000, "tool_call_id": MARK},
        {"role": "tool", "content": f"{MARK} " * 20_000},
        f"You must never {MARK}.",
        once="k",
    )
    mark(w, 1, importance=9)
    pin(w, 1, constraints=[MARK], entities={MARK: MARK})
    put_value(w, "v", MARK)
    cut = store(w).cut(TENANT, store(w).head(TENANT, "s"), 2, exchanges=0, tokens=0)
    assert cut is not None
    summary = Summary(segment=1, first_seq=1, last_seq=2, fields={MARK: MARK}, kept=(MARK,), tokens=1, made_by="test")
    assert store(w).keep_summary(TENANT, "s", cut, summary)
    assert store(w).keep_merged(TENANT, "s", Merged(fields={MARK: MARK}, segments=(1,)))


def stored(w: World) -> Iterator[str]:
    for page in w.dynamodb.get_paginator("scan").paginate(TableName=w.settings.table):
        for item in page["Items"]:
            yield str(item)
            yield "".join(bytes(v["B"]).decode("latin-1") for v in item.values() if "B" in v)
    for name in w.objects():
        yield name
        yield w.s3.get_object(Bucket=w.settings.bucket, Key=name)["Body"].read().decode("latin-1")


def test_nothing_that_is_said_is_stored_in_clear(w: World) -> None:
    live(w)
    close(w)
    everything = list(stored(w))
    assert any("sessions/s/CONTENT/" in text for text in everything), "a large turn went to its object"
    assert [text[:300] for text in everything if MARK in text or "maria" in text] == []


def test_every_item_of_a_session_is_found_by_its_person(w: World) -> None:
    live(w)
    close(w)
    ref = w.storage.codec.keyring.ref(TENANT, PERSON)
    kinds = {sk.partition("#")[0] for sk in items_of(w)}
    assert kinds == {"TURN", "TURNS", "MARK", "CONTENT", "CLIENT", "SEGMENT", "EXTRACTION"}
    about = {key: item for key, item in w.items().items() if "#keys" not in key.pk}
    assert {key: item.get("subject_pk") for key, item in about.items()} == dict.fromkeys(about, f"{TENANT}#{ref}")


def test_without_the_persons_key_nothing_of_a_session_is_read_and_lists_and_time_go_on(w: World) -> None:
    live(w)
    create(w, "other", subject="somebody")
    ref = w.storage.codec.keyring.ref(TENANT, PERSON)
    w.storage.codec.keyring.shred(TENANT, ref, 1)
    w.clock.advance(301)
    for use in (
        lambda: said(w),
        lambda: w.slate.memory.sessions.get(w.me, "s"),
        lambda: store(w).snapshot(TENANT, "s"),
    ):
        with pytest.raises(SubjectErased):
            use()
    assert [s.session_id for s in w.slate.memory.sessions.list(w.me, 10, None, None).items] == ["other"]
    w.clock.advance(3_600)
    decay(w)
    assert store(w).head(TENANT, "other").state == "closed"


def test_a_large_turn_that_is_deleted_leaves_no_byte(w: World) -> None:
    live(w)
    remove(w, 4)
    assert w.objects() == []
    assert Key(f"{TENANT}#S#s", "TURN#000000004") not in w.items()
