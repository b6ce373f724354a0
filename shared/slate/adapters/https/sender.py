"""Sends a POST to an address that a caller named, and trusts neither the address nor who answers there.

The host is resolved once, every number it resolves to is judged, and the connection goes to a number that was judged:
a name that resolves otherwise a moment later changes nothing. One deadline holds for all of it, from the name to the
answer's head; the answer's body is not read, a redirect is an answer like any other.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Final

from slate.domain.addresses import BadTarget, IpAddress, Target, refusal, target_of
from slate.ports.webhooks import Answer

Resolve = Callable[[str, int], Sequence[str]]
"""The numbers of a host, as text."""

MAX_HEAD: Final = 16_384
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r]")
_RETRY_AFTER: Final = re.compile(rb"\r\nretry-after:[ \t]*([0-9]{1,6})[ \t]*\r\n", re.IGNORECASE)
_CONTINUES: Final = range(100, 200)


class _Failed(Exception):  # stays within this file
    """There was no answer; the text says why, in words of ours alone."""


def resolve(host: str, port: int) -> Sequence[str]:
    """Ask the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class HttpsSender:
    """Sends by the standard library's sockets and TLS; certificates are verified."""

    def __init__(
        self,
        *,
        timeout_seconds: float,
        loopback: bool,
        resolve: Resolve = resolve,
        tls: ssl.SSLContext | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout = timeout_seconds
        self._loopback = loopback
        self._resolve = resolve
        self._tls = tls
        self._lock = Lock()
        self._monotonic = monotonic

    def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Resolve, judge, connect, send, read the head of the answer, close."""
        ends = self._monotonic() + self._timeout
        try:
            target = target_of(url, loopback=self._loopback)
            addresses = self._judged(target, ends)
            with closing(self._connected(target, addresses, ends)) as connection:
                return self._exchanged(connection, _request(target, headers, body), ends)
        except (BadTarget, _Failed) as failed:
            return Answer(error=str(failed))
        except TimeoutError:
            return Answer(error=f"no answer within {self._timeout:g} s")
        except ssl.SSLCertVerificationError as error:
            return Answer(error=f"its certificate is not valid: {error.verify_message}")
        except ssl.SSLError as error:
            return Answer(error=f"no TLS connection: {(error.reason or 'closed').lower().replace('_', ' ')}")
        except OSError as error:
            return Answer(error=f"no connection: {type(error).__name__}")

    def _judged(self, target: Target, ends: float) -> Sequence[IpAddress]:
        """Every number of the host, if all may be connected to."""
        addresses = [ip_address(text) for text in self._resolved(target, ends)]
        for address in addresses:
            if (why := refusal(address, loopback=self._loopback)) is not None:
                raise _Failed(f"not sent: the host resolves to an address that is {why}")
            if not target.https and not address.is_loopback:
                raise _Failed("not sent: without https only this machine is reached")
        return addresses

    def _resolved(self, target: Target, ends: float) -> Sequence[str]:
        """Numbers of the host; the resolver knows no deadline, so that it is asked in a thread that may be left."""
        found: SimpleQueue[Sequence[str] | None] = SimpleQueue()

        def ask() -> None:
            try:
                found.put(self._resolve(target.host, target.port))
            except (OSError, UnicodeError):
                found.put(None)

        Thread(target=ask, name="slate-resolve", daemon=True).start()
        try:
            addresses = found.get(timeout=self._left(ends))
        except Empty:
            raise _Failed("the host's name was not resolved in time") from None
        if not addresses:
            raise _Failed("the host's name does not resolve")
        return addresses

    def _connected(self, target: Target, addresses: Sequence[IpAddress], ends: float) -> socket.socket:
        for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            try:
                # An address that does not answer leaves time for those after it.
                connection = socket.create_connection((str(address), target.port), self._left(ends) / left)
                break
            except OSError:
                if left == 1:
                    raise
        if not target.https:
            return connection
        try:
            connection.settimeout(self._left(ends))
            return self._context().wrap_socket(connection, server_hostname=target.host)
        except BaseException:
            connection.close()
            raise

    def _context(self) -> ssl.SSLContext:
        """Made at its first use: to read the certificates of authorities takes a while, and few functions send."""
        with self._lock:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            return self._tls

    def _exchanged(self, connection: socket.socket, request: bytes, ends: float) -> Answer:
        connection.settimeout(self._left(ends))
        connection.sendall(request)
        head = b""
        while True:
            end = head.find(b"\r\n\r\n")
            if end >= 0:
                answer = _answer(head[: end + 2])
                if answer.status not in _CONTINUES:
                    return answer
                head = head[end + 4 :]
                continue
            if len(head) > MAX_HEAD:
                raise _Failed(f"the head of the answer is over {MAX_HEAD} bytes")
            connection.settimeout(self._left(ends))
            more = connection.recv(4_096)
            if not more:
                raise _Failed("the connection was closed before an answer")
            head += more

    def _left(self, ends: float) -> float:
        left = ends - self._monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def _request(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [
        f"POST {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        *(f"{name}: {value}" for name, value in headers.items()),
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


def _answer(head: bytes) -> Answer:
    status = _STATUS.match(head)
    if status is None:
        raise _Failed("the answer is not HTTP")
    pause = _RETRY_AFTER.search(head)
    return Answer(status=int(status[1]), retry_after=None if pause is None else int(pause[1]))
