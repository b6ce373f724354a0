"""An agent that takes a lock and writes to the ledger whenever it is told to, believing that it still holds it.

    python examples/fencing/holder.py http://127.0.0.1:8080 KEY ledger.db

It says ``holds <epoch>`` once it has the lock. For each line on its standard input it writes that line to the ledger,
and says ``wrote`` or ``refused``. It never looks whether the lock is still its own: that is the ledger's part.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ledger import Ledger, StaleEpoch

from slate.client import SlateClient

LEASE_SECONDS = 30


def main(url: str, key: str, path: str) -> None:
    """Take the lock, then write what is said."""
    ledger = Ledger(Path(path))
    with SlateClient(url, key) as client:
        held = client.locks.acquire("ledger", lease_seconds=LEASE_SECONDS)
    print(f"holds {held.epoch}", flush=True)
    for line in sys.stdin:
        try:
            ledger.write(line.strip(), epoch=held.epoch)
        except StaleEpoch as refused:
            print(f"refused: {refused}", flush=True)
        else:
            print("wrote", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
