"""The API that Lambda's runtime client asks for events and tells answers, served to one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, Final

from slate.settings import Settings

VERSION: Final = "/2018-06-01/runtime"
ARN: Final = "arn:aws:lambda:eu-central-1:123456789012:function:slate"
SECONDS: Final = 60
"""A busy machine imports slowly."""


class Failed(Exception):
    """The function answered with an error, or did not start; what the runtime client said of it."""


@dataclass
class Runtime:
    """A function that runs: give it an event, get its answer."""

    process: subprocess.Popen[bytes]
    credential: Path
    log: Path
    events: Queue[bytes] = field(default_factory=Queue)
    answers: Queue[tuple[str, bytes]] = field(default_factory=Queue)

    def invoke(self, event: Any) -> Any:
        """One invocation.

        Raises:
            Failed: it ended with an error.
        """
        self.events.put(json.dumps(event).encode())
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            try:
                kind, body = self.answers.get(timeout=0.2)
            except Empty:
                if self.process.poll() is not None:
                    break
                continue
            if kind != "response":
                raise Failed(body.decode())
            return json.loads(body)
        raise Failed(f"no answer; the process said: {self.log.read_text()[-2000:]}")

    @property
    def key(self) -> str:
        """A credential of the tenant acme, known once the function has answered."""
        return str(json.loads(self.credential.read_text()))


@contextmanager
def running(function: str, **settings: str) -> Iterator[Runtime]:
    """Start a function's handler under the runtime client, with its environment and no other."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.daemon_threads = True
        environ = {
            **Settings(**settings).to_env(),  # type: ignore[arg-type]
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{server.server_port}",
            "AWS_LAMBDA_FUNCTION_NAME": function,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_EC2_METADATA_DISABLED": "true",
            "CREDENTIAL_FILE": str(place / "key.json"),
        }
        command = [sys.executable, "-m", "lambda_runtime.launch", f"slate_functions.{function}.handler.handler"]
        log = place / "log"
        with log.open("wb") as out, subprocess.Popen(command, env=environ, stdout=out, stderr=out) as process:  # noqa: S603
            runtime = Runtime(process, place / "key.json", log)
            server.runtime = runtime  # type: ignore[attr-defined]
            Thread(target=server.serve_forever, daemon=True).start()
            try:
                yield runtime
            finally:
                process.terminate()
                server.shutdown()
                server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Hands out the next event, and takes what came of it."""

    protocol_version = "HTTP/1.1"

    @property
    def _runtime(self) -> Runtime:
        return self.server.runtime  # type: ignore[attr-defined, no-any-return]

    def do_GET(self) -> None:  # the name that http.server calls
        assert self.path == f"{VERSION}/invocation/next"
        body = self._runtime.events.get()
        self._answer(
            200,
            body,
            {
                "Lambda-Runtime-Aws-Request-Id": "8476a536-e9f4-11e8-9739-2dfe598c3fcd",
                "Lambda-Runtime-Deadline-Ms": str(round(time.time() * 1000) + 29_000),
                "Lambda-Runtime-Invoked-Function-Arn": ARN,
                "Lambda-Runtime-Trace-Id": "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=0",
            },
        )

    def do_POST(self) -> None:  # as above
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._runtime.answers.put((self.path.rpartition("/")[2], body))
        self._answer(202, b"{}", {})

    def handle_one_request(self) -> None:
        """Until the function is gone, in the middle of a request as a rule."""
        with suppress(ConnectionError):
            super().handle_one_request()

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
