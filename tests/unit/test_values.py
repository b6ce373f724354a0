"""What a change makes of a value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from slate.contract.values import ChangeValues, PatchValue
from slate.domain.errors import Conflict
from slate.domain.values import EXACT, Change, Changed, Value, applied, fitting, merge_patch

# RFC 7396, appendix A, line by line: the original, the patch, the result.
APPENDIX = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]
EXAMPLE = (
    {
        "title": "Goodbye!",
        "author": {"givenName": "John", "familyName": "Doe"},
        "tags": ["example", "sample"],
        "content": "This will be unchanged",
    },
    {
        "title": "Hello!",
        "phoneNumber": "+01-123-456-7890",
        "author": {"familyName": None},
        "tags": ["example"],
    },
    {
        "title": "Hello!",
        "author": {"givenName": "John"},
        "tags": ["example"],
        "content": "This will be unchanged",
        "phoneNumber": "+01-123-456-7890",
    },
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def change(op, *value, **more):
    return Change.model_validate({"key": "k", "op": op, **({"value": value[0]} if value else {}), **more})


def standing(value):
    return Value(key="k", value=value, version=3, updated_at=0, updated_by="ann")


@pytest.mark.parametrize(("target", "patch", "wanted"), [*APPENDIX, EXAMPLE])
def test_a_merge_patch_does_what_the_rfc_says(target, patch, wanted):
    assert merge_patch(target, patch) == wanted


@given(JSON, JSON)
def test_a_merge_patch_changes_nothing_in_place_and_once_is_as_good_as_twice(target, patch):
    before = repr((target, patch))
    once = merge_patch(target, patch)
    assert repr((target, patch)) == before
    assert merge_patch(once, patch) == once


@pytest.mark.parametrize(
    ("before", "by", "wanted"),
    [
        (1, 2, 3),
        (1, -2, -1),
        (0.1, 0.2, 0.3),
        (1, 0.5, 1.5),
        (2.5, -0.5, 2.0),
        (EXACT - 1, 1, EXACT),
        (-EXACT, 0, -EXACT),
        (1e308, 1, 1e308),
    ],
)
def test_an_increment_adds_as_the_numbers_are_written(before, by, wanted):
    after = applied(change("increment", by), standing(before))
    assert (after, type(after)) == (wanted, type(wanted))


@pytest.mark.parametrize(("before", "by"), [(EXACT, 1), (-EXACT, -1), (1.7e308, 1.7e308)])
def test_an_increment_out_of_range_is_refused_and_shows_what_is_there(before, by):
    with pytest.raises(Conflict, match="range") as refused:
        applied(change("increment", by), standing(before))
    assert refused.value.data["current"]["value"] == before


@pytest.mark.parametrize(
    ("op", "value", "wanted"), [("increment", 2, 2), ("append", "x", ["x"]), ("merge", {"a": 1, "b": None}, {"a": 1})]
)
def test_what_is_not_there_begins_with_nothing(op, value, wanted):
    assert applied(change(op, value), None) == wanted


@pytest.mark.parametrize("there", ["7", None, True, [1], {"n": 1}])
def test_only_a_number_is_incremented(there):
    with pytest.raises(Conflict, match="needs a number") as refused:
        applied(change("increment", 1), standing(there))
    assert (refused.value.data["current"]["value"], refused.value.data["current"]["version"]) == (there, 3)


@pytest.mark.parametrize("there", ["7", None, True, 1, {"n": 1}])
def test_only_to_a_list_is_appended(there):
    with pytest.raises(Conflict, match="needs a list"):
        applied(change("append", 1), standing(there))


def test_an_append_leaves_the_list_that_was_there():
    there = standing([1])
    assert applied(change("append", [2]), there) == [1, [2]]
    assert there.value == [1]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"key": "k", "op": "put"}, "needs a value"),
        ({"key": "k", "op": "merge"}, "needs a value"),
        ({"key": "k", "op": "delete", "value": None}, "takes no value"),
        ({"key": "k", "op": "increment", "value": "1"}, "needs a number"),
        ({"key": "k", "op": "increment", "value": True}, "needs a number"),
        ({"key": "k", "op": "swap", "value": 1}, "increment"),
        ({"key": "k", "op": "put", "value": 1, "version": -1}, "greater than or equal to 0"),
        ({"key": "k", "op": "put", "value": 1, "version": True}, "valid integer"),
        ({"key": "#k", "op": "put", "value": 1}, "pattern"),
        ({"key": "k", "op": "put", "value": 1, "if": 2}, "Extra"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_before_anything_is_read(body, field):
    with pytest.raises(ValidationError, match=field):
        Change.model_validate(body)


def test_a_patch_takes_what_needs_no_version_and_nothing_else():
    assert PatchValue.model_validate({"op": "merge", "value": None}).value is None
    for wrong in ({"op": "put", "value": 1}, {"op": "increment", "value": "1"}, {"op": "append"}):
        with pytest.raises(ValidationError):
            PatchValue.model_validate(wrong)


def test_a_call_changes_each_key_once_and_25_at_most():
    one = {"op": "put", "value": 1}
    with pytest.raises(ValidationError, match="changed twice"):
        ChangeValues.model_validate({"changes": [{"key": "a", **one}, {"key": "a", **one}]})
    for count, fits in ((0, False), (1, True), (25, True), (26, False)):
        body = {"changes": [{"key": f"k{i}", **one} for i in range(count)]}
        if fits:
            assert len(ChangeValues.model_validate(body).changes) == count
        else:
            with pytest.raises(ValidationError):
                ChangeValues.model_validate(body)


def test_an_answer_leaves_out_values_that_do_not_fit_and_says_so():
    small, large = Changed(key="a", version=1, value=1), Changed(key="b", version=2, value="x" * 100)
    assert fitting([small, large], 200) == (small, large)
    assert fitting([small, large], 50) == (small, Changed(key="b", version=2, left_out=True))
