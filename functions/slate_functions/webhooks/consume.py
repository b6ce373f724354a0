"""Handles a batch of the webhooks' queue, side by side: one slow receiver holds up nobody else's delivery."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any, Protocol

_log = logging.getLogger(__name__)


class Delivering(Protocol):
    """What consumes the messages."""

    def consume(self, message: Mapping[str, Any]) -> None:
        """Handle one; raising makes it come again."""
        ...


class Consumer:
    """The handler: answers which messages of the batch failed, and only these come again."""

    def __init__(self, delivering: Delivering, executor: Executor) -> None:
        self._delivering = delivering
        self._executor = executor

    def __call__(self, event: Mapping[str, Any], _: Any) -> dict[str, Any]:
        """Handle an event of SQS."""
        records = event["Records"]
        ended = list(self._executor.map(self._ended, records))
        failed = [record["messageId"] for record, well in zip(records, ended, strict=True) if not well]
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

    def _ended(self, record: Mapping[str, Any]) -> bool:
        try:
            self._delivering.consume(json.loads(record["body"]))
        except Exception as error:  # noqa: BLE001  # its neighbours are done; it comes again, then it is a dead letter
            # Its kind alone: what it says may hold what a caller sent.
            _log.error("message %s failed: %s", record["messageId"], type(error).__name__)
            return False
        return True
