"""What an erasure goes through, and when it goes on: each step is over before the next one begins."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS


class Step(StrEnum):
    """How far an erasure is: the last step that is done."""

    RECEIVED = "RECEIVED"
    HELD = "HELD"
    """Somebody has a reason why the person's data must stay: it goes on when the last hold ends."""
    FENCED = "FENCED"
    """From now on nothing is served, and nothing is written."""
    KEYS_SHREDDED = "KEYS_SHREDDED"
    """What was sealed opens no more."""
    INDEX_DELETED = "INDEX_DELETED"
    PRIMARY_DELETED = "PRIMARY_DELETED"
    """Objects, then items."""
    DRAINED = "DRAINED"
    """Whatever was under way when the fence closed has arrived, and was swept up."""
    EXPUNGED = "EXPUNGED"
    """The index has rewritten its files."""
    VERIFIED = "VERIFIED"
    """Every store was looked through again, and was empty."""
    RECEIPTED = "RECEIPTED"
    """The receipt is there, and the person may come back."""
    CLOSED = "CLOSED"
    """The last copy that nobody can reach into is gone: backups, snapshots, keys' recovery."""


OPEN: Final = frozenset(Step) - {Step.RECEIPTED, Step.CLOSED}
"""In these an erasure runs, and a person has one at most."""

ROOTS_STAND_MS: Final = 90_000
"""A request lives 30 s at most, and what it sent may arrive up to 60 s later: so long an emptied root refuses it."""
RUNS_END_MS: Final = 90_000
"""A run works 20 s at most on an erasure, and what it sent may arrive later: so long after the last sweep no other run
is still at it, which would take along what a person brings who comes back."""
FIRST_SWEEP_MS: Final = 15 * MINUTE_MS
"""Longer than any process keeps a data key, and than any root stands."""


def sweeps(queue_days: int) -> tuple[int, ...]:
    """How long after the fence everything is looked through once more: what was written, and what was queued, came."""
    return FIRST_SWEEP_MS, DAY_MS, queue_days * DAY_MS + HOUR_MS


def due_by(requested_at: int) -> int:
    """One month after the request (GDPR, article 12(3)): the same day of the next month, or its last one."""
    asked = datetime.fromtimestamp(requested_at / 1000, UTC)
    year, month = (asked.year + 1, 1) if asked.month == 12 else (asked.year, asked.month + 1)  # noqa: PLR2004
    for day in range(asked.day, 27, -1):
        try:
            due = asked.replace(year=year, month=month, day=day)
        except ValueError:
            continue  # that month is shorter
        return int(due.timestamp()) * 1000 + requested_at % 1000
    return int(asked.replace(year=year, month=month).timestamp()) * 1000 + requested_at % 1000


_FIRST_BACKOFF_MS: Final = 10_000
_LONGEST_BACKOFF_MS: Final = 15 * MINUTE_MS


def backoff(failures: int) -> int:
    """How long to rest after so many failures in a row: from 10 s, doubled, up to 15 minutes."""
    rest = _FIRST_BACKOFF_MS << min(failures - 1, 10)
    return min(rest, _LONGEST_BACKOFF_MS)
