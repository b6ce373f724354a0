"""Reading tickets that a user brings."""

from __future__ import annotations

import json

import pytest
from tickets import LONGEST, NoTickets, load

GOOD = {"ticket_id": "T-1", "from": "a@b.example", "subject": "s", "body": "b"}


def written(path, *lines):
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return path


BAD = {
    "not JSON": b"{",
    "nested beyond reading": b"[" * 100_000,
    "not an object": [1],
    "not UTF-8": b'{"ticket_id": "\xff"}',
    "no id": {"subject": "s", "body": "b"},
    "an empty id": {**GOOD, "ticket_id": " "},
    "a boolean for an id": {**GOOD, "ticket_id": True},
    "no body": {"ticket_id": "x", "subject": "s"},
    "a body that is no text": {**GOOD, "ticket_id": "x", "body": None},
    "a body beyond all bounds": {**GOOD, "ticket_id": "x", "body": "x" * (LONGEST + 1)},
    "half of a surrogate pair": {**GOOD, "ticket_id": "x", "body": "\ud800"},
    "an id given twice": GOOD,
}


@pytest.mark.parametrize("name", BAD)
def test_a_line_that_is_no_ticket_is_named_by_its_number_and_the_rest_is_read(name, tmp_path):
    last = {**GOOD, "ticket_id": "T-2"}
    tickets, bad = load(written(tmp_path / "in.jsonl", GOOD, b"", BAD[name], last))
    assert [ticket.ticket_id for ticket in tickets] == ["T-1", "T-2"]
    assert [line.number for line in bad] == [3]
    assert bad[0].reason


def test_a_number_may_be_an_id_and_a_sender_may_be_missing(tmp_path):
    (ticket,), bad = load(written(tmp_path / "in.jsonl", {"ticket_id": 7, "subject": "", "body": "hi", "extra": 1}))
    assert (ticket.ticket_id, ticket.sender, bad) == ("7", "", [])


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n")
    assert [ticket.ticket_id for ticket in load(path)[0]] == ["T-1"]


@pytest.mark.parametrize("lines", [(), (b"\n",), (b"nonsense", b"[]")])
def test_a_file_without_a_ticket_is_refused_with_an_example_of_one(lines, tmp_path):
    with pytest.raises(NoTickets, match="ticket_id"):
        load(written(tmp_path / "in.jsonl", *lines))


def test_a_path_that_cannot_be_read_is_refused_with_the_reason(tmp_path):
    for path in (tmp_path / "absent.jsonl", tmp_path):
        with pytest.raises(NoTickets, match=str(path)):
            load(path)
