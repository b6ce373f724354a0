"""The processes of the demo: a server and its workers. Whatever happens, none of them outlives the ``with``."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

HERE = Path(__file__).parent
_START_SECONDS = 30
_STOP_SECONDS = 5
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ProcessDied(Exception):
    """A process that the demo needs ended by itself; the message carries the end of its log."""


@dataclass(frozen=True, slots=True)
class Event:
    """What a worker said: ``claimed`` or ``worked``."""

    worker: str
    event: str
    graph_id: str
    task_id: str
    epoch: int


class Fleet:
    """Starts processes, each in a session of its own: so Ctrl-C reaches the demo alone, which ends them in order."""

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._folder = tempfile.TemporaryDirectory(prefix="slate-demo-")
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Self:
        """Nothing is started yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them all, the workers first; another Ctrl-C does not interrupt this."""
        before = {signum: signal.signal(signum, signal.SIG_IGN) for signum in _ENDING}
        try:
            for process in reversed(self._processes.values()):
                _ask_to_end(process)
            deadline = time.monotonic() + _STOP_SECONDS
            for process in self._processes.values():
                _end(process, deadline)
            self._folder.cleanup()
        finally:
            for signum, handler in before.items():
                signal.signal(signum, handler)

    def serve(self) -> tuple[str, str]:
        """Start ``slate serve`` on a free port, and answer its url and a key of every scope."""
        keys = Path(self._folder.name) / "keys.json"
        command = ["-m", "slate_functions.local.cli", "serve", "--port", str(_free_port()), "--write-keys", str(keys)]
        self._start("server", command, {})
        deadline = time.monotonic() + _START_SECONDS
        while not keys.exists():
            self.check()
            if time.monotonic() > deadline:
                raise ProcessDied(f"the server was not ready within {_START_SECONDS} seconds\n{self._log_of('server')}")
            time.sleep(0.05)
        written = json.loads(keys.read_text(encoding="utf-8"))
        return written["url"], written["keys"]["acme"]

    def hire(self, name: str, roles: Sequence[str], *, url: str, key: str, pace: float) -> None:
        """Start a worker process; what it says comes in ``events``."""
        command = [str(HERE / "worker.py"), "--roles", ",".join(roles), "--pace", str(pace)]
        process = self._start(name, command, {"SLATE_URL": url, "SLATE_KEY": key})
        threading.Thread(target=self._listen, args=(name, process), daemon=True).start()

    def freeze(self, name: str) -> None:
        """Stop a process where it stands."""
        self._processes[name].send_signal(signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let it go on."""
        self._processes[name].send_signal(signal.SIGCONT)

    def kill(self, name: str) -> None:
        """End a process at once: it can neither finish nor say anything."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def check(self) -> None:
        """Raise when a process has ended by itself."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise ProcessDied(f"{name} ended with code {process.returncode}\n{self._log_of(name)}")

    def _start(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[str]:
        # An interruption between the start of a process and the note of it would leave it behind.
        with (Path(self._folder.name) / f"{name}.log").open("w", encoding="utf-8") as log, _uninterrupted():
            process = self._processes[name] = subprocess.Popen(  # noqa: S603  # our own files, by this very interpreter
                [sys.executable, *command],
                stdin=subprocess.PIPE,
                stdout=log if name == "server" else subprocess.PIPE,
                stderr=log,
                env={**os.environ, **env},
                text=True,
                start_new_session=True,
            )
        return process

    def _listen(self, name: str, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            try:
                said = json.loads(line)
            except ValueError:
                continue  # the half line of a worker that was killed in the middle of it
            self.events.put(Event(worker=name, **said))

    def _log_of(self, name: str) -> str:
        return (Path(self._folder.name) / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-2_000:]


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """What asks the demo to end is heard when the block is over."""
    heard: list[int] = []
    before = {signum: signal.signal(signum, lambda signum, _: heard.append(signum)) for signum in _ENDING}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
        for signum in heard[:1]:
            signal.raise_signal(signum)


def _ask_to_end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.terminate()


def _end(process: subprocess.Popen[str], deadline: float) -> None:
    try:
        process.wait(max(deadline - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
