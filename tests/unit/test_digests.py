"""Digests by rules: within their budgets, true to their source, merged so that the newest wins and nothing grave goes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slate.domain.merging import compose, left_out, lines_of, merge, merged_lines, quotable
from slate.domain.sessions import Segment, Summary, Turn
from slate.domain.summarising import RULES, digest
from slate.domain.summary_schema import DEFAULT_SCHEMA, mistakes
from slate.domain.surviving import missing
from slate.domain.tokens import estimate

BUDGET = "The budget is $4,200, must be spent by March 15, except the printer line item which is excluded."
RED = "I liked the red one you showed earlier."


def turns_of(*said, first=1):
    return [
        Turn(seq=first + place, role=role, content=content, tokens=estimate(content) + 4, importance=importance, at=0)
        for place, (role, content, importance) in enumerate((*each, 5)[:3] for each in said)
    ]


def summary_of(turns, number=1, fields=None, budget=256):
    segment = Segment(number=number, first_seq=turns[0].seq, last_seq=turns[-1].seq)
    drafted = digest(quotable(turns), DEFAULT_SCHEMA) if fields is None else fields
    return compose(turns, segment, drafted, made_by=RULES, budget=budget, count=estimate)


def text_of(summary: Summary):
    return "\n".join(lines_of(summary))


def chatter(count, topic="the weather"):
    for n in range(count):
        yield "user", f"Tell me more about {topic}, part {n}."
        yield "assistant", f"Here is part {n} about {topic}. " + "It goes on. " * 10


def test_by_rules_the_fields_say_what_was_said():
    turns = turns_of(
        ("user", "I want to return my order ORD-77 from Berlin."),
        ("assistant", "Shall I send a prepaid label for $5?"),
        ("user", "Yes, please do."),
        ("assistant", "Done. It arrives on Tuesday."),
        ("user", "Great, thanks. I am still waiting for the refund of order ORD-12."),
        ("user", "When does it come?"),
    )
    fields = digest(turns, DEFAULT_SCHEMA)
    assert mistakes(DEFAULT_SCHEMA, fields) == []
    assert fields["intent"] == "I want to return my order ORD-77 from Berlin."
    assert fields["entities"] == {
        "ids": ["ORD-77", "ORD-12"],
        "amounts": ["$5"],
        "dates": ["Tuesday"],
        "names": ["Berlin"],
    }
    assert fields["decisions"] == ["Shall I send a prepaid label for $5? Yes, please do."]
    assert "When does it come?" in fields["outstanding"]
    assert any("ORD-12" in each for each in fields["outstanding"])
    assert fields["sentiment"] == "positive"


def test_a_schema_of_the_tenants_own_is_kept_to():
    schema = {
        "type": "object",
        "properties": {
            "intent": {"type": "string", "maxLength": 10},
            "risk": {"type": "string", "enum": ["low", "high"]},
            "score": {"type": "integer"},
        },
        "required": ["risk", "score", "intent"],
    }
    fields = digest(turns_of(("user", "I want to return everything that I ever bought.")), schema)
    assert fields == {"risk": "low", "score": 0, "intent": ""}
    assert mistakes(schema, fields) == []


def test_numbers_dates_and_exceptions_survive_word_for_word_beside_chatter():
    turns = turns_of(("user", "Hi."), ("user", BUDGET), ("user", RED), *chatter(12))
    summary = summary_of(turns)
    assert BUDGET in text_of(summary)
    assert RED in text_of(summary)
    assert missing(text_of(summary), [turn.content for turn in turns]) == []
    assert summary.tokens <= 256


def test_what_a_model_lost_is_kept_word_for_word():
    turns = turns_of(("user", BUDGET), ("user", RED), ("assistant", "Noted."))
    summary = summary_of(turns, fields={"intent": "The user plans purchases of 4200 dollars and liked an item."})
    assert summary.kept == (BUDGET, RED)


def test_what_a_model_kept_is_not_kept_twice():
    turns = turns_of(("user", BUDGET))
    assert summary_of(turns, fields={"confirmed": [BUDGET]}).kept == ()


def test_turns_of_little_importance_are_left_out_and_named():
    turns = turns_of(("user", "My budget is $900."), ("user", "lol $17 for a coffee", 3), ("tool", "rows: 99"))
    summary = summary_of(turns)
    assert summary.left_out == left_out(turns) == (2,)
    assert "$900" in text_of(summary)
    assert "17" not in text_of(summary)
    assert "99" not in text_of(summary), "a tool's output is kept by its mark, not by a digest"


def test_more_numbers_than_fit_leave_the_gravest():
    noise = [
        ("user", f"Row {n} has {n * 7} of kind {chr(97 + n % 26) * (n % 9 + 3)} at place {n * 3}.") for n in range(150)
    ]
    turns = turns_of(*noise, ("user", BUDGET), ("user", "Never call before noon."))
    summary = summary_of(turns)
    assert BUDGET in text_of(summary)
    assert "Never call before noon." in text_of(summary)
    assert summary.tokens <= 256 * 4


AMOUNTS = st.integers(10, 9_999).map(lambda n: f"${n:,}")
SAYINGS = st.one_of(
    st.builds(lambda a, d: f"The budget is {a} until March {d}.", AMOUNTS, st.integers(1, 28)),
    st.builds(lambda n, a: f"Item {n} costs {a}, except shipping.", st.integers(1, 99), AMOUNTS),
    st.builds(lambda n: f"Do not ship order {n}.", st.integers(100, 999)),
    st.sampled_from(["Tell me about it.", "I like the blue one.", "What now?", "Yes, let's go with that.", "Thanks!"]),
)
TALKS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), SAYINGS), min_size=1, max_size=10)


@settings(max_examples=60)
@given(TALKS)
def test_nothing_grave_is_lost_in_any_segment(said):
    turns = turns_of(*said)
    summary = summary_of(turns)
    assert missing(text_of(summary), [turn.content for turn in turns]) == []
    assert mistakes(DEFAULT_SCHEMA, summary.fields) == []
    assert summary == summary_of(turns), "the same turns make the same digest"


def segments_of(talks):
    first = 1
    for number, said in enumerate(talks, start=1):
        turns = turns_of(*said, first=first)
        first += len(turns)
        yield turns, summary_of(turns, number)


@settings(max_examples=40)
@given(st.lists(TALKS, min_size=1, max_size=5), st.sampled_from([200, 400, 4_000]))
def test_merging_loses_nothing_grave_of_what_is_not_folded(talks, budget):
    made = list(segments_of(talks))
    merged = merge([summary for _, summary in made], budget=budget, count=estimate)
    text, folded = "\n".join(merged_lines(merged)), {line.segment for line in merged.folded}
    assert merged.segments == tuple(range(1, len(talks) + 1))
    for turns, summary in made:
        if summary.segment > max(folded, default=0):
            assert missing(text, [turn.content for turn in turns]) == []
    assert len(talks) not in folded, "the newest is never folded"
    assert merged.tokens <= budget or len(folded) >= len(talks) - 1 or max(folded) == len(talks) - 1
    assert merged == merge([summary for _, summary in made], budget=budget, count=estimate)


def test_the_newest_wins_and_what_is_settled_is_not_open():
    old = summary_of(
        turns_of(("user", "x")), 1, {"intent": "buy", "entities": {"city": "Rome"}, "outstanding": ["Which size?"]}
    )
    new = summary_of(
        turns_of(("user", "x"), first=2),
        2,
        {"intent": "return", "entities": {"city": "Oslo"}, "confirmed": ["which size"]},
    )
    merged = merge([old, new], budget=1_000, count=estimate)
    assert merged.fields["intent"] == "return"
    assert merged.fields["entities"] == {"city": "Oslo"}
    assert merged.fields["outstanding"] == []


def test_a_number_that_the_newest_pushed_out_is_kept():
    old = summary_of(turns_of(("user", "x")), 1, {"intent": "Buy 12 chairs by May 3."})
    new = summary_of(turns_of(("user", "x"), first=2), 2, {"intent": "Return a lamp."})
    merged = merge([old, new], budget=1_000, count=estimate)
    assert merged.fields["intent"] == "Return a lamp."
    assert "Buy 12 chairs by May 3." in merged.kept


def test_beyond_its_budget_the_oldest_fold_to_lines_that_name_them():
    talks = [
        [("user", f"I want thing {n}."), ("user", f"Thing {n} costs ${n + 1}00, except tax number {n}.")]
        for n in range(30)
    ]
    merged = merge([summary for _, summary in segments_of(talks)], budget=300, count=estimate)
    lines = [line.line for line in merged.folded]
    assert merged.tokens <= 300
    assert lines[0].startswith("segments 1 to ")
    assert (
        lines[-1]
        == f"segment {merged.folded[-1].segment} (turns {merged.folded[-1].segment * 2 - 1} to {merged.folded[-1].segment * 2}): I want thing {merged.folded[-1].segment - 1}."
    )
    assert "$3000" not in lines
    assert any("$3000" in line for line in merged_lines(merged))


def test_segments_that_were_not_read_are_named_too():
    turns = turns_of(("user", "I want tea."), first=501)
    merged = merge([summary_of(turns, 41)], budget=300, count=estimate)
    assert [line.segment for line in merged.folded] == [40]
    assert "segments 1 to 40 (turns 1 to 500)" in merged_lines(merged)[0]


def test_nothing_to_merge_is_an_empty_digest():
    merged = merge([], budget=300, count=estimate)
    assert (merged.segments, merged.tokens, merged_lines(merged)) == ((), 0, [])


@pytest.mark.parametrize("budget", [1, 5, 40])
def test_a_tiny_budget_ends(budget):
    turns = turns_of(*chatter(10), ("user", BUDGET))
    assert summary_of(turns, budget=budget).tokens >= 0
    assert merge([summary_of(turns)], budget=budget, count=estimate).segments == (1,)
