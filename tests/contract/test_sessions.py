"""Sessions: every turn once and in order, copies that agree, reads that do not grow, ends that leave nothing."""

from __future__ import annotations

from typing import Any

import pytest

from contract import faults
from contract.talking import (
    broken,
    close,
    create,
    decay,
    head,
    items_of,
    mark,
    merge,
    pin,
    put_value,
    remove,
    said,
    say,
    store,
    texts,
    value_of,
)
from contract.world import DAY, TENANT, World
from slate.domain.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge, VersionMismatch
from slate.domain.fences import Intent
from slate.domain.sessions import Mark, Merged, Summary

HOUR = 3_600


@pytest.fixture
def s(w: World) -> World:
    """A world with a session ``s``."""
    create(w, subject="u")
    return w


# ---- sessions


def test_the_same_session_again_is_the_same_and_another_under_its_id_is_refused(w: World) -> None:
    first = create(w, subject="u", system="Be brief.", pinned={"goal": "g"})
    assert create(w, subject="u", system="Be brief.", pinned={"goal": "g"}) == first
    for other in ({"subject": "v"}, {"subject": "u"}, {"subject": "u", "system": "Be long.", "pinned": {"goal": "g"}}):
        with pytest.raises(Conflict):
            create(w, **other)
    assert (first.system, first.pinned.goal, first.agent, first.retention_days) == ("Be brief.", "g", "ann", 30)


def test_a_session_is_shown_with_what_is_pinned_and_digested_in_one_read_beside_the_fence(s: World) -> None:
    say(s, "hello")
    s.faults.arm(99, faults.throttled, among=faults.READS)
    with s.slate.operate(Intent.READ):
        shown = s.slate.memory.sessions.get(s.me, "s")
    assert s.faults.disarm() == 2
    assert (shown.turns, shown.summary, shown.pinned.version) == (1, None, 1)


def test_who_is_not_named_as_a_reader_does_not_learn_of_a_session(w: World) -> None:
    owner, named = w.principal("ann"), w.principal("bob").model_copy(update={"scopes": frozenset()})
    of_role = named.model_copy(update={"agent": "carl", "roles": frozenset({"sales"})})
    other = named.model_copy(update={"agent": "dora", "roles": frozenset({"support"})})
    create(w, by=owner, readers=["bob", "sales"])
    for reader in (owner, named, of_role):
        assert w.slate.memory.sessions.get(reader, "s").session_id == "s"
    for use in (w.slate.memory.sessions.get, w.slate.memory.sessions.close, w.slate.memory.pinning.get):
        with pytest.raises(NotFound) as hidden:
            use(other, "s")
        assert hidden.value.detail == "there is no session 's'"
    assert w.slate.memory.sessions.list(other, 10, None, None).items == ()


def test_sessions_are_listed_newest_first_by_page_and_by_subject(w: World) -> None:
    for i in range(7):
        w.clock.advance(1)
        create(w, f"s{i}", subject="u" if i % 2 else "v")
    for subject, wanted in ((None, "6543210"), ("u", "531"), ("v", "6420"), ("w", "")):
        seen, cursor = "", None
        while True:
            page = w.slate.memory.sessions.list(w.me, 2, cursor, subject)
            seen += "".join(session.session_id[1:] for session in page.items)
            if (cursor := page.next_cursor) is None:
                break
        assert seen == wanted


def test_an_agent_is_the_keys_own_and_a_bound_key_names_no_other_person(w: World) -> None:
    plain = w.principal("bob", subject="u").model_copy(update={"scopes": frozenset()})
    assert create(w, "a", by=plain).subject == "u"
    for wrong in ({"agent": "eve"}, {"subject": "v"}):
        with pytest.raises(Forbidden):
            create(w, "b", by=plain, **wrong)


# ---- turns


def test_turns_are_numbered_in_order_without_gaps_whatever_their_number_in_a_call(s: World) -> None:
    wanted: list[str] = []
    for size in (1, 2, 49, 50, 98, 100):
        more = [f"{size}-{i}" for i in range(size)]
        turns = say(s, *({"role": "user", "content": text, "client_id": text} for text in more))
        wanted += more
        assert texts(turns) == more
    assert [(turn.seq, turn.content) for turn in said(s, limit=33)] == list(enumerate(wanted, 1))
    assert not broken(s.items())


