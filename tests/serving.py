"""A local server in a process of its own, as a user starts it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Served(NamedTuple):
    """Where it answers, and a key of every scope."""

    url: str
    key: str


@contextmanager
def serving(*options: str, seconds: float = 60) -> Iterator[Served]:
    """Start ``slate serve`` on a free port, and end it again."""
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys.json"
        command = [sys.executable, "-m", "slate_functions.local.cli", "serve", "--port", "0", "--write-keys", str(keys)]
        with subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL) as process:  # noqa: S603  # our own
            try:
                ends = time.monotonic() + seconds
                while not keys.exists():
                    if process.poll() is not None or time.monotonic() > ends:
                        raise RuntimeError("the server did not start")
                    time.sleep(0.05)
                written = json.loads(keys.read_text())
                yield Served(written["url"], written["keys"]["acme"])
            finally:
                process.terminate()
