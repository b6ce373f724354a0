"""Queues on Amazon SQS: standard ones, which deliver at least once and in no order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from slate.domain.errors import Unavailable
from slate.ports.queue import MAX_DELAY_SECONDS, Message

_BUSY = frozenset({"RequestThrottled", "ThrottlingException", "ServiceUnavailable", "InternalError", "RequestTimeout"})


class SqsClient(Protocol):
    """What is asked of a client of SQS."""

    def send_message(self, *, QueueUrl: str, MessageBody: str, DelaySeconds: int) -> Any:  # noqa: N803  # SQS's names
        """Send one message."""
        ...


class SqsQueue:
    """One queue, by its address."""

    def __init__(self, client: Callable[[], SqsClient], url: str) -> None:
        self._client = client
        self._url = url

    def send(self, message: Message, *, delay_seconds: int = 0) -> None:
        """One SendMessage."""
        if not 0 <= delay_seconds <= MAX_DELAY_SECONDS:
            raise ValueError(f"a message is held back 0 to {MAX_DELAY_SECONDS} seconds, not {delay_seconds}")
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        try:
            self._client().send_message(QueueUrl=self._url, MessageBody=body, DelaySeconds=delay_seconds)
        except ClientError as error:
            if error.response["Error"]["Code"] in _BUSY:
                raise Unavailable("the queue is busy; repeat the call") from error
            raise
        except BotoCoreError as error:
            raise Unavailable("the queue did not answer; repeat the call") from error


class SqsQueues:
    """The queues that a function may send to, by name."""

    def __init__(self, client: Callable[[], SqsClient], urls: Mapping[str, str]) -> None:
        self._client = client
        self._urls = urls

    def __call__(self, name: str) -> SqsQueue:
        """The queue by this name; one whose address is not set refuses when it is first used."""
        return SqsQueue(self._client, self._urls[name])