def test_a_turn_reads_as_it_was_said(s: World) -> None:
    calls = [{"id": "c1", "name": "look", "arguments": {"a": [1, None]}}]
    given: list[dict[str, Any]] = [
        {
            "role": "user",
            "content": "\u202e\u0645\u0631\u062d\u0628\u0627\u202c 🧑‍🚀 \x00\x1b tab\t end\n",
            "name": "Ann",
            "client_id": "ü/#1",
        },
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": "found", "tool_call_id": "c1", "importance": 2},
        {"role": "user", "content": "x", "marks": ["fact", "fact"], "at": "2020-01-01T00:00:00+01:00"},
    ]
    say(s, *given)
    turns = [turn.model_dump(mode="json") for turn in said(s)]
    for turn, wanted in zip(turns, given, strict=True):
        same = {name: value for name, value in wanted.items() if name not in ("marks", "at")}
        assert same.items() <= turn.items()
    assert (turns[3]["at"], turns[3]["marks"]) == ("2019-12-31T23:00:00.000Z", ["fact"])
    assert turns[2]["found"] == [{"rule": "role.tool", "mark": "tool", "importance": None}]


def test_a_repeat_adds_nothing_also_long_after_and_among_new_turns(s: World) -> None:
    batch = [{"role": "user", "content": f"t{i}", "client_id": f"c{i}"} for i in range(60)]
    first = say(s, *batch)
    for i in range(3):
        say(s, *(f"{i}-{j}" for j in range(50)))
    assert say(s, *batch) == first
    mixed = say(s, batch[3], {"role": "user", "content": "new", "client_id": "n"}, batch[59])
    assert [turn.seq for turn in mixed] == [4, 211, 60]
    assert len(said(s)) == 211


def test_a_client_id_with_other_content_is_refused_and_nothing_is_appended(s: World) -> None:
    say(s, {"role": "user", "content": "a", "client_id": "c"})
    with pytest.raises(Conflict, match="turn 1") as refused:
        say(s, "before", {"role": "user", "content": "b", "client_id": "c"})
    assert refused.value.data == {"seq": 1}
    assert texts(said(s)) == ["a"]
    say(s, {"role": "user", "content": "b", "client_id": "c"}, session_id=create(s, "other").session_id)


def test_under_an_idempotency_key_turns_without_client_ids_are_appended_once(s: World) -> None:
    batch = [f"t{i}" for i in range(100)]
    first = say(s, *batch, once="k")
    assert say(s, *batch, once="k") == first
    assert len(said(s)) == 100


