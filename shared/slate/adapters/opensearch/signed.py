"""Requests to a domain by botocore's own HTTP session, signed (SigV4) where credentials are given.

So no client library has to be carried: the newest one brings gRPC, 17 MB of it.
"""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import ConnectionError as NoConnection
from botocore.exceptions import HTTPClientError
from botocore.httpsession import URLLib3Session

from slate.adapters.opensearch.transport import NoAnswer


class BotocoreSender:
    """Sends to one endpoint; connections are kept and shared between threads."""

    def __init__(self, endpoint: str, region: str, credentials: Any = None, *, timeout_seconds: int) -> None:
        """``credentials`` are botocore's; none for a node of one's own machine.

        Raises:
            ValueError: the endpoint is no address.
        """
        if urlsplit(endpoint).scheme not in ("http", "https"):
            raise ValueError(f"an OpenSearch endpoint begins with https:// or http://, not as {endpoint!r} does")
        self._endpoint = endpoint.rstrip("/")
        self._host = urlsplit(endpoint).netloc
        self._auth = None if credentials is None else SigV4Auth(credentials, "es", region)
        # Head and body of a request are two packets: otherwise the second waits 40 ms for the first one's receipt.
        at_once = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
        self._session = URLLib3Session(
            timeout=timeout_seconds,
            max_pool_connections=16,
            socket_options=at_once,  # type: ignore[arg-type]  # the stubs say text; it is what a socket takes
        )

    def send(self, method: str, path: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """One request."""
        headers = {"Host": self._host, "Content-Type": content_type}
        request = AWSRequest(method, f"{self._endpoint}/{path}", headers=headers, data=body)
        if self._auth is not None:
            self._auth.add_auth(request)
        try:
            answer = self._session.send(request.prepare())
        except (HTTPClientError, NoConnection) as error:  # timed out, or broken off; never begun
            raise NoAnswer from error
        return int(answer.status_code), bytes(answer.content)
