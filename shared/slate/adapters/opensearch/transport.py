"""Calls of an OpenSearch domain.

What is busy (429, 503, 502, 504) or does not answer is asked again, later each time and spread; then it is
unavailable, and after several such calls it is not asked for a while.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from slate.adapters.opensearch.breaker import Breaker
from slate.domain.errors import Internal, Unavailable

TRIES: Final = 3
_FIRST_PAUSE: Final = 0.05
_BUSY: Final = frozenset({429, 502, 503, 504})
_MISSING: Final = 404
_WRONG: Final = 400

Lines = Sequence[dict[str, Any]]


class NoAnswer(Exception):  # stays within this package
    """The domain could not be reached, or did not answer in time."""


class Sender(Protocol):
    """Sends one request."""

    def send(self, method: str, path: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """The status and the body of the answer.

        Raises:
            NoAnswer: there was none.
        """
        ...


class Transport:
    """Asks, patiently but not for long."""

    def __init__(self, sender: Sender, breaker: Breaker, rng: random.Random, sleep: Callable[[float], None]) -> None:
        self._sender = sender
        self._breaker = breaker
        self._rng = rng
        self._sleep = sleep

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
        """The answer; None where there is nothing of that name.

        Raises:
            Unavailable: the domain is busy, or does not answer.
            Internal: it refuses what it is asked.
        """
        content = b"" if body is None else json.dumps(body).encode()
        return self._asked(method, path, content, "application/json")

    def ask_all(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
        """What every shard that is up answers to; None where there is no index.

        Raises:
            Unavailable: a shard did not do it, too: part of the truth is none.
            Internal: as in ``ask``.
        """
        answer = self.ask(method, path, body)
        if answer is not None and answer["_shards"]["failed"]:
            raise Unavailable("a part of the index did not answer; repeat the call")
        return answer

    def ask_lines(self, path: str, lines: Lines) -> dict[str, Any]:
        """The answer to many things at once, a line each.

        Raises:
            Unavailable, Internal: as in ``ask``.
        """
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        answer = self._asked("POST", path, content, "application/x-ndjson")
        if answer is None:
            raise Unavailable("the index is not there (yet); it is made by `slate reindex`")
        return answer

    def pause(self, attempt: int) -> None:
        """Rest before another try."""
        self._sleep(self._rng.uniform(0, _FIRST_PAUSE * 2.0**attempt))

    def _asked(self, method: str, path: str, content: bytes, content_type: str) -> dict[str, Any] | None:
        for attempt in range(TRIES):
            if not self._breaker.lets_through():
                break
            try:
                status, body = self._sender.send(method, path, content, content_type)
            except NoAnswer:
                self._breaker.failed()
            else:
                if status not in _BUSY:
                    self._breaker.succeeded()
                    return _read(status, body)
                self._breaker.failed()
            if attempt + 1 < TRIES:
                self.pause(attempt)
        raise Unavailable("the index does not answer; repeat the call")


def _read(status: int, body: bytes) -> dict[str, Any] | None:
    if status == _MISSING:
        return None
    try:
        answer: Any = json.loads(body or b"{}")
    except ValueError:
        raise Internal("the index answered what is no JSON") from None
    if status >= _WRONG or not isinstance(answer, dict):
        # Its kind alone: its reason may quote what was asked.
        kind = answer.get("error", {}).get("type") if isinstance(answer, dict) else None
        raise Internal(f"the index refused a request: {status} {kind or ''}".strip())
    return answer
