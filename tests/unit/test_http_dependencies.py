from __future__ import annotations

import pytest

from slate.domain.errors import Invalid
from slate_functions.http.dependencies import read_idempotency_key, read_if_match


@pytest.mark.parametrize(
    ("value", "version"), [('"3"', 3), ("3", 3), (' "12" ', 12), ("0", 0), ("*", None), (" * ", None), (None, None)]
)
def test_if_match_names_one_version_or_any(value, version):
    assert read_if_match(value) == version


@pytest.mark.parametrize("value", ["", '""', "abc", "-1", "1.0", '"1", "2"', 'W/"3"', "1e3", "9" * 20, "٣", "3\u00a04"])
def test_any_other_if_match_is_refused_by_name(value):
    with pytest.raises(Invalid) as refused:
        read_if_match(value)
    assert refused.value.data["errors"][0]["field"] == "If-Match"


@pytest.mark.parametrize(("value", "key"), [("a", "a"), ("x" * 200, "x" * 200), (" k-1 ", "k-1"), (None, None)])
def test_an_idempotency_key_is_up_to_200_printable_characters(value, key):
    assert read_idempotency_key(value) == key


@pytest.mark.parametrize("value", ["", " ", "x" * 201, "a\tb", "a\x7fb", "é"])
def test_any_other_idempotency_key_is_refused_by_name(value):
    with pytest.raises(Invalid) as refused:
        read_idempotency_key(value)
    assert refused.value.data["errors"][0]["field"] == "Idempotency-Key"
