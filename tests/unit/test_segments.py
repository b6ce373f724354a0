"""Where segments end and why, and where a topic is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.topics import calibrated, halves, score
from slate.adapters.inprocess.hashing_embedder import DIMENSION, HashingEmbedder
from slate.domain.segments import MAX_TURNS, Closing, SegmentBounds, confirms, endings, proposes
from slate.domain.sessions import Speaker, ToolCall, Turn
from slate.domain.topics import Topics
from slate.domain.vectors import likeness

EMBEDDER = HashingEmbedder()
TOPICS = Topics(EMBEDDER.same_topic)
BOUNDS = SegmentBounds(15, 10_000)
CALL = ToolCall(id="c1", name="look")


def turns_of(*said):
    return [
        Turn(seq=place, role=role, content=content, tokens=more[0] if more else 10, at=0, tool_calls=more[1:])
        for place, (role, content, *more) in enumerate(said, start=1)
    ]


def ends(*said, bounds=BOUNDS):
    turns = turns_of(*said)
    found = endings(turns, EMBEDDER.embed([turn.content for turn in turns]), TOPICS, bounds)
    return [(end.last_seq, end.reason) for end in found]


WEATHER = [("user", "What is the weather in Oslo?"), ("assistant", "The weather in Oslo is cold.")]
RETURNS = [("user", "I want to return my running shoes."), ("assistant", "Which order are the shoes from?")]


def test_a_topic_that_is_left_ends_the_segment_before_the_turn():
    assert ends(*WEATHER, *WEATHER, *RETURNS) == [(4, Closing.TOPIC)]


def test_one_exchange_is_no_topic_yet():
    assert ends(*WEATHER, *RETURNS) == []


@pytest.mark.parametrize(
    "said", ["Yes, please.", "And the second one?", "Why is that?", "What about as you said before lunch?"]
)
def test_a_turn_that_says_little_or_refers_back_leaves_no_topic(said):
    assert ends(*WEATHER, *WEATHER, ("user", said)) == []


def test_three_topics_in_three_exchanges_each():
    third = [
        ("user", "Translate good evening into Spanish."),
        ("assistant", "Good evening is buenas noches in Spanish."),
    ]
    assert ends(*WEATHER * 3, *RETURNS * 3, *third * 3) == [(6, Closing.TOPIC), (12, Closing.TOPIC)]


def test_a_decision_ends_the_segment_after_its_answer():
    said = [
        ("user", "I need a desk."),
        ("assistant", "I suggest the oak one. Shall I order it?"),
        ("user", "Yes, do it."),
    ]
    assert ends(*said) == []
    assert ends(*said, ("assistant", "Ordering.", 10, CALL), ("tool", "ok")) == []
    assert ends(*said, ("assistant", "Ordered.")) == [(4, Closing.DECISION)]
    assert ends(*said, ("user", "Now the chairs.")) == [(3, Closing.DECISION)]


@pytest.mark.parametrize("said", ["No, not yet.", "Yes, but make it blue.", "Is it new?", "Okay, why?"])
def test_a_doubt_decides_nothing(said):
    assert (
        ends(("user", "I need a desk."), ("assistant", "Shall I order it?"), ("user", said), ("assistant", "Hm.")) == []
    )


def test_fifteen_exchanges_end_with_the_last_ones_answer():
    assert ends(*WEATHER * 20) == [(30, Closing.EXCHANGES)]
    assert ends(*WEATHER[:1] * 20) == [(15, Closing.EXCHANGES)]


def test_six_calls_of_tools_are_one_exchange():
    answer = [("assistant", "Looking.", 10, CALL), ("tool", "Rain.")] * 6
    assert ends(*[WEATHER[0], *answer[:2], WEATHER[1]] * 14) == [(48, Closing.WINDOW)]
    assert ends(*[*WEATHER[:1], *answer, *WEATHER[1:]] * 3) == []


def test_a_share_of_the_window_ends_it():
    assert ends(*[("user", "What is the weather?", 3_000), ("assistant", "Cold.", 400)] * 4) == [(6, Closing.WINDOW)]


def test_an_exchange_that_outgrows_a_segment_is_divided_but_no_call_from_its_result():
    said = [("user", "Do it.", 10), *[("assistant", "Looking.", 4_000, CALL), ("tool", "Row.", 3_000)] * 5]
    found = ends(*said)
    assert [seq for seq, _ in found] == [5, 9]
    assert {reason for _, reason in found} == {Closing.WINDOW}


SAID = st.tuples(
    st.sampled_from(list(Speaker)),
    st.sampled_from(["What is the weather in Oslo?", "Shall I order it?", "Yes.", "Return my shoes.", "Why?", ""]),
    st.integers(1, 6_000),
)


@given(st.lists(SAID, max_size=120))
def test_segments_are_bounded_part_all_turns_and_do_not_depend_on_what_follows(said):
    turns = turns_of(*said)
    vectors = EMBEDDER.embed([turn.content for turn in turns])
    found = endings(turns, vectors, TOPICS, BOUNDS)
    starts = [0, *(end.last_seq for end in found)]
    assert starts == sorted(set(starts))
    for start, end in zip(starts, found, strict=False):
        part = turns[start : end.last_seq]
        assert end.exchanges == sum(turn.role is Speaker.USER for turn in part)
        assert end.tokens == sum(turn.tokens for turn in part)
        tools = sum(turn.role is Speaker.TOOL for turn in part)
        assert len(part) - tools <= MAX_TURNS
    for cut in range(0, len(turns), 17):
        before = endings(turns[:cut], vectors[:cut], TOPICS, BOUNDS)
        assert before == found[: len(before)], "what follows changes no end"


@pytest.mark.parametrize("text", ["Shall I book it?", "I suggest the blue one.", "Soll ich das bestellen?"])
def test_proposals(text):
    assert proposes(text)


@pytest.mark.parametrize("text", ["Yes please", "ok", "Sounds good!", "Let's do that.", "Ja, gerne.", "好的"])
def test_confirmations(text):
    assert confirms(text)


@pytest.mark.parametrize("text", ["Yesterday was fine", "okay but no", "No.", "好吗", "Great, what does it cost?"])
def test_no_confirmations(text):
    assert not confirms(text)


# ---- the embedder, and its threshold


@given(st.text(max_size=300))
def test_a_vector_has_length_one_or_says_nothing(text):
    (vector,) = EMBEDDER.embed([text])
    assert len(vector) == DIMENSION
    length = likeness(vector, vector)
    assert length == 0 or abs(length - 1) < 1e-9
    assert EMBEDDER.embed([text]) == [vector]


@pytest.mark.parametrize(
    ("one", "like", "unlike"),
    [
        ("printing invoices", "the invoice was printed", "a walk in the forest"),
        ("Rechnungsadresse ändern", "die Adresse der Rechnung", "Urlaub am Meer"),
        ("数据库查询太慢", "数据库很慢", "今天天气不错"),
    ],
)
def test_what_shares_words_or_parts_of_them_is_alike(one, like, unlike):
    a, b, c = EMBEDDER.embed([one, like, unlike])
    assert likeness(a, b) > likeness(a, c) + 0.1


def test_the_threshold_in_use_is_the_calibrated_one_and_holds_on_the_other_half():
    assert EMBEDDER.same_topic == calibrated(EMBEDDER)
    _, measuring = halves()
    got = score(measuring, EMBEDDER, EMBEDDER.same_topic)
    assert (round(got.precision, 2), round(got.recall, 2)) == (0.80, 0.91), "as docs/summaries.md says so"
