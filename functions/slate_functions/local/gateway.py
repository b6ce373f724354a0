"""API Gateway and Lambda for one machine: ASGI in front, events of payload format 2.0 behind.

What passes is passed as AWS passes it: events and answers travel as JSON text, the authorizer is asked first, and its
answer reaches the function as texts. Where AWS speaks in words of its own (401, 413, 500), the gateway answers with
the problem that the API documents.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Final

from slate.contract.problems import MEDIA_TYPE
from slate.domain.errors import Internal, SlateError, TooLarge, Unauthenticated
from slate_functions.authorizer.authorize import Authorizer, Unauthorized
from slate_functions.http.app import App
from slate_functions.http.observing import Fault
from slate_functions.http.problems import problem

MAX_PAYLOAD_BYTES: Final = 6_000_000
"""What a Lambda takes; the apps themselves take less."""
MAX_DISCARDED_BYTES: Final = 64_000_000
"""Of a body over that, so much is still read: a sender that is cut off does not get to see the answer."""
TIMEOUT_SECONDS: Final = 29

Headers = list[tuple[bytes, bytes]]
_Message = MutableMapping[str, Any]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A request, as it came."""

    method: str
    path: str
    """Decoded."""
    query: str = ""
    """As it stands in the URL."""
    headers: Iterable[tuple[str, str]] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """What a function is told of its invocation."""

    aws_request_id: str
    function_name: str = "local"
    memory_limit_in_mb: int = 1_024
    invoked_function_arn: str = "arn:aws:lambda:local:000000000000:function:local"
    started: float = field(default_factory=time.monotonic)

    def get_remaining_time_in_millis(self) -> int:
        """Until API Gateway would give up."""
        return max(0, round((self.started + TIMEOUT_SECONDS - time.monotonic()) * 1000))


class Gateway:
    """Answers requests by an app: ``handle`` in the caller's thread, or as an ASGI application in an executor's.

    Routes that may wait have threads of their own, as they have a function of their own on AWS.
    """

    def __init__(self, app: App, authorizer: Authorizer, executor: Executor, waiting: Executor) -> None:
        self._app = app
        self._authorizer = authorizer
        self._executor = executor
        self._waiting = waiting

    def handle(self, request: Incoming) -> Outgoing:
        """Ask the authorizer where the route is not public, then the app."""
        request_id = uuid.uuid4().hex
        try:
            return self._passed_on(request, request_id)
        except Unauthorized as refused:
            return _refusal(Unauthenticated(refused.why), request_id)
        except SlateError as error:
            return _refusal(error, request_id)
        except Exception as error:  # noqa: BLE001  # what AWS answers with 500 whatever a function raises
            # Without its message, which may quote what the caller sent.
            _log.error("the gateway met a fault: %s", Fault.of(error, request_id, "gateway"))
            return _refusal(Internal(f"something went wrong; quote the request id {request_id}"), request_id)

    def _passed_on(self, request: Incoming, request_id: str) -> Outgoing:
        if len(request.body) > MAX_PAYLOAD_BYTES:
            raise TooLarge(f"the body has over {MAX_PAYLOAD_BYTES:,} bytes; send it in parts", limit=MAX_PAYLOAD_BYTES)
        event = _event(request, request_id)
        if not self._app.is_public(request.method, request.path):
            event["requestContext"]["authorizer"] = {"lambda": self._who(event)}
        return _outgoing(_as_json(self._app(_as_json(event), LambdaContext(request_id))))

    def _who(self, event: dict[str, Any]) -> dict[str, str]:
        context: dict[str, str] = _as_json(self._authorizer(_as_json(event)))["context"]
        return context

    async def __call__(
        self,
        scope: _Message,
        receive: Callable[[], Awaitable[_Message]],
        send: Callable[[_Message], Awaitable[None]],
    ) -> None:
        """Serve one request as an ASGI application."""
        if scope["type"] != "http":
            raise RuntimeError(f"only HTTP is served, not {scope['type']}")
        body = await _body(receive)
        if body is None:
            return
        request = Incoming(
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"].decode("latin-1"),
            headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
            body=body,
        )
        executor = self._waiting if self._app.may_wait(request.method, request.path) else self._executor
        answer = await asyncio.get_running_loop().run_in_executor(executor, self.handle, request)
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
        if request.method != "HEAD":
            headers.append((b"content-length", str(len(answer.body)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})


async def _body(receive: Callable[[], Awaitable[_Message]]) -> bytes | None:
    """The body, or the part of it that shows it to be too large; None where the caller has gone."""
    kept, size, more = bytearray(), 0, True
    while more and size <= MAX_DISCARDED_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk = message.get("body", b"")
        size += len(chunk)
        if len(kept) <= MAX_PAYLOAD_BYTES:
            kept += chunk
        more = message.get("more_body", False)
    return bytes(kept)


def _event(request: Incoming, request_id: str) -> dict[str, Any]:
    headers: dict[str, str] = {}
    for name, value in request.headers:
        known = headers.get(name.lower())
        headers[name.lower()] = value if known is None else f"{known},{value}"
    now = time.time()
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": headers.get("host", "localhost"),
            "http": {
                "method": request.method,
                "path": request.path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": request_id,
            "routeKey": "$default",
            "stage": "$default",
            "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
            "timeEpoch": int(now * 1000),
        },
        "isBase64Encoded": False,
    }
    if request.body:
        try:
            event["body"] = request.body.decode()
        except UnicodeDecodeError:
            event["body"], event["isBase64Encoded"] = base64.b64encode(request.body).decode(), True
    return event


def _as_json(value: Any) -> Any:
    """As it arrives on the other side: nothing that JSON cannot carry, and nothing shared."""
    return json.loads(json.dumps(value))


def _outgoing(answer: dict[str, Any]) -> Outgoing:
    body = answer.get("body") or ""
    content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
    return Outgoing(answer["statusCode"], answer.get("headers", {}), content)


def _refusal(error: SlateError, request_id: str) -> Outgoing:
    response = problem(error, request_id)
    headers = {"Content-Type": MEDIA_TYPE, **{name: str(value) for name, value in response.headers.items()}}
    return Outgoing(response.status_code, headers, (response.body or "").encode())
