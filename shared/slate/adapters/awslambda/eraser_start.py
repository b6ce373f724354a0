"""Starts the eraser's function without waiting for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

_log = logging.getLogger(__name__)


class LambdaEraserStart:
    """An asynchronous invocation; one that fails is made up for by the next scheduled run."""

    def __init__(self, client: Callable[[], Any], function: str) -> None:
        self._client = client
        self._function = function

    def __call__(self) -> None:
        """One call, whose answer comes before the run begins."""
        try:
            self._client().invoke(FunctionName=self._function, InvocationType="Event")
        except (BotoCoreError, ClientError) as error:
            _log.warning("the eraser was not started; its schedule does it: %s", type(error).__name__)