@pytest.mark.parametrize("size", [32_000, 33_000, 110_000, 900_000])
def test_a_large_turn_is_whole_when_it_is_read_and_shortened_in_a_snapshot(s: World, size: int) -> None:
    text = "begin " + "é" * (size // 2) + " end"
    say(s, "first", {"role": "tool", "content": text, "client_id": "big"}, "last")
    assert texts(said(s)) == ["first", text, "last"]
    assert say(s, {"role": "tool", "content": text, "client_id": "big"})[0].content == text
    snapshot = store(s).snapshot(TENANT, "s")
    short = snapshot.recent[1].content
    assert texts(snapshot.marked) == [short]
    assert short.startswith("begin ")
    assert short.endswith(" end")
    assert (snapshot.shortened, len(short) < 9_000) == (
        (frozenset({2}), True) if size > 32_000 else (frozenset(), False)
    )
    assert snapshot.recent[1].tokens == said(s)[1].tokens
    remove(s, 2)
    assert s.objects() == []
    assert not any(sk.startswith("CONTENT#") for sk in items_of(s))


def test_a_snapshot_is_two_reads_beside_the_fence_however_long_the_session_is(s: World) -> None:
    for i in range(4):
        say(s, *({"role": "user", "content": f"{i}-{j} " * 40, "marks": ["fact"] if j % 2 else []} for j in range(100)))
    pin(s, goal="g")
    sessions = store(s)
    sessions.head(TENANT, "s")  # the key is known, as it is to a function that is warm
    s.faults.arm(99, faults.throttled, among=faults.READS)
    with s.storage.codec.keyring.operation(Intent.READ):
        snapshot = sessions.snapshot(TENANT, "s", recent=20, marked=30)
    assert s.faults.disarm() == 3
    assert [turn.seq for turn in snapshot.recent] == list(range(381, 401))
    assert [turn.seq for turn in snapshot.marked] == list(range(400, 341, -2))
    assert snapshot.more_marked
    assert snapshot.first is not None
    assert snapshot.first.content.startswith("0-0 ")
    assert (snapshot.pinned.goal, snapshot.pinned_version, snapshot.merged) == ("g", 2, None)


def test_the_most_important_marked_turns_come_first(s: World) -> None:
    say(s, *({"role": "user", "content": str(i), "importance": i} for i in (9, 5, 8, 10, 9)))
    assert texts(store(s).snapshot(TENANT, "s").marked) == ["10", "9", "9", "8"]
    assert [turn.seq for turn in store(s).snapshot(TENANT, "s", marked=2).marked] == [4, 5]


def test_marks_are_replaced_and_what_a_rule_found_is_taken_back(s: World) -> None:
    [turn] = say(s, {"role": "tool", "content": "output", "importance": 3})
    assert [found.rule for found in turn.found] == ["role.tool"]
    marked = mark(s, 1, marks=["decision", "tool"], importance=9)
    assert (marked.marks, marked.importance, marked.version) == ((Mark.DECISION, Mark.TOOL), 9, 2)
    assert [found.rule for found in marked.found] == ["role.tool"]
    plain = mark(s, 1, marks=[], importance=5)
    assert (plain.marks, plain.found, plain.content) == ((), (), "output")
    assert store(s).snapshot(TENANT, "s").marked == ()
    with pytest.raises(VersionMismatch) as stale:
        mark(s, 1, 2, importance=1)
    assert stale.value.data["current"]["version"] == 3
    assert not broken(s.items())


def test_an_importance_that_a_rule_found_falls_with_its_mark(s: World) -> None:
    [turn] = say(s, "You must never send invoices to anyone outside the office.")
    assert turn.found, "a rule finds this; otherwise the test says nothing"
    assert mark(s, 1, marks=[]).importance == 5


def test_a_deleted_turn_is_gone_everywhere_and_its_number_stays_free(s: World) -> None:
    say(s, "first", ("assistant", "ok"), {"role": "user", "content": "second", "marks": ["fact"], "client_id": "c"})
    remove(s, 1)
    snapshot = store(s).snapshot(TENANT, "s")
    assert snapshot.first is not None
    assert (texts(snapshot.recent), snapshot.first.content) == (["ok", "second"], "second")
    remove(s, 3)
    snapshot = store(s).snapshot(TENANT, "s")
    assert (texts(snapshot.recent), snapshot.first, snapshot.marked) == (["ok"], None, ())
    with pytest.raises(Conflict, match="was deleted"):
        say(s, {"role": "user", "content": "second", "marks": ["fact"], "client_id": "c"})
    assert [turn.seq for turn in say(s, "third")] == [4]
    assert store(s).snapshot(TENANT, "s").first == said(s)[-1]
    for seq in ("1", "3", "9", "0", "-1", "x", "1" * 20):
        with pytest.raises(NotFound):
            s.slate.memory.talking.get(s.me, "s", seq)
    assert not broken(s.items())


# ---- pinned state


def test_the_pinned_state_is_changed_at_its_version_alone(s: World) -> None:
    first = pin(s, 1, goal="a", constraints=["never email"], entities={"order": {"id": 1, "open": True}})
    assert (first.version, first.text) == (
        2,
        'Goal: a\nConstraints:\n- never email\nEntities:\n- order: {"id": 1, "open": true}',
    )
    with pytest.raises(VersionMismatch) as stale:
        pin(s, 1, goal="b")
    assert stale.value.data["current"] == first.model_dump(mode="json")
    merged = merge(s, 2, entities={"order": {"id": 2, "open": None}}, constraints=None, plan=[{"step": "x"}])
    assert merged.model_dump(include={"goal", "constraints", "entities", "plan"}) == {
        "goal": "a",
        "constraints": (),
        "entities": {"order": {"id": 2}},
        "plan": ({"step": "x", "done": False},),
    }
    assert merge(s, None, goal=None).goal == ""


def test_what_is_no_pinned_state_is_refused_by_its_field(s: World) -> None:
    with pytest.raises(Invalid) as wrong:
        merge(s, 1, plan=[{"step": 1}], entities=[], goal=7)
    assert sorted(error["field"] for error in wrong.value.data["errors"]) == ["entities", "goal", "plan[0].step"]
    with pytest.raises(TooLarge):
        pin(s, 1, goal="x" * 100_001)
    assert s.slate.memory.pinning.get(s.me, "s").version == 1


def test_a_costly_pinned_state_warns(s: World) -> None:
    assert pin(s, 1, goal="short").warnings == ()
    costly = pin(s, 2, goal="a long goal " * 100)
    assert costly.tokens > 250
    assert "250" in costly.warnings[0]


# ---- segments and digests


def summary_of(number: int, first: int, last: int) -> Summary:
    return Summary(segment=number, first_seq=first, last_seq=last, fields={"intent": "x"}, tokens=3, made_by="test")


def test_a_digest_counts_for_the_edition_that_it_was_made_of(s: World) -> None:
    say(s, "a", "b", "c", "d")
    cut = store(s).cut(TENANT, head(s), 2, exchanges=2, tokens=sum(turn.tokens for turn in said(s)[:2]))
    assert cut is not None
    assert not broken(s.items())
    assert store(s).cut(TENANT, head(s), 2, exchanges=0, tokens=0) is None, "nothing is left up to there"
    mark(s, 2, importance=2)
    assert not store(s).keep_summary(TENANT, "s", cut, summary_of(1, 1, 2)), "a turn changed since"
    [now] = store(s).segments(TENANT, "s", None, 10).items
    assert store(s).keep_summary(TENANT, "s", now, summary_of(1, 1, 2))
    assert not store(s).keep_summary(TENANT, "s", now, summary_of(1, 1, 2)), "a duplicate"
    assert store(s).keep_merged(TENANT, "s", Merged(segments=(1,), last_seq=2))
    assert not store(s).keep_merged(TENANT, "s", Merged(segments=(1,), last_seq=2)), "another merge was kept"
    assert s.slate.memory.sessions.get(s.me, "s").summary is not None


def test_what_was_digested_from_a_deleted_turn_is_withdrawn_at_once(s: World) -> None:
    say(s, "a", "b", "c")
    cut = store(s).cut(TENANT, head(s), 2, exchanges=2, tokens=sum(turn.tokens for turn in said(s)[:2]))
    assert cut is not None
    store(s).keep_summary(TENANT, "s", cut, summary_of(1, 1, 2))
    read = store(s).merged(TENANT, "s")
    store(s).keep_merged(TENANT, "s", read.model_copy(update={"segments": (1,)}))
    remove(s, 3)
    assert s.slate.memory.sessions.get(s.me, "s").summary is not None, "it was not in a closed segment"
    late = store(s).merged(TENANT, "s")
    remove(s, 1)
    assert s.slate.memory.sessions.get(s.me, "s").summary is None
    assert [segment.summary for segment in store(s).segments(TENANT, "s", None, 9).items] == [None]
    assert not store(s).keep_merged(TENANT, "s", late), "a merge of what was withdrawn is late"
    assert not broken(s.items())


# ---- ends


def test_a_close_is_answered_alike_again_and_a_turn_opens_the_session_with_a_new_segment_and_no_values(
    s: World,
) -> None:
    say(s, "a")
    put_value(s, "v", {"x": 1})
    put_value(s, "large", "x" * 150_000)
    extraction = close(s)
    assert close(s) == extraction
    assert (head(s).state, head(s).segment) == ("closed", 2)
    assert s.slate.memory.sessions.extraction(s.me, extraction).state == "queued"
    with pytest.raises(NotFound):
        value_of(s, "v")
    with pytest.raises(Conflict, match="closed"):
        put_value(s, "v", 1)
    assert not any(sk.startswith("V") for sk in items_of(s))
    assert s.objects() == []
    [turn] = say(s, "b")
    assert (turn.seq, turn.segment, head(s).state) == (2, 2, "open")
    put_value(s, "v", 2)
    assert value_of(s, "v") == 2
    assert close(s) != extraction
    assert not broken(s.items())


def test_an_idle_session_is_closed_at_the_first_run_after_that(s: World) -> None:
    say(s, "a")
    s.clock.advance(HOUR / 3)
    say(s, "b")
    s.clock.advance(HOUR / 2 - 1)
    decay(s)
    assert head(s).state == "open"
    s.clock.advance(1)
    decay(s)
    assert (head(s).state, head(s).extraction_id is not None) == ("closed", True)


def test_a_session_goes_so_long_after_its_last_turn_with_all_of_it(w: World) -> None:
    create(w, subject="u", retention_days=2, system="x", pinned={"goal": "g"})
    create(w, "silent", subject="u", retention_days=2)
    w.clock.advance(DAY)
    decay(w)
    say(w, {"role": "tool", "content": "y" * 150_000}, "b")
    w.clock.advance(1.5 * DAY)
    decay(w)
    assert texts(said(w))[1] == "b"
    with pytest.raises(NotFound):
        head(w, "silent")
    w.clock.advance(DAY)
    decay(w)
    for use in (lambda: said(w), lambda: head(w), lambda: w.slate.memory.sessions.get(w.me, "s")):
        with pytest.raises(NotFound):
            use()
    w.clock.advance(DAY)
    decay(w)
    assert w.objects() == []
    assert [key for key in w.items() if "#S#" in key.pk or "#X#" in key.pk or "SESSION#" in key.sk] == []


def test_a_deleted_session_is_gone_at_once_and_its_id_is_free_once_all_of_it_is_removed(s: World) -> None:
    say(s, "a")
    extraction = close(s)
    with pytest.raises(VersionMismatch):
        s.slate.memory.sessions.delete(s.me, "s", 1)
    s.slate.memory.sessions.delete(s.me, "s", head(s).version)
    for use in (lambda: said(s), lambda: close(s), lambda: say(s, "b"), lambda: pin(s, goal="x")):
        with pytest.raises(NotFound):
            use()
    with pytest.raises(NotFound):
        s.slate.memory.sessions.extraction(s.me, extraction)
    with pytest.raises(Conflict, match="deleted"):
        create(s)
    s.clock.advance(DAY)
    decay(s)
    assert create(s).turns == 0
