"""``slate serve`` as a process of its own: ready when it says so, gone when it is told."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

COMMAND = [sys.executable, "-m", "slate_functions.local.cli", "serve"]


class Server:
    def __init__(self, folder: Path, *options: str) -> None:
        self.file = folder / "keys.json"
        self.process = subprocess.Popen(  # noqa: S603  # our own command
            [*COMMAND, "--port", "0", "--write-keys", str(self.file), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        deadline = time.monotonic() + 60
        while not self.file.exists():
            assert self.process.poll() is None, self.process.stdout.read()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        written = json.loads(self.file.read_text())
        self.url, self.keys = written["url"], written["keys"]

    def client(self, tenant: str = "acme") -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.keys[tenant]}"}
        return httpx.Client(base_url=self.url, headers=headers, trust_env=False, timeout=30)

    def stop(self, number: int = signal.SIGTERM) -> float:
        started = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(20)
        return time.monotonic() - started


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"), "--manual-clock")
    yield server
    server.stop()


def test_it_answers_as_soon_as_its_keys_are_there(server):
    with server.client() as client:
        assert client.get("/v1/graphs").status_code == 200
    with server.client("globex") as client:
        assert client.get("/v1/graphs").status_code == 200


def test_its_keys_are_for_their_owner_alone(server):
    assert stat.S_IMODE(server.file.stat().st_mode) == 0o600
    assert list(server.file.parent.iterdir()) == [server.file]


@pytest.mark.parametrize("size", [1_100_000, 7_000_000, 20_000_000])
def test_a_body_of_any_size_is_answered_with_a_problem(server, size):
    with server.client() as client:
        reply = client.post("/v1/graphs", content=b'{"goal": "' + b"x" * size + b'"}')
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
    assert reply.headers["content-type"] == "application/problem+json"


def test_small_answers_come_without_delay(server):
    with server.client() as client:
        client.get("/v1/health")
        started = time.perf_counter()
        for _ in range(20):
            client.get("/v1/health")
    # With small packets held back each would take 40 ms.
    assert time.perf_counter() - started < 20 * 0.03


def test_32_callers_at_once_each_get_their_own_answer(server):
    with server.client() as client:
        for i in range(32):
            body = {"graph_id": f"own-{i}", "goal": f"goal {i}", "tasks": [{"task_id": "t", "title": "t", "role": "r"}]}
            assert client.post("/v1/graphs", json=body).status_code == 201

    def look(i: int) -> list[tuple[str, str]]:
        with server.client() as client:
            answers = [client.get(f"/v1/graphs/own-{i}").json() for _ in range(10)]
        return [(answer["graph_id"], answer["goal"]) for answer in answers]

    with ThreadPoolExecutor(32) as pool:
        for i, seen in enumerate(pool.map(look, range(32))):
            assert seen == [(f"own-{i}", f"goal {i}")] * 10


def test_head_has_no_body_on_the_wire(server):
    with server.client() as client:
        assert client.head("/v1/health").content == b""
        assert client.get("/v1/health").status_code == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_within_a_second_when_told_also_with_callers_connected(tmp_path, number):
    server = Server(tmp_path)
    with server.client() as client:
        client.get("/v1/health")
        took = server.stop(number)
    assert server.process.returncode == 0
    # A second is the promise; the rest is what a busy machine may take to schedule it.
    assert took < 3
    said = server.process.stdout.read()
    assert "lives in memory" in said
    assert server.url in said
    assert "Traceback" not in said
    assert all(key not in said for key in server.keys.values())


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [*COMMAND, "--port", str(taken.getsockname()[1]), "--write-keys", str(tmp_path / "keys.json")]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert run.returncode == 1
    assert "Address already in use" in run.stderr
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "keys.json").exists()
