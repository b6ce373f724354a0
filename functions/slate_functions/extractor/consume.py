"""Handles a batch of the queue one by one, each by itself: one that fails comes again, its neighbours do not."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Protocol

_log = logging.getLogger(__name__)


class Consuming(Protocol):
    """What consumes the messages."""

    def consume(self, message: Mapping[str, Any]) -> None:
        """Handle one; raising makes it come again."""
        ...


class Consumer:
    """The handler: answers which messages of the batch failed, and only these come again."""

    def __init__(self, consuming: Consuming) -> None:
        self._consuming = consuming

    def __call__(self, event: Mapping[str, Any], _: Any) -> dict[str, Any]:
        """Handle an event of SQS."""
        failed = [record["messageId"] for record in event["Records"] if not self._ended(record)]
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

    def _ended(self, record: Mapping[str, Any]) -> bool:
        try:
            self._consuming.consume(json.loads(record["body"]))
        except Exception as error:  # noqa: BLE001  # its neighbours are done; it comes again, then it is a dead letter
            # Its kind alone: what it says may hold what a caller sent.
            _log.error("message %s failed: %s", record["messageId"], type(error).__name__)
            return False
        return True
