"""Counting tokens: exact without the network, and an estimate that errs upwards."""

import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.tokens import ENCODINGS, PAGE, measured, page
from slate.adapters.inprocess.token_estimate import EstimatingCounter
from slate.adapters.toktok.token_counter import ToktokCounter
from slate.domain.sessions import ToolCall
from slate.domain.tokens import estimate, message_tokens
from slate.settings import Settings
from slate.wiring.choices import token_counter

EXACT = ToktokCounter()


def test_known_counts():
    # Published by OpenAI for o200k_base and cl100k_base: "tiktoken is great!" is 6 tokens in both.
    assert ToktokCounter("cl100k_base").count("tiktoken is great!") == 6
    assert EXACT.count("tiktoken is great!") == 6
    assert EXACT.count_all(["", "hello world"]) == [0, 2]


def test_nothing_is_fetched(monkeypatch):
    monkeypatch.setattr(socket, "socket", None)
    assert [ToktokCounter(encoding).count("hello world") for encoding in ENCODINGS] == [2, 2, 2]


def test_the_estimate_falls_short_by_five_percent_for_no_kind_of_text():
    assert {m.kind: round(m.over(0)) for m in measured() if m.over(0) < -5} == {}
    assert max(m.over(0) for m in measured()) < 60, "an estimate twice too high would waste half of every budget"


def test_the_page_shows_what_is_measured():
    assert PAGE.read_text() == page(), "run `make tokens`"


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300))
def test_no_count_is_below_the_words_and_any_text_can_be_counted(text):
    for counter in (EXACT, EstimatingCounter()):
        assert counter.count(text) >= len(text.split())


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(st.characters(min_codepoint=0x2000, exclude_categories=["Cs", "Lo"]), min_size=1), min_size=1))
def test_what_is_in_no_known_script_is_bounded_by_its_bytes(texts):
    text = "".join(texts)
    assert estimate(text) >= EXACT.count(text) * 0.95 - 2


def test_half_a_surrogate_pair_is_counted_as_what_replaces_it():
    assert EXACT.count("a\ud800b") > 0
    assert estimate("a\ud800b") > 0


def test_special_tokens_are_the_text_that_they_are():
    assert EXACT.count("<|endoftext|>") > 1


def test_a_message_costs_more_than_its_text():
    call = ToolCall(id="call-1", name="find", arguments={"q": "shoes"})
    plain = message_tokens(EXACT.count, "hello world")
    assert plain == 2 + 4
    assert message_tokens(EXACT.count, "hello world", name="Ann") > plain
    assert message_tokens(EXACT.count, "hello world", calls=[call]) > plain + 8


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "estimate"])
def test_the_counter_is_a_setting(name):
    assert token_counter(Settings(tokenizer=name)).name == name
