"""Fetches the node's libraries once, starts it, and waits until it answers."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Final
from urllib.request import urlopen

HERE: Final = Path(__file__).parent
BUILT: Final = HERE.parents[1] / "build" / "opensearch"
"""Where the libraries are kept."""
TOOLS: Final = {"java": "a JDK of 17 or later", "javac": "a JDK of 17 or later", "mvn": "Maven"}
FETCH_SECONDS: Final = 300
START_SECONDS: Final = 60
# The first compiler alone: half the start, and less of a machine that runs tests beside it.
JAVA: Final = ("java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
QUIET: Final = ("-Dio.netty.noUnsafe=true", "-Dlog4j2.disable.jmx=true")


class NoNode(Exception):
    """There can be no node here; the message says in a line why, and what to do."""


def version() -> str:
    """OpenSearch's version, as the pom has it."""
    return re.findall(r"<opensearch\.version>([\d.]+)<", (HERE / "pom.xml").read_text(encoding="utf-8"))[0]


def fetch() -> Path:
    """The folder of the libraries; what is there already is not fetched again, also where two ask at once.

    Raises:
        NoNode: a tool is missing, or the libraries cannot be had.
    """
    for tool, what in TOOLS.items():
        if shutil.which(tool) is None:
            raise NoNode(f"{tool} is not on the PATH; install {what}")
    sources = [(HERE / name).read_bytes() for name in ("pom.xml", "LocalNode.java")]
    folder = BUILT / hashlib.sha256(b"".join(sources)).hexdigest()[:12]
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / ".lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not folder.exists():
            _fetch_into(folder)
    return folder


def _fetch_into(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=BUILT) as draft:
        _run("mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), f"-Dfolder={draft}/it", "package")
        libraries = f"{draft}/it/lib/*:{draft}/it/knn/*"
        _run("javac", "-d", f"{draft}/it/classes", "-cp", libraries, str(HERE / "LocalNode.java"))
        Path(draft, "it").rename(folder)


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)  # noqa: S603  # fixed commands
    except subprocess.TimeoutExpired:
        raise NoNode(f"{command[0]} did not end within {FETCH_SECONDS} s; is its registry reached?") from None
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line or "error" in line]
        raise NoNode(f"{command[0]} failed: {said[0][:300] if said else done.returncode}")


def start(home: Path, *, port: int = 0, owner: int | None = None) -> tuple[subprocess.Popen[bytes], str]:
    """A node that answers, and its address. Its data is in ``home``; it ends with the process ``owner``, or this one.

    Raises:
        NoNode: it cannot be fetched, or does not come up.
    """
    folder = fetch()
    (home / "config").mkdir(parents=True)
    classes = ":".join(str(folder / part) for part in ("classes", "lib/*", "knn/*"))
    command = (*JAVA, *QUIET, "-cp", classes, "LocalNode", str(home), str(port), str(owner or os.getpid()))
    log = home / "log"
    with log.open("wb") as out:
        # A session of its own: Ctrl-C reaches whoever started it, who stops it.
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)  # noqa: S603  # as above
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with suppress(OSError):
            address = (home / "address").read_text(encoding="utf-8")
            if healthy(address):
                return process, address
        time.sleep(0.1)
    process.kill()
    raise NoNode(f"the node did not come up: {log.read_text(encoding='utf-8', errors='replace')[-300:].strip()}")


def healthy(address: str) -> bool:
    """Whether its shards may be used."""
    with urlopen(f"{address}/_cluster/health?wait_for_status=yellow&timeout=1s", timeout=5) as answer:  # noqa: S310  # http
        return not json.load(answer)["timed_out"]


@contextmanager
def running(*, port: int = 0) -> Iterator[str]:
    """A node, and its address; its data goes with it.

    Raises:
        NoNode: there can be none.
    """
    with tempfile.TemporaryDirectory(prefix="slate-opensearch-") as home:
        process, address = start(Path(home), port=port)
        try:
            yield address
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
