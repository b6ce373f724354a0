"""Receivers of webhooks on this machine: they answer as they are told to, byte for byte."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

Answering = Callable[[socket.socket, Event], None]
"""Writes an answer to a connection; the event is set when the test has ended."""


@dataclass
class Request:
    head: list[str]
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Keeps what it received; ``answer`` may be changed at any time."""

    port: int
    answer: Answering
    requests: list[Request] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def serve(self, connection: socket.socket) -> None:
        # The sender cuts what is slow or endless: that must not end the receiver.
        with suppress(OSError), connection:
            connection.settimeout(5)
            self.requests.append(_read(connection))
            self.answer(connection, self.over)


def _read(connection: socket.socket) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        if not more:
            raise ConnectionResetError
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65_536)
    return Request(lines[:1], headers, body)


@contextmanager
def receiving(answer: Answering, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        receiver = Receiver(server.getsockname()[1], answer)
        thread = Thread(target=_accept, args=(server, receiver, tls), daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            receiver.over.set()
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


def _accept(server: socket.socket, receiver: Receiver, tls: ssl.SSLContext | None) -> None:
    def serve(connection: Any) -> None:
        with suppress(OSError):
            receiver.serve(tls.wrap_socket(connection, server_side=True) if tls else connection)

    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            Thread(target=serve, args=(connection,), daemon=True).start()


def status(code: int, *headers: str, body: bytes = b"") -> Answering:
    def answer(connection: socket.socket, _: Event) -> None:
        lines = [f"HTTP/1.1 {code} Said", f"Content-Length: {len(body)}", *headers]
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    return answer


def raw(*chunks: bytes) -> Answering:
    def answer(connection: socket.socket, _: Event) -> None:
        for chunk in chunks:
            connection.sendall(chunk)

    return answer


def silent(_: socket.socket, over: Event) -> None:
    """Takes the request and never answers."""
    over.wait()


def dripping(connection: socket.socket, over: Event) -> None:
    """Sends a byte of its head now and then: each receive succeeds, the answer never ends."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not over.wait(0.02):
        connection.sendall(b".")


def endless_head(connection: socket.socket, over: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.is_set():
        connection.sendall(b"X-More: " + b"x" * 1_000 + b"\r\n")


def endless_body(connection: socket.socket, over: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not over.is_set():
        connection.sendall(b"400\r\n" + b"x" * 0x400 + b"\r\n")
