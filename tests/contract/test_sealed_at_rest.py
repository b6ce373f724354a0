"""Nothing a caller says is stored in clear, and every item about a person says so."""

from __future__ import annotations

import pytest

from contract import sharing
from contract.world import TENANT, task
from slate.adapters.dynamodb.calls import Key
from slate.adapters.dynamodb.keys import END, graph_pk
from slate.contract.access import CreateKey
from slate.contract.tasks import CreateGraph
from slate.domain.access import Scope

MARK = "xyzzy-marker"
PERSON = "maria.muster@example.com"


def live_a_life(w):
    """Says the marker in every place where a caller may say something, small and large."""
    body = CreateGraph(
        graph_id="g",
        goal=f"{MARK} goal",
        subject=PERSON,
        tasks=(
            task("a", title=f"{MARK} title", input={"x": f"{MARK} input"}),
            task("b", input=f"{MARK} " * 1_000),
            task("c", input=f"{MARK} " * 15_000),
            task("d", needs_approval=True),
        ),
    )
    w.slate.planning.create(w.me, body, "key-1")
    w.resume("d", f"{MARK} approval")
    claims = {c.task.task_id: c for c in w.claims(max=10, key="key-2")}
    w.heartbeat(claims["a"], progress={"note": f"{MARK} progress"})
    w.complete(claims["a"], f"{MARK} result", artifacts=(f"{MARK} artifact",))
    w.complete(claims["b"], f"{MARK} " * 2_000)
    w.complete(claims["c"], f"{MARK} " * 15_000)
    w.wait(claims["d"], f"{MARK} question")
    w.resume("d", f"{MARK} answer")
    w.fail(w.claim(), f"{MARK} error", retryable=False)
    for size in (1, 15_000, 2):
        sharing.put(w, "v", {"said": f"{MARK} " * size})
    sharing.patch(w, "append", "log", f"{MARK} entry", once="key-4")
    w.slate.access.create(w.me, CreateKey(agent="console", scopes=(Scope.TASKS_READ,), subject=PERSON), "key-3")


def stored(w):
    """Every byte in every table and every object."""
    for table in (w.settings.table, w.settings.keys_table):
        for page in w.dynamodb.get_paginator("scan").paginate(TableName=table):
            for item in page["Items"]:
                yield str(item)
                yield "".join(bytes(v["B"]).decode("latin-1") for v in item.values() if "B" in v)
    for page in w.s3.get_paginator("list_objects_v2").paginate(Bucket=w.settings.bucket):
        for found in page.get("Contents", []):
            yield found["Key"]
            yield w.s3.get_object(Bucket=w.settings.bucket, Key=found["Key"])["Body"].read().decode("latin-1")


def test_nothing_a_caller_says_is_stored_in_clear(w):
    live_a_life(w)
    everything = list(stored(w))
    assert any("graphs/g/I" in text for text in everything), "a large input went to its object"
    assert any("graphs/g/R" in text for text in everything), "a large result went to its object"
    assert any("graphs/g/V" in text for text in everything), "a large value went to its object"
    assert [text[:200] for text in everything if MARK in text or "maria" in text] == []


def test_what_was_sealed_reads_as_it_was_said(w):
    live_a_life(w)
    tasks = {t: w.task(t) for t in "abcd"}
    assert tasks["a"].title == f"{MARK} title"
    assert tasks["a"].input == {"x": f"{MARK} input"}
    assert (tasks["a"].result, tasks["a"].artifacts) == (f"{MARK} result", (f"{MARK} artifact",))
    assert tasks["b"].result == f"{MARK} " * 2_000
    assert tasks["c"].input == tasks["c"].result == f"{MARK} " * 15_000
    assert (tasks["d"].question, tasks["d"].answer, tasks["d"].error) == (
        f"{MARK} question",
        f"{MARK} answer",
        f"{MARK} error",
    )


def test_every_item_of_a_persons_graph_is_found_by_the_person(w):
    live_a_life(w)
    ref = w.storage.codec.keyring.ref(TENANT, PERSON)
    about = [item for item in w.items().values() if "#G#g" in item["pk"] or item["pk"].endswith(("#graphs", "#keys"))]
    assert len(about) > 8
    assert {item.get("subject_pk") for item in about} == {f"{TENANT}#{ref}"}


@pytest.mark.parametrize("pk", ["globex#G#g", "acme-corp#G#g", "acme", "#G#g", ""])
def test_a_key_outside_the_tenant_is_a_fault_in_every_call(w, pk):
    calls = w.storage.calls
    key = Key(pk, "META")
    for call in (
        lambda: calls.get(TENANT, key),
        lambda: calls.get_many(TENANT, [key]),
        lambda: list(calls.query(TENANT, pk, between=(" ", END))),
        lambda: calls.delete_many(TENANT, [key]),
    ):
        with pytest.raises(PermissionError):
            call()


def test_a_prefix_of_a_tenant_or_a_graph_reaches_nothing_of_the_longer_one(w):
    longer = w.principal("eve", tenant="acme-corp")
    w.graph(task("t"), graph_id="g-1", by=longer)
    w.graph(task("t"), graph_id="g")
    assert [g.graph_id for g in w.slate.planning.list(w.me, 10, None, None).items] == ["g"]
    assert w.states("g") == {"t": "READY"}
    w.delete_graph("g")
    w.settle()
    assert w.task("t", "g-1", by=longer).state == "READY"
    assert graph_pk(TENANT, "g") != graph_pk("acme-corp", "g")
