"""An export has all of the person and nobody else, each thing once, whoever is killed while it is made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from contract import talking
from contract.faults import Killed, meanwhile
from contract.world import DAY, TENANT, CountingIds, World, task
from slate.adapters.dynamodb.calls import Key
from slate.adapters.dynamodb.export_lines import ExportLines
from slate.adapters.dynamodb.export_store import DynamoExportStore
from slate.adapters.dynamodb.subject_kinds import KINDS
from slate.adapters.dynamodb.subject_records import DynamoSubjectRecords
from slate.adapters.dynamodb.subject_walk import SubjectWalk
from slate.contract.contexts import AskContext
from slate.contract.facts import PostFacts
from slate.contract.search import PutEpisode
from slate.contract.values import PutValue
from slate.domain.errors import Invalid, NotFound
from slate.domain.exporting.export import Export, ExportState
from slate.domain.values import OwnerKind
from slate.service.exporting import EXPORT, Exporting
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors

SMALL = 1_500
"""Bytes of a page, so that a person fills several."""


def exporting(w: World, page_bytes: int = SMALL) -> Exporting:
    keyring = w.storage.codec.keyring
    return Exporting(
        DynamoExportStore(w.storage),
        DynamoSubjectRecords(w.storage),
        keyring,
        Idempotency(w.calls_seen, CountingIds()),
        Cursors(keyring),
        w.queues("memory"),
        w.clock,
        days=7,
        page_bytes=page_bytes,
    )


def live(w: World, who: str) -> None:
    """A life of somebody, whose words all hold their name."""
    facts = {"facts": [{"statement": f"Plays like {who}", "category": "other"}]}
    w.slate.memory.facts.post(w.me, f"u-{who}", PostFacts.model_validate(facts), None)
    talking.create(w, f"s-{who}", subject=f"u-{who}", system=f"serve {who}")
    talking.say(w, f"I am {who}.", "x" * 40_000 + who, session_id=f"s-{who}")
    w.slate.values.put(w.me, OwnerKind.SESSION, f"s-{who}", "v", PutValue(value=who), None)
    w.graph(task("t", title=f"help {who}"), graph_id=f"g-{who}", subject=f"u-{who}")


def asked(w: World, made: Exporting, who: str = "ann") -> Export:
    return made.ask(w.me, f"u-{who}", None)


def go_on(made: Exporting, export: Export) -> None:
    made.consume({"kind": EXPORT, "tenant": TENANT, "export_id": export.export_id})


def text_of(w: World, made: Exporting, export: Export) -> str:
    """All pages, one after the other."""
    texts: list[str] = []
    cursor: str | None = None
    while True:
        page = made.page(w.me, export.export_id, cursor)
        assert page.text is not None, page.export
        texts.append(page.text)
        cursor = page.next_cursor
        if cursor is None:
            return "".join(texts)


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line]


def names_in(text: str) -> Counter[tuple[str, str]]:
    return Counter((line["kind"], line["id"]) for line in lines_of(text) if line["kind"] not in ("export", "end"))


def test_every_kind_that_says_something_has_a_line(w: World) -> None:
    assert {kind.export for kind in KINDS if kind.export} == set(ExportLines(w.storage).kinds)


def test_it_has_the_person_and_not_the_neighbour(w: World) -> None:
    live(w, "ann")
    live(w, "annx")
    made = exporting(w)
    export = asked(w, made)
    go_on(made, export)
    text = text_of(w, made, export)
    assert "annx" not in text
    found = lines_of(text)
    kinds = {"fact", "session", "system", "pinned", "turn", "value", "graph", "task"}
    assert kinds <= {line["kind"] for line in found}
    assert all("ann" in json.dumps(line["data"]) for line in found if line["kind"] in kinds - {"pinned"})
    (turn,) = [line for line in found if line["kind"] == "turn" and line["data"]["seq"] == 2]
    assert turn["data"]["content"].endswith("ann"), "what is too large for its item is whole"
    assert turn["provenance"]["session"] == "s-ann"
    counted = Counter(line["kind"] for line in found[1:-1])
    assert (found[0]["kind"], found[-1]["kind"]) == ("export", "end")
    assert found[-1]["data"]["lines"] == counted


def test_whoever_is_killed_another_goes_on_and_nothing_is_there_twice(worlds: Callable[..., World]) -> None:
    clean = worlds()
    live(clean, "ann")
    whole = names_in(text_of(clean, exporting(clean), _made(clean, exporting(clean))))
    w = worlds()
    live(w, "ann")
    made = exporting(w)
    export = asked(w, made)
    for deaths in range(1_000):
        w.faults.kill_after(deaths % 3)
        try:
            go_on(made, export)
        except Killed:
            w.faults.disarm()
            continue
        w.faults.disarm()
        break
    assert deaths >= 3
    assert names_in(text_of(w, made, export)) == whole
    assert max(whole.values()) == 1


def _made(w: World, made: Exporting) -> Export:
    export = asked(w, made)
    go_on(made, export)
    return export


@pytest.mark.parametrize("at", range(1, 5))
def test_two_at_once_make_it_once(w: World, at: int) -> None:
    live(w, "ann")
    made = exporting(w)
    export = asked(w, made)
    w.faults.arm(at, meanwhile(lambda: go_on(made, export)))
    go_on(made, export)
    w.faults.disarm()
    text = text_of(w, made, export)
    assert max(names_in(text).values()) == 1
    assert [line["kind"] for line in lines_of(text)].count("end") == 1


def test_one_that_takes_long_is_gone_on_with_by_the_next_message(w: World) -> None:
    live(w, "ann")
    made = exporting(w)
    export = asked(w, made)
    w.faults.arm(1, meanwhile(lambda: w.clock.advance(30)))
    go_on(made, export)
    w.faults.disarm()
    page = made.page(w.me, export.export_id, None)
    assert (page.export.state, page.export.pages, page.text) == (ExportState.RUNNING, 1, None)
    go_on(made, export)
    assert text_of(w, made, export)


def test_a_lost_message_is_made_good_by_the_timer_and_time_takes_all_of_it(w: World) -> None:
    live(w, "ann")
    before = set(w.items())
    export = w.slate.memory.exporting.ask(w.me, "u-ann", None)
    w.clock.advance(16 * 60)
    w.slate.memory.decay.run_once()
    again = [message for message in w.queues.waiting("memory") if message["kind"] == EXPORT]
    assert [message["export_id"] for message in again] == [export.export_id] * 2
    w.slate.memory.exporting.consume(again[-1])
    assert text_of(w, w.slate.memory.exporting, export)
    assert any("/exports/" in name for name in w.objects()) or len(set(w.items()) - before) > 1
    w.clock.advance(7 * DAY)
    with pytest.raises(NotFound):
        w.slate.memory.exporting.page(w.me, export.export_id, None)
    w.slate.memory.decay.run_once()
    assert not [key for key in w.items() if "#E#" in key.pk]
    assert not [name for name in w.objects() if "/exports/" in name]


def test_only_who_reaches_the_person_asks_and_reads(w: World) -> None:
    live(w, "ann")
    live(w, "bob")
    made = exporting(w)
    export, his = _made(w, made), made.ask(w.me, "u-bob", None)
    bob, other = w.principal("console", subject="u-bob"), w.principal("eve", "globex")
    for stranger in (bob, other):
        with pytest.raises(NotFound):
            made.page(stranger, export.export_id, None)
    with pytest.raises(NotFound):
        made.ask(bob, "u-ann", None)
    assert made.page(bob, his.export_id, None).text is None
    first = made.page(w.me, export.export_id, None)
    with pytest.raises(Invalid):
        made.page(w.me, his.export_id, first.next_cursor)


def test_an_export_reads_all_that_an_erasure_would_remove(w: World) -> None:
    live(w, "ann")
    live(w, "bob")
    w.slate.memory.sessions.close(w.me, "s-ann")
    w.slate.memory.contexts.give(w.me, AskContext(session="s-ann"))
    w.slate.memory.retrieval.episodes.put(w.me, PutEpisode(task="a", outcome="b", subject="u-ann"), None)
    ref = w.storage.codec.keyring.name(TENANT, "u-ann")
    removed = {
        found.key for batch in SubjectWalk(w.storage).batches(TENANT, ref) for found in batch.found if found.kind.export
    }
    walked = [Key(*found.position.split("\n")) for found in DynamoSubjectRecords(w.storage).walk(TENANT, ref, None)]
    assert set(walked) == removed
    assert len(walked) == len(removed) >= 12
