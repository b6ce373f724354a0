"""What holds of every context, whatever was said: tried on generated sessions, counted by an exact tokenizer."""

import json
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from slate.domain.context import STABLE, TOOL_LINE, Context, Format
from slate.domain.errors import Invalid
from slate.domain.messages import render
from slate.domain.rendering import as_text, stable_text
from slate.domain.sessions import Speaker
from slate.domain.transcript import Window
from unit.context.conversations import COUNT, context, conversations, section, seen, snapshot, snapshots, turn

PRIMING = 3
"""OpenAI's own figure for what begins the reply."""
FEW = settings(max_examples=70, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(FEW, max_examples=10_000)
totals = st.sampled_from([60, 120, 200, 400, 800, 1_500, 4_096, 20_000])


def made_or_none(read, total, **more):
    try:
        return context(read, total=total, **more)
    except Invalid:
        return None


def cost_of(message):
    """What OpenAI documents that a message costs: 3, its texts, and 1 for a name."""
    calls = message.get("tool_calls", [])
    named = COUNT(message["name"]) + 1 if "name" in message else 0
    called = sum(COUNT(c["function"]["name"]) + COUNT(c["function"]["arguments"]) + 3 for c in calls)
    return 3 + COUNT(message["content"] or "") + named + called


def check_totals(read, total):
    made = made_or_none(read, total)
    if made is None:
        return
    assert made.total_tokens <= total
    assert made.total_tokens == sum(made.breakdown.values()) == sum(s.tokens for s in made.sections)
    assert len(seen(made).split()) <= made.total_tokens
    if made.sections:
        assert COUNT(as_text(made)) <= made.total_tokens
        assert sum(map(cost_of, render(made, Format.OPENAI)["messages"])) + PRIMING <= made.total_tokens
        for form in (Format.ANTHROPIC, Format.CONVERSE):
            assert sum(3 + COUNT("\n".join(texts)) for _, texts in spoken(made, form)) <= made.total_tokens


def spoken(made, form):
    """The texts of each message, and of the system's, in the two forms that part them."""
    rendered = render(made, form)
    whole = rendered["converse"] if form is Format.CONVERSE else rendered
    yield "system", [part["text"] for part in whole["system"]]
    for message in whole["messages"]:
        yield message["role"], [text_in(part) for part in message["content"]]


def text_in(part):
    if "toolResult" in part:
        return part["toolResult"]["content"][0]["text"]
    return part.get("text") or part.get("content") or ""


@FEW
@given(snapshots(), totals)
def test_a_total_is_never_exceeded_and_adds_up(read, total):
    check_totals(read, total)


@pytest.mark.race
def test_a_total_is_never_exceeded_in_ten_thousand_sessions():
    given(snapshots(), totals)(MANY(check_totals))()


@FEW
@given(snapshots(), totals)
def test_what_is_never_dropped_is_there_word_for_word_or_the_total_is_refused_by_name(read, total):
    try:
        made = context(read, total=total)
    except Invalid as refused:
        named = str(refused)
        assert "budget.total" in named
        assert any(name in named for name in ("system", "pinned", "first_message"))
        return
    if read.session.system:
        assert [i.text for i in section(made, "system").items] == [read.session.system]
    if read.first is not None:
        assert [i.text for i in section(made, "first_message").items] == [read.first.content]
    for said in read.pinned.constraints:
        assert said in section(made, "pinned").items[0].text


@FEW
@given(snapshots(), totals)
def test_each_thing_is_shown_once_or_left_out_with_a_reason(read, total):
    made = made_or_none(read, total)
    assume(made is not None)
    shown = [item.id for s in made.sections for item in s.items]
    assert max(Counter(shown).values(), default=1) == 1
    left_out = {d.id for d in made.dropped}
    assert not left_out & set(shown)
    assert all(d.reason for d in made.dropped)
    marked = {f"turn:{t.seq}" for t in read.marked}
    assert marked <= left_out | set(shown)
    if read.recent:
        assert f"turn:{read.recent[-1].seq}" in left_out | set(shown)


@FEW
@given(snapshots(), totals)
def test_turns_are_word_for_word_unless_they_say_where_they_were_shortened(read, total):
    made = made_or_none(read, total)
    assume(made is not None)
    said = {t.seq: t for t in (*read.recent, *read.marked)}
    for s in made.sections:
        for item in s.items:
            if item.seq is None or item.text == said[item.seq].content:
                continue
            assert f"turns/{item.seq} ...]" in item.text
            assert item.role is Speaker.TOOL or not said[item.seq].verbatim
            head, tail = item.text.split(f"\n[... turn {item.seq} is shortened", 1)[0], item.text.rsplit("...]\n", 1)[1]
            assert said[item.seq].content.startswith(head)
            assert said[item.seq].content.endswith(tail)


@FEW
@given(snapshots(), totals)
def test_a_call_and_its_results_stand_together(read, total):
    made = made_or_none(read, total)
    assume(made is not None and section(made, "recent") is not None)
    shown = {item.seq for item in section(made, "recent").items}
    turns = list(read.recent)
    for place, said in enumerate(turns):
        if not said.tool_calls:
            continue
        waiting = {call.id for call in said.tool_calls}
        for result in turns[place + 1 :]:
            if result.role is not Speaker.TOOL or result.tool_call_id not in waiting:
                break
            waiting.discard(result.tool_call_id)
            assert (result.seq in shown) is (said.seq in shown)


@FEW
@given(snapshots(), totals)
def test_openai_would_take_it(read, total):
    made = made_or_none(read, total)
    assume(made is not None)
    waiting, ids = [], set()
    for message in render(made, Format.OPENAI)["messages"]:
        assert message["role"] in ("system", "user", "assistant", "tool")
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, "a call without its result"
        assert "tool_calls" not in message or message["role"] == "assistant"
        waiting = [call["id"] for call in message.get("tool_calls", [])]
        assert message["content"] is not None or waiting
        assert not ids & set(waiting)
        ids |= set(waiting)
        for call in message.get("tool_calls", []):
            json.loads(call["function"]["arguments"])
            assert call["function"]["name"].replace("_", "").replace("-", "").isalnum()
    assert not waiting


@FEW
@given(snapshots(), totals, st.sampled_from([Format.ANTHROPIC, Format.CONVERSE]))
def test_anthropic_and_converse_would_take_it(read, total, form):
    made = made_or_none(read, total)
    assume(made is not None)
    rendered = render(made, form)
    whole = rendered["converse"] if form is Format.CONVERSE else rendered
    roles = [message["role"] for message in whole["messages"]]
    assert all(a != b for a, b in pairwise(roles))
    assert roles[:1] in ([], ["user"])
    waiting, ids = set(), set()
    for message in whole["messages"]:
        assert message["content"]
        results = [result_id(part) for part in message["content"] if result_id(part)]
        assert set(results) == waiting, "every call is answered in the next message, and nothing else"
        assert all(map(result_id, message["content"][: len(results)])), "results come first"
        calls = [call_id(part) for part in message["content"] if call_id(part)]
        assert not calls or message["role"] == "assistant"
        assert len(set(calls)) == len(calls)
        assert not ids & set(calls)
        ids |= set(calls)
        waiting = set(calls)
        for part in message["content"]:
            assert call_id(part) or text_in(part).strip(), "no blank text"
    assert not waiting
    if roles[-1:] == ["assistant"] and "text" in (last := whole["messages"][-1]["content"][-1]):
        assert last["text"] == last["text"].rstrip()


def result_id(part):
    return part.get("tool_use_id") or part.get("toolResult", {}).get("toolUseId")


def call_id(part):
    if part.get("type") == "tool_use":
        return part["id"]
    return part.get("toolUse", {}).get("toolUseId")


@FEW
@given(conversations(), st.sampled_from([400, 1_500, 4_096]))
def test_two_calls_share_the_prefix_whose_length_was_told(turns, total):
    user = turn(1, "user", "Hello, I am in Germany.")
    before = [user, *(t.model_copy(update={"seq": t.seq + 1}) for t in turns)]
    after = [*before, turn(len(before) + 1, "assistant", "Noted."), turn(len(before) + 2, "user", "What now?")]
    one, two = (made_or_none(snapshot(t, system="Be brief."), total) for t in (before, after))
    assume(one is not None and two is not None)
    assert stable_text(one) == stable_text(two)
    assert as_text(one).startswith(stable_text(one))
    assert as_text(two).startswith(stable_text(one))
    assert one.stable_prefix_tokens == COUNT(stable_text(one)) > 0
    assert {s.name for s in one.sections if s.name in STABLE} == {"system", "first_message"}


@FEW
@given(snapshots(), totals)
def test_a_context_read_again_is_rendered_byte_for_byte(read, total):
    made = made_or_none(read, total)
    assume(made is not None)
    again = Context.model_validate_json(made.model_dump_json())
    for form in Format:
        assert json.dumps(render(again, form)) == json.dumps(render(made, form))


@FEW
@given(snapshots(), totals)
def test_tool_output_has_its_own_line(read, total):
    made = made_or_none(read, total)
    assume(made is not None)
    of_tools = sum(i.tokens for s in made.sections for i in s.items if i.role is Speaker.TOOL)
    assert made.breakdown.get(TOOL_LINE, 0) == of_tools


@FEW
@given(snapshots(), st.integers(20, 300))
def test_a_section_keeps_to_its_own_number(read, own):
    for name in ("recent", "marked", "summary"):
        made = made_or_none(read, 4_096, **{name: own})
        if made is not None and section(made, name) is not None:
            assert section(made, name).tokens <= own


@FEW
@given(snapshots(), st.integers(1, 5))
def test_a_plain_window_has_no_digest_and_no_older_turns(read, most):
    made = made_or_none(read, 20_000, summaries=False, window_rule=Window(most, most))
    assume(made is not None)
    assert section(made, "summary") is None
    recent = section(made, "recent")
    assert recent is None or sum(i.role is Speaker.USER for i in recent.items) <= most
