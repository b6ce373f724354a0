"""Calls of a Slate in this process, through its gateway, its authorizer and its app."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from http_support import Reply
from slate_functions.local.gateway import Incoming
from slate_functions.local.service import LocalService


@dataclass(frozen=True)
class Api:
    """One key's view of the service."""

    service: LocalService
    key: str | None

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """The answer, whatever it is; the path is a URL's, query and all."""
        url = urlsplit(path)
        credential = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        content = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        answer = self.service.gateway.handle(
            Incoming(
                method=method,
                path=unquote(url.path),
                query=url.query,
                headers=[*credential.items(), *(headers or {}).items()],
                body=content,
            )
        )
        return Reply(answer.status, answer.headers, answer.body.decode())

    def get(self, path: str, expect: int = 200) -> Any:
        return self._expected("GET", path, None, expect)

    def post(self, path: str, body: Any = None, expect: int = 200, headers: Mapping[str, str] | None = None) -> Any:
        return self._expected("POST", path, body, expect, headers)

    def _expected(
        self, method: str, path: str, body: Any, expect: int, headers: Mapping[str, str] | None = None
    ) -> Any:
        reply = self.ask(method, path, body, headers=headers)
        assert reply.status == expect, f"{method} {path}: {reply.status}, not {expect}: {reply.text[:500]}"
        return reply.json if reply.text else None

    def with_key(self, *scopes: str, **more: Any) -> Api:
        """The same service with a new key."""
        made = self.post("/v1/keys", {"agent": "worker", "scopes": list(scopes), **more}, expect=201)
        return Api(self.service, made["key"])
