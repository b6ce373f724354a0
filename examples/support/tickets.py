"""Reads tickets from JSON Lines; a line that is no ticket is reported by its number, and the rest is read on."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reading import Ticket

LONGEST: Final = 100_000
"""Characters of a body; more is no letter."""
LONGEST_FIELD: Final = 1_000


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no ticket, and why."""

    number: int
    reason: str


class NoTickets(Exception):
    """There is nothing to work on; the message says why, and what would be right."""


def load(path: Path) -> tuple[list[Ticket], list[BadLine]]:
    """The tickets of a file, and the lines that are none; an id given twice counts once.

    Raises:
        NoTickets: the file cannot be read, or holds no ticket.
    """
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise NoTickets(f"cannot read {path}: {error.strerror or error}") from error
    tickets: dict[str, Ticket] = {}
    bad: list[BadLine] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            ticket = _ticket(line, tickets)
        except ValueError as error:
            bad.append(BadLine(number, str(error)))
        else:
            tickets[ticket.ticket_id] = ticket
    if not tickets:
        first = f"; line {bad[0].number}: {bad[0].reason}" if bad else ""
        raise NoTickets(
            f'{path} holds no ticket; each line is like {{"ticket_id": "T-1", "subject": "...", "body": "..."}}{first}'
        )
    return list(tickets.values()), bad


def _ticket(line: bytes, before: Container[str]) -> Ticket:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004  # a fault of the data, not of a caller
    ticket_id = row.get("ticket_id")
    if isinstance(ticket_id, int) and not isinstance(ticket_id, bool):
        row = {**row, "ticket_id": str(ticket_id)}
    ticket = Ticket(
        ticket_id=_text(row, "ticket_id", LONGEST_FIELD).strip(),
        sender=_text({"from": "", **row}, "from", LONGEST_FIELD),
        subject=_text(row, "subject", LONGEST_FIELD),
        body=_text(row, "body", LONGEST),
    )
    if not ticket.ticket_id:
        raise ValueError("ticket_id is empty")
    if ticket.ticket_id in before:
        raise ValueError(f"the ticket_id {ticket.ticket_id!r} stands in an earlier line")
    return ticket


def _text(row: dict[str, Any], name: str, longest: int) -> str:
    if name not in row:
        raise ValueError(f"{name} is missing")
    text = row[name]
    if not isinstance(text, str):
        raise ValueError(f"{name} is not a text")  # noqa: TRY004  # as above
    if len(text) > longest:
        raise ValueError(f"{name} is longer than {longest:,} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half of a surrogate pair") from None
    return text
