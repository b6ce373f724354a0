"""How a document is cut: along its headings, never through code or a table, and nothing of it is lost."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from slate.domain.documents import LARGEST_CHARACTERS, PART_CHARACTERS, cut

CODE = "```python\ndef f():\n    return 1\n\n\n# not a heading\n```"
TABLE = "| a | b |\n|---|---|\n" + "\n".join(f"| {i} | {i * i} |" for i in range(40))


def test_each_heading_begins_a_part_that_carries_those_above_it():
    parts = cut("intro\n\n# A\n\none\n\n## B\n\ntwo\n\n# C #\n\nthree")
    assert [(part.headings, part.text) for part in parts] == [
        ((), "intro"),
        (("A",), "one"),
        (("A", "B"), "two"),
        (("C",), "three"),
    ]
    assert parts[2].whole == "A > B\ntwo"
    assert [part.number for part in parts] == [0, 1, 2, 3]


def test_code_is_not_cut_and_its_comments_are_no_headings():
    parts = cut(f"# A\n\n{'word ' * 230}\n\n{CODE}\n\nafter")
    assert [CODE in part.text for part in parts].count(True) == 1
    assert {part.headings for part in parts} == {("A",)}


def test_a_fence_that_is_never_closed_is_code_to_the_end():
    (part,) = cut("~~~\n# x\n\ny")
    assert part.text == "~~~\n# x\n\ny"


def test_a_table_is_not_cut():
    long = "Some words. " * 90
    assert any(part.text.endswith(TABLE) for part in cut(f"{long}\n{TABLE}\n\n{long}"))


def test_what_is_larger_than_any_part_is_cut_between_lines():
    rows = "\n".join(f"| {'x' * 90} | {i} |" for i in range(200))
    parts = cut(rows)
    assert len(parts) > 1
    assert max(len(part.text) for part in parts) <= LARGEST_CHARACTERS
    assert "\n".join(part.text for part in parts) == rows


def test_text_is_cut_between_sentences_and_a_sentence_without_end_anywhere():
    parts = cut("This is a sentence of some words. " * 200)
    assert all(part.text.endswith("words.") for part in parts)
    assert [len(part.text) for part in cut("x" * 3_000)] == [1_200, 1_200, 600]


def test_scripts_without_spaces_are_cut_after_their_full_stops():
    parts = cut("今天天气很好。" * 400)
    assert all(len(part.text) <= PART_CHARACTERS and part.text.endswith("。") for part in parts)


def test_short_paragraphs_of_one_heading_stand_together():
    assert [part.text for part in cut("# A\n\none\n\ntwo")] == ["one\n\ntwo"]


def test_nothing_is_no_part():
    assert cut("") == []
    assert cut("# A\n") == []


BLOCKS = st.lists(
    st.sampled_from(["# A", "## B", "words and more words.", CODE, TABLE, "", "- item", "x" * 2_000]), max_size=12
)


@given(BLOCKS)
def test_nothing_is_lost_and_no_part_is_too_large(blocks: list[str]):
    text = "\n\n".join(blocks)
    parts = cut(text)
    told = "".join(part.text for part in parts)
    assert all(re.sub(r"\s", "", block) in re.sub(r"\s", "", told) for block in blocks if not block.startswith("#"))
    assert all(len(part.text) <= max(PART_CHARACTERS, LARGEST_CHARACTERS) for part in parts)
    assert all(part.text.count("```") % 2 == 0 for part in parts)
