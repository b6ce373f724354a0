"""A fresh Slate in this process: the real handlers over moto, without a port, with its clock in the test's hands."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, Final, Self

import httpx

from slate.client import SlateClient
from slate.contract.access import CreateKey
from slate.domain.access import Scope
from slate.testing.meter import Cost, Meter
from slate_functions.local.gateway import Gateway, Incoming
from slate_functions.local.service import LocalService, open_service

URL: Final = "http://slate.test"
EVERY_SCOPE: Final = tuple(Scope)


class InProcessSlate:
    """A Slate that nobody else sees; everything of it is gone when the ``with`` ends."""

    service: LocalService

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Start it."""
        self.service = self._stack.enter_context(open_service(manual=True))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it, and forget all of it."""
        self._stack.close()

    def client(self, agent: str = "agent", *, tenant: str = "acme", **bounds: Any) -> SlateClient:
        """A client with a key of its own; ``bounds`` are ``scopes`` (all by default), ``roles`` and ``subject``."""
        key = self.key(agent, tenant=tenant, **bounds)
        return self._stack.enter_context(SlateClient(URL, key, transport=Transport(self.service.gateway)))

    def http(self, agent: str = "agent", *, tenant: str = "acme", **bounds: Any) -> httpx.Client:
        """The same as a plain HTTP client, for raw requests."""
        headers = {"Authorization": f"Bearer {self.key(agent, tenant=tenant, **bounds)}"}
        client = httpx.Client(base_url=URL, headers=headers, transport=Transport(self.service.gateway))
        return self._stack.enter_context(client)

    def key(
        self,
        agent: str = "agent",
        *,
        tenant: str = "acme",
        scopes: Sequence[Scope | str] = EVERY_SCOPE,
        roles: Sequence[str] = (),
        subject: str | None = None,
    ) -> str:
        """A credential for an agent of a tenant."""
        wanted = CreateKey(agent=agent, scopes=tuple(map(Scope, scopes)), roles=tuple(roles), subject=subject)
        return self.service.slate.access.issue(tenant, wanted, made_by="test").key

    def advance(self, seconds: float) -> int:
        """Move the clock, then do all that fell due; answer the new instant in milliseconds."""
        return self.service.advance(seconds)

    def drain(self) -> int:
        """Do all that is due now; answer how much that was."""
        return self.service.drain()

    def meter(self) -> AbstractContextManager[Cost]:
        """Count what the ``with`` costs: calls of DynamoDB, and the units that AWS would bill for them."""
        return Meter(self.service.local.dynamodb).measure()


class Transport(httpx.BaseTransport):
    """Hands requests to a gateway in this process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Serve one request in the caller's thread."""
        answer = self._gateway.handle(
            Incoming(
                method=request.method,
                path=request.url.path,
                query=request.url.query.decode("ascii"),
                headers=request.headers.items(),
                body=request.read(),
            )
        )
        return httpx.Response(answer.status, headers=answer.headers, content=answer.body)
