"""Sizes and units against figures worked out by hand from AWS's published rules."""

import pytest

from slate.testing.capacity import Index, item_bytes, read_units, write_units


def text(size):
    """An item of so many bytes."""
    return {"n": {"S": "x" * (size - 1)}}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "abc"}, 3),
        ({"S": ""}, 0),
        ({"S": "é€😀"}, 2 + 3 + 4),
        ({"N": "0"}, 1),
        ({"N": "7"}, 1 + 1),
        ({"N": "12345"}, 1 + 3),
        ({"N": "1800000000000"}, 1 + 1),
        ({"N": "0.00125"}, 1 + 2),
        ({"N": "-12.5"}, 1 + 2 + 1),
        ({"N": "1.5E+9"}, 1 + 1),
        ({"B": b"\0" * 29}, 29),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["a", "bcd"]}, 4),
        ({"NS": ["1", "250"]}, 2 + 2),
        ({"BS": [b"1", b"23"]}, 3),
        ({"L": []}, 3),
        ({"L": [{"S": "ab"}, {"N": "1"}]}, 3 + (1 + 2) + (1 + 2)),
        ({"M": {}}, 3),
        ({"M": {"key": {"L": [{"BOOL": True}]}}}, 3 + 1 + 3 + (3 + 1 + 1)),
    ],
    ids=str,
)
def test_a_value_has_the_size_that_aws_publishes(value, size):
    assert item_bytes({"naïve": value}) == 6 + size


def test_an_item_is_the_sum_of_its_attributes():
    assert item_bytes({"pk": {"S": "acme#G#g"}, "epoch": {"N": "3"}}) == (2 + 8) + (5 + 2)
    assert item_bytes({}) == 0


@pytest.mark.parametrize(
    ("size", "consistent", "eventual"), [(0, 1, 0.5), (1, 1, 0.5), (4_096, 1, 0.5), (4_097, 2, 1), (10_240, 3, 1.5)]
)
def test_reads_count_4_kb_and_half_when_eventually_consistent(size, consistent, eventual):
    assert read_units(size, consistent=True) == consistent
    assert read_units(size, consistent=False) == eventual


@pytest.mark.parametrize(
    ("before", "after", "units"),
    [(None, None, 1), (None, 1_024, 1), (None, 1_025, 2), (3_000, 100, 3), (100, 2_049, 3)],
)
def test_a_write_counts_1_kb_of_the_larger_image(before, after, units):
    assert write_units(*(size and text(size) for size in (before, after))) == units


KEYS_ONLY = Index(("q", "due"), frozenset(("pk", "q", "due")))
WHOLE = Index(("q",), None)
BASE = {"pk": {"S": "p"}, "said": {"S": "x" * 2_000}}
QUEUED = {**BASE, "q": {"S": "r"}, "due": {"S": "1"}}


@pytest.mark.parametrize(
    ("before", "after", "units"),
    [
        (None, BASE, 0),
        (BASE, None, 0),
        ({**BASE, "q": {"S": "half a key"}}, BASE, 0),
        (None, QUEUED, 1),
        (BASE, QUEUED, 1),
        (QUEUED, BASE, 1),
        (QUEUED, None, 1),
        (QUEUED, {**QUEUED, "said": {"S": "other"}}, 0),
        (QUEUED, {**QUEUED, "due": {"S": "2"}}, 2),
        (QUEUED, {**QUEUED, "q": {"S": "x" * 1_020}}, 1 + 2),
    ],
)
def test_an_index_is_written_as_its_entry_comes_goes_or_moves(before, after, units):
    assert KEYS_ONLY.write_units(before, after) == units


def test_an_index_of_everything_is_rewritten_when_anything_changes():
    assert WHOLE.write_units(QUEUED, {**QUEUED, "said": {"S": "short"}}) == 2
    assert WHOLE.write_units(QUEUED, QUEUED) == 0
