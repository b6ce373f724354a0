"""Reads a JSON document that an issuer publishes: over https, of a bounded size, within one deadline.

No redirect is followed and no proxy asked: where the issuer's keys are is said by whoever set the issuer. Without
https, this machine alone is asked: anybody on the way could put in keys of their own.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Final
from urllib.parse import urlsplit

Fetch = Callable[[str], Mapping[str, Any]]

MAX_BYTES: Final = 262_144
"""A set of keys has a few thousand."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class NotFetched(Exception):
    """There is no such document to be had now; the text says why, in words of ours alone."""


class HttpsFetch:
    """Asks by the standard library; certificates are verified."""

    def __init__(
        self, *, timeout_seconds: float, tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    ) -> None:
        self._timeout = timeout_seconds
        self._make_tls = tls
        self._tls: ssl.SSLContext | None = None
        self._lock = Lock()

    def __call__(self, url: str) -> Mapping[str, Any]:
        """One GET, in a thread that is left when time is up: a socket's own timeout begins anew with each byte.

        Raises:
            NotFetched: there was no whole answer in time, or not such a document in it.
        """
        connection, path = self._to(url)
        found: SimpleQueue[bytes | NotFetched] = SimpleQueue()
        Thread(target=lambda: found.put(_answered(connection, path)), name="slate-fetch", daemon=True).start()
        try:
            content = found.get(timeout=self._timeout)
        except Empty:
            _cut(connection)
            raise NotFetched(f"no whole answer within {self._timeout:g} s") from None
        if isinstance(content, NotFetched):
            raise content
        return _document(content)

    def _to(self, url: str) -> tuple[HTTPConnection, str]:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise NotFetched("its address is not a URL") from None
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if parts.scheme == "https" and host:
            return HTTPSConnection(host, port, timeout=self._timeout, context=self._context()), path
        if parts.scheme == "http" and host in _LOOPBACK:
            return HTTPConnection(host, port, timeout=self._timeout), path
        raise NotFetched("its address does not begin with https://")

    def _context(self) -> ssl.SSLContext:
        """Made at its first use: to read the certificates of authorities takes a while."""
        with self._lock:
            self._tls = self._tls or self._make_tls()
            return self._tls


def _answered(connection: HTTPConnection, path: str) -> bytes | NotFetched:
    """The body of a whole answer."""
    try:
        connection.request("GET", path, headers={"Accept": "application/json", "Accept-Encoding": "identity"})
        answer = connection.getresponse()
        if answer.status != HTTPStatus.OK:
            return NotFetched(f"the answer is {answer.status}")
        return answer.read(MAX_BYTES + 1)
    except (OSError, HTTPException, ValueError) as error:
        # Its kind alone: a message may quote the address.
        return NotFetched(f"no whole answer: {type(error).__name__}")
    finally:
        connection.close()


def _cut(connection: HTTPConnection) -> None:
    """Whoever still waits for the other side is told that it has ended."""
    channel = connection.sock
    if channel is not None:
        with suppress(OSError):
            channel.shutdown(socket.SHUT_RDWR)


def _document(content: bytes) -> Mapping[str, Any]:
    if len(content) > MAX_BYTES:
        raise NotFetched(f"the document is over {MAX_BYTES:,} bytes")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise NotFetched("the document is not JSON, or not whole") from None
    if not isinstance(document, dict):
        raise NotFetched("the document is not a JSON object")
    return document
