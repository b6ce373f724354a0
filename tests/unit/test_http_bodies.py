from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slate.domain.errors import Malformed, SlateError
from slate_functions.http.bodies import MAX_DEPTH, read_json

BROKEN = {
    "broken json": b'{"goal": ',
    "two values": b"{} {}",
    "not utf-8": b'{"goal": "\xff\xfe"}',
    "utf-16": '{"goal": "x"}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a lone surrogate": b'{"goal": "\\ud800"}',
    "a lone surrogate as a name": b'{"\\udc00": 1}',
    "a surrogate in utf-8": b'{"goal": "\xed\xa0\x80"}',
    "a broken escape": b'{"goal": "\\u12"}',
    "a control character": b'{"goal": "\x00"}',
    "NaN": b'{"input": NaN}',
    "Infinity": b'{"input": Infinity}',
    "minus Infinity": b'{"input": -Infinity}',
    "infinite once read": b'{"input": 1e400}',
    "infinite without a sign": b'{"input": [-2.5E+999]}',
    "infinite by its digits": b'{"input": ' + b"9" * 400 + b".0}",
    "more digits than are read": b'{"input": ' + b"9" * 5_000 + b"}",
    "a name given twice": b'{"goal": "x", "goal": "y"}',
    "a name given twice deep inside": b'{"a": [{"b": 1, "c": {}, "\\u0062": 2}]}',
    "a comment": b'{"a": 1 /* one */}',
    "single quotes": b"{'a': 1}",
    "a list": b"[]",
    "a text": b'"goal"',
    "a number": b"1",
    "null": b"null",
    "lists too deep": b'{"a":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}",
    "objects too deep": b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1),
    "deep beyond any parser": b'{"a":' + b"[" * 300_000 + b"]" * 300_000 + b"}",
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_one_sound_object_is_malformed(name):
    with pytest.raises(Malformed):
        read_json(BROKEN[name])


@pytest.mark.parametrize("raw", [b"", b" \n", b"{}"])
def test_no_body_is_an_empty_object(raw):
    assert read_json(raw) == {}


def test_as_deep_as_is_allowed_is_taken():
    raw = b'{"a":' + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1) + b"}"
    assert json.dumps(read_json(raw), separators=(",", ":")).encode() == raw


def test_numbers_as_large_and_as_small_as_a_double_are_taken():
    assert read_json(b'{"a": [1.7e308, 5e-324, 1e-400]}') == {"a": [1.7e308, 5e-324, 0.0]}


@given(st.dictionaries(st.text(), JSON))
def test_every_sound_object_is_read_as_it_was_written(value):
    assert read_json(json.dumps(value).encode()) == value
    assert read_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=100) | st.text(alphabet='{}[]":,\\u0dea9.+-nultrfsNI \ud800', max_size=60))
def test_no_bytes_at_all_make_another_error(raw):
    try:
        value = read_json(raw if isinstance(raw, bytes) else raw.encode(errors="surrogatepass"))
    except SlateError:
        return
    assert isinstance(value, dict)
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def test_a_refusal_quotes_nothing_of_the_body():
    with pytest.raises(Malformed) as refused:
        read_json(b'{"goal": "my secret", "x": NaN}')
    assert "secret" not in refused.value.detail
