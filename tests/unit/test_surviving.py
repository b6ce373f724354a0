"""What may not be lost is found, is missed where it is missing, and is there again once it is kept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slate.domain.surviving import Digest, Kind, checked, gathered, missing
from slate.domain.words import sentences

BUDGET = "The budget is $4,200, must be spent by March 15, except the printer line item which is excluded."

THINGS = st.sampled_from(["printer", "laptop", "desk", "invoice", "ticket", "server"])
FIGURES = st.sampled_from(
    ["$4,200", "4200 euros", "15%", "March 15", "2026-03-15", "12:30", "42", "3.5", "two", "€1,000.50", "Tuesday"]
)
TURNS_OF_PHRASE = st.sampled_from(
    [
        "The {thing} costs {figure}.",
        "We need {figure} for the {thing}.",
        "Never order the {thing} before {figure}.",
        "Everything but the {thing} is approved, except {figure}.",
        "The {thing} must not exceed {figure} unless the manager agrees.",
        "I liked the red {thing}, not the one for {figure}.",
        "Ship the {thing} on {figure} only if it's paid.",
    ]
)


@st.composite
def sayings(draw):
    return draw(TURNS_OF_PHRASE).format(thing=draw(THINGS), figure=draw(FIGURES))


def kinds(sentence):
    return {each.kind for each in checked(sentence)}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (BUDGET, {Kind.AMOUNT, Kind.DATE, Kind.EXCEPTION}),
        ("I liked the red one you showed earlier.", {Kind.REFERENT}),
        ("Take the striped one.", {Kind.REFERENT}),
        ("I'm allergic to peanuts", {Kind.NEGATION}),
        ("We don't ship there unless it's insured", {Kind.NEGATION, Kind.EXCEPTION}),
        ("Bitte nicht vor dem 15. März liefern, außer Drucker", {Kind.NEGATION, Kind.DATE, Kind.EXCEPTION}),
        ("Das sind 4.200 € ohne Versand", {Kind.AMOUNT, Kind.NEGATION}),
        ("预算4200元,3月15日之前,除了打印机", {Kind.AMOUNT, Kind.DATE, Kind.EXCEPTION}),
        ("Order ORD-20240115 is late", {Kind.NUMBER}),
        ("The weather is lovely", set()),
    ],
)
def test_each_kind_is_found_in_several_languages(sentence, expected):
    assert kinds(sentence) == expected


@pytest.mark.parametrize(
    "digest",
    [
        "The budget is 4200 dollars, due March 15, printers excluded.",
        "The budget is $4,200, must be spent by March 15.",
        "The budget is $4,200, must be spent by March 16, except the printer line item which is excluded.",
        "The budget is $4,300, must be spent by March 15, except the printer line item which is excluded.",
        "Budget: $4,200\nDeadline: March 15\nException: printer line item is excluded, except as agreed",
        "Lunch was $4,200 on March 15, except what was excluded.",
        "",
    ],
)
def test_a_digest_that_lost_or_changed_or_scattered_it_is_missing_the_sentence(digest):
    assert missing(digest, [f"Hello there. {BUDGET} Nice weather."]) == [BUDGET]


@pytest.mark.parametrize(
    "digest",
    [BUDGET, f"confirmed: {BUDGET}", "budget $4200 spent by march 15, except: printer line item excluded"],
)
def test_a_digest_that_says_it_in_one_line_misses_nothing(digest):
    assert missing(digest, [BUDGET]) == []


def test_red_survives():
    assert missing("The user liked one of the items.", ["I liked the red one you showed earlier."])
    assert not missing("The user liked the red one shown earlier.", ["I liked the red one you showed earlier."])


@given(st.lists(sayings(), min_size=1, max_size=12), st.text(max_size=200))
def test_what_is_kept_is_not_missing_any_more(said, digest):
    lost = missing(digest, said)
    assert missing("\n".join([digest, *lost]), said) == []


@given(st.lists(sayings(), min_size=1, max_size=20))
def test_sentences_that_are_gathered_still_say_all_they_said(said):
    lines = gathered(said)
    assert missing("\n".join(lines), said) == []
    assert len(lines) <= len(dict.fromkeys(said))


def test_alike_sentences_become_one_line():
    said = [f"Tell me about part {n}." for n in range(15)]
    assert gathered(said) == [f"Tell me about part 0. (also with: {'; '.join(map(str, range(1, 15)))})"]


@given(sayings(), sayings())
def test_what_one_sentence_says_is_not_vouched_for_by_another(one, other):
    """A digest that has only one of two different sentences says the other only if nothing of it would be lost."""
    told = Digest(other)
    assert not told.says(one) or checked(one) <= checked(other)


@settings(max_examples=200)
@given(st.text(max_size=400))
def test_any_text_at_all_can_be_checked(text):
    assert missing(text, [text]) == [] or len(sentences(text)) > 1
    for sentence in sentences(text):
        assert Digest(sentence).says(sentence)
