"""A server of prepared answers, and the bodies that a real one sends."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from typing import Any

import httpx

from slate.client import Retries, SlateClient
from slate.client.credentials import Credential
from slate.contract.problems import STATUS
from slate.domain.leases import Claim

AT = "2026-11-30T12:00:00.000Z"


def answer(body: Any = None, status: int = 200, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.Response(status, json={} if body is None else body, headers=headers)


def problem(code: str, detail: str, *, retryable: bool = False, **data: Any) -> httpx.Response:
    body = {**data, "code": code, "detail": detail, "retryable": retryable, "request_id": "r-1", "title": "no"}
    return httpx.Response(STATUS[code], json=body, headers={"Content-Type": "application/problem+json"})


def graph_json(graph_id: str, **more: Any) -> dict[str, Any]:
    head = {"graph_id": graph_id, "goal": "test", "state": "ACTIVE", "version": 1, "created_at": AT, "updated_at": AT}
    return {**head, "counts": {}, **more}


def task_json(task_id: str, **more: Any) -> dict[str, Any]:
    spec = {"task_id": task_id, "title": task_id, "role": "writer", "graph_id": "g", "queue": "default"}
    return {**spec, "state": "RUNNING", "created_at": AT, "updated_at": AT, "version": 1, **more}


def claim_json(task_id: str = "t", **more: Any) -> dict[str, Any]:
    return {"task": task_json(task_id, **more), "token": f"token-{task_id}", "epoch": 1, "lease_until": AT}


def claims(*task_ids: str) -> dict[str, Any]:
    return {"claims": [claim_json(task_id) for task_id in task_ids]}


CLAIM = Claim.model_validate(claim_json())


class Stub:
    """Answers in order: a response, a bare status, or an exception to raise; keeps what was asked and slept."""

    def __init__(self, answers: Iterable[httpx.Response | int | Exception]) -> None:
        self._answers = iter(answers)
        self.requests: list[httpx.Request] = []
        self.slept: list[float] = []

    def client(
        self,
        url: str = "https://slate.example.com",
        key: Credential = "slate_acme.k.s",
        retries: Retries | None = None,
        jitter: Callable[[], float] = lambda: 0.5,
    ) -> SlateClient:
        ids = itertools.count(1)
        return SlateClient(
            url,
            key,
            transport=httpx.MockTransport(self._answer),
            retries=retries,
            sleep=self.slept.append,
            jitter=jitter,
            new_id=lambda: f"id-{next(ids)}",
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        # As it is sent: the client goes on with the same one.
        self.requests.append(
            httpx.Request(
                request.method,
                request.url,
                headers=request.headers.copy(),
                content=request.content,
                extensions=request.extensions,
            )
        )
        reply = next(self._answers)
        if isinstance(reply, Exception):
            raise reply
        return answer(status=reply) if isinstance(reply, int) else reply

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def client_over(server: Callable[[httpx.Request], httpx.Response]) -> SlateClient:
    """A client of a server that is a function, without rests."""
    transport = httpx.MockTransport(server)
    return SlateClient("https://slate.example.com", "slate_acme.k.s", transport=transport, sleep=lambda _: None)
