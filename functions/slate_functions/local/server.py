"""``slate serve``: a whole Slate on 127.0.0.1."""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn

from slate.settings import ENV_PREFIX, Settings
from slate_functions.local.service import LOCAL, LocalService, open_service

HOST: Final = "127.0.0.1"


_FROM_ENVIRONMENT: Final = ("SLATE_OIDC_", "SLATE_KEY_CALLS_PER_SECOND", "SLATE_KEY_BURST", "SLATE_SIGNING_KEY_FILE")
"""What of a laptop's settings the environment may say: how callers are recognised, how often they may call, by which
key receipts are signed."""


def local_settings(environ: Mapping[str, str], **given: str) -> Settings:
    """A laptop's own settings, with what the environment and then ``given`` say differently.

    Raises:
        ValueError: they are wrong, or contradict each other.
    """
    taken = {name: value for name, value in environ.items() if name.startswith(_FROM_ENVIRONMENT)}
    named = {ENV_PREFIX + name.upper(): value for name, value in given.items() if value}
    return Settings.from_env({**LOCAL.to_env(), **taken, **named})


def serve(*, port: int, write_keys: Path | None, manual_clock: bool, settings: Settings = LOCAL) -> None:
    """Serve until SIGTERM or SIGINT; port 0 takes a free one.

    ``write_keys`` is written, whole or not at all, once requests are answered; only its owner may read it.

    Raises:
        OSError: the port is taken, or the file cannot be written.
        ValueError: there is no such embedder here, or no OpenSearch node where it was said to be.
    """
    with _listening(port) as listener, open_service(manual=manual_clock, settings=settings) as service:
        url = f"http://{HOST}:{listener.getsockname()[1]}"

        def ready() -> None:
            if write_keys is not None:
                write_private(write_keys, {"url": url, "keys": service.keys})
            _greet(url, service, write_keys, manual_clock=manual_clock)

        config = uvicorn.Config(
            service.gateway,
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            # What is still running then is given up: the data goes anyway.
            timeout_graceful_shutdown=1,
        )
        _Server(config, ready).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Says when it is ready, and ends as a function ends: uvicorn would raise the signal again, and end the process."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        def stop(number: int, frame: FrameType | None) -> None:
            self.handle_exit(number, frame)

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def write_private(path: Path, content: object) -> None:
    """Write JSON so that a reader sees all of it or none, and nobody but its owner sees it."""
    path = path.absolute()
    if not path.parent.is_dir():
        raise NotADirectoryError(f"{path.parent} is no folder; make it, or write the keys to another place")
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
        Path(draft).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(draft).unlink()
        raise


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    # The protocol is named because asyncio sends small answers at once only where it is: 40 ms an answer, measured.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        # A port whose last owner has just gone is free.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        yield listener


def _greet(url: str, service: LocalService, write_keys: Path | None, *, manual_clock: bool) -> None:
    lines = [
        f"Slate answers at {url} (its pages: {url}/docs)",
        "Its data lives in memory and is gone when it stops.",
    ]
    if issuer := service.slate.settings.oidc_issuer:
        lines.append(f"Tokens of {issuer} are taken, too.")
    if manual_clock:
        lines.append("Time stands still; POST /_local/clock moves it.")
    if write_keys is not None:
        lines.append(f"Keys are in {write_keys}.")
    else:
        lines += [f"Key of the tenant {tenant}: {key}" for tenant, key in service.keys.items()]
    print("\n".join(lines), flush=True)
