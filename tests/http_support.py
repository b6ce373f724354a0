"""Requests as API Gateway hands them to a function, and what an app makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from slate.domain.access import Principal, Scope
from slate.domain.errors import (
    Cycle,
    Invalid,
    MethodNotAllowed,
    RoleMissing,
    ScopeMissing,
    SlateError,
    VersionMismatch,
)
from slate.domain.fences import Intent
from slate.domain.tasks import TaskState
from slate_functions.http.app import App
from slate_functions.http.observing import Fault, Served

EVERY_SCOPE = frozenset(Scope)
ADMIN = Principal(tenant="acme", agent="admin", key_id="k-1", scopes=EVERY_SCOPE)


def freely(_: Intent, __: str | None = None) -> AbstractContextManager[None]:
    """An operation of an app that reaches nobody's data."""
    return nullcontext()


def gladly(_: Principal) -> None:
    """An app that lets everybody call as often as they like."""


@dataclass
class Watcher:
    """Keeps what an app tells."""

    requests: list[Served] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def served(self, served: Served) -> None:
        self.requests.append(served)

    def failed(self, fault: Fault) -> None:
        self.faults.append(fault)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def fields(self) -> list[str]:
        """The fields that a refusal lists."""
        return [error["field"] for error in self.json["errors"]]


def who(principal: Principal) -> dict[str, str]:
    """A principal as the authorizer hands it on."""
    return {
        "tenant": principal.tenant,
        "agent": principal.agent,
        "key_id": principal.key_id,
        "scopes": " ".join(sorted(principal.scopes)),
        "roles": " ".join(sorted(principal.roles)),
        "subject": principal.subject or "",
        "expires_at": "" if principal.expires_at is None else str(principal.expires_at),
    }


def event(
    method: str,
    path: str,
    body: Any = None,
    *,
    raw: str | None = None,
    query: str = "",
    headers: Mapping[str, str] | None = None,
    principal: Principal | None = ADMIN,
    request_id: str = "r-1",
) -> dict[str, Any]:
    context: dict[str, Any] = {
        "http": {"method": method, "path": path},
        "requestId": request_id,
        "stage": "$default",
    }
    if principal is not None:
        context["authorizer"] = {"lambda": who(principal)}
    made = {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": query,
        "headers": dict(headers or {}),
        "requestContext": context,
        "isBase64Encoded": False,
    }
    text = raw if body is None else json.dumps(body)
    return made if text is None else {**made, "body": text}


def ask(app: App, method: str, path: str, body: Any = None, **more: Any) -> Reply:
    answer = app(event(method, path, body, **more), None)
    json.dumps(answer)  # as Lambda would: it must be plain JSON
    return Reply(answer["statusCode"], answer["headers"], answer["body"])


_MADE_OTHERWISE = {
    ScopeMissing: lambda: ScopeMissing("admin"),
    RoleMissing: lambda: RoleMissing("a", ["b"]),
    Cycle: lambda: Cycle(["a", "b"]),
    VersionMismatch: lambda: VersionMismatch({"version": 2}),
    Invalid: lambda: Invalid.field("goal", "required"),
    MethodNotAllowed: lambda: MethodNotAllowed("not here", allowed=["GET"]),
}


def made(cls: type[SlateError]) -> SlateError:
    """An error of this class, as the service would raise it."""
    return _MADE_OTHERWISE[cls]() if cls in _MADE_OTHERWISE else cls("no", state=TaskState.DONE)
