"""A holder that is killed loses its lock with its lease; one that wakes up too late is refused by what it protects."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from serving import Served, serving
from slate.client import SlateClient
from slate.domain.errors import ClaimLost

EXAMPLE = Path(__file__).parents[2] / "examples" / "fencing"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--manual-clock") as served:
        yield served


@contextmanager
def holder(server: Served, key: str, ledger: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(EXAMPLE / "holder.py"), server.url, key, str(ledger)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own
        try:
            yield process
        finally:
            process.kill()


def says(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline().strip()  # type: ignore[union-attr]


def writes(process: subprocess.Popen[str], text: str) -> str:
    process.stdin.write(text + "\n")  # type: ignore[union-attr]
    process.stdin.flush()  # type: ignore[union-attr]
    return says(process)


def pass_time(server: Served, seconds: int) -> None:
    headers = {"Authorization": f"Bearer {server.key}"}
    httpx.post(f"{server.url}/_local/clock", json={"advance_seconds": seconds}, headers=headers, trust_env=False)


def test_a_killed_or_paused_holder_is_succeeded_after_its_lease_and_its_epoch_refused(
    server: Served, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.db"
    with SlateClient(*server) as admin, ExitStack() as agents:
        keys = {
            name: admin.create_key(name, ["tasks:read", "tasks:write"]).key for name in ("paused", "killed", "last")
        }
        paused = agents.enter_context(holder(server, keys["paused"], ledger))
        assert says(paused) == "holds 1"
        assert writes(paused, "first") == "wrote"
        paused.send_signal(signal.SIGSTOP)

        with pytest.raises(ClaimLost) as refused:
            admin.locks.acquire("ledger")
        assert refused.value.data["holder"] == "paused"
        pass_time(server, 31)
        killed = agents.enter_context(holder(server, keys["killed"], ledger))
        assert says(killed) == "holds 2"
        assert writes(killed, "second") == "wrote"
        paused.send_signal(signal.SIGCONT)
        assert writes(paused, "from the past") == "refused: epoch 1 is of the past: 2 has written already"

        killed.kill()
        killed.wait()
        with pytest.raises(ClaimLost) as refused:
            admin.locks.acquire("ledger")
        assert refused.value.data["holder"] == "killed", "its lease lasts, though it is dead"
        pass_time(server, 31)
        last = agents.enter_context(holder(server, keys["last"], ledger))
        assert says(last) == "holds 3"
        assert writes(last, "third") == "wrote"
        assert writes(paused, "still from the past").startswith("refused")
    sys.path.insert(0, str(EXAMPLE))
    try:
        from ledger import Ledger
    finally:
        sys.path.remove(str(EXAMPLE))
    assert Ledger(ledger).entries() == [(1, "first"), (2, "second"), (3, "third")]
