"""The processes of the demo: a server and its workers. Whatever happens, none of them outlives the ``with``."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

HERE = Path(__file__).parent
_START_SECONDS = 30
_STOP_SECONDS = 5
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ProcessDied(Exception):
    """A process that the demo needs ended by itself; the message carries the end of its log."""


class Fleet:
    """Starts processes, each in a session of its own: so Ctrl-C reaches the demo alone, which ends them in order."""

    def __init__(self) -> None:
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
        """Start a worker process."""
        command = [str(HERE / "worker.py"), "--roles", ",".join(roles), "--pace", str(pace)]
        self._start(name, command, {"SLATE_URL": url, "SLATE_KEY": key})

    def set_up_agent(self, name: str, role: str, *, url: str, key: str, subscribe: Callable[[str], str]) -> None:
        """Start what is started by events; ``subscribe`` has them sent to an address, and answers the secret."""
        port = _free_port()
        secret = subscribe(f"http://127.0.0.1:{port}/")
        command = [str(HERE / "woken.py"), "--port", str(port), "--role", role]
        self._start(name, command, {"SLATE_URL": url, "SLATE_KEY": key, "WEBHOOK_SECRET": secret})
        deadline = time.monotonic() + _START_SECONDS
        while not _answers(port):
            self.check()
            if time.monotonic() > deadline:
                raise ProcessDied(f"{name} was not ready within {_START_SECONDS} seconds\n{self._log_of(name)}")
            time.sleep(0.05)

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
                stdout=log,
                stderr=log,
                env={**os.environ, **env},
                text=True,
                start_new_session=True,
            )
        return process

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
    if process.stdin is not None:
        process.stdin.close()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
