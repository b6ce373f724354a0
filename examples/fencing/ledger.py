"""A resource outside of Slate that a lock protects: a ledger in SQLite that refuses a holder of the past.

A lock alone cannot stop a process that was paused, lost its lease, and wakes up still believing that it holds it. The
epoch can: it grows with each acquisition, the ledger remembers the highest it has seen, and the comparison and the
write are one statement.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


class StaleEpoch(Exception):
    """A later holder has written already."""

    def __init__(self, epoch: int, seen: int) -> None:
        super().__init__(f"epoch {epoch} is of the past: {seen} has written already")
        self.seen = seen


class Ledger:
    """Entries, each written under the epoch of a lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with closing(self._connect()) as db, db:
            db.execute("CREATE TABLE IF NOT EXISTS fence (one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER)")
            db.execute("CREATE TABLE IF NOT EXISTS entries (epoch INTEGER, text TEXT)")
            db.execute("INSERT OR IGNORE INTO fence VALUES (1, 0)")

    def write(self, text: str, *, epoch: int) -> None:
        """Add an entry.

        Raises:
            StaleEpoch: somebody has written under a higher epoch; nothing was added.
        """
        with closing(self._connect()) as db, db:
            raised = db.execute("UPDATE fence SET epoch = ?1 WHERE epoch <= ?1", (epoch,))
            if raised.rowcount == 0:
                (seen,) = db.execute("SELECT epoch FROM fence").fetchone()
                raise StaleEpoch(epoch, seen)
            db.execute("INSERT INTO entries VALUES (?, ?)", (epoch, text))

    def entries(self) -> list[tuple[int, str]]:
        """All entries, with their epochs, in the order in which they were written."""
        with closing(self._connect()) as db:
            return list(db.execute("SELECT epoch, text FROM entries ORDER BY rowid"))

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=10)
