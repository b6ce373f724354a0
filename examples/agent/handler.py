"""An agent that is started instead of asking: a rule on Slate's bus hands it `task.ready`, and it does one task.

The event says that there was work, with ids alone; what to do is claimed with the client, like any worker does. So an
event that comes twice, late, or beside another worker costs one claim that finds nothing.

As a Lambda it is told by its environment where Slate is, and which secret holds its key; it asks for the secret once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from pydantic import JsonValue

from slate.client import SlateClient
from slate.domain.tasks import Task

Act = Callable[[Task], JsonValue]


class Agent:
    """Does one task of the event's role, and hands in what came of it."""

    def __init__(self, client: Callable[[], SlateClient], act: Act) -> None:
        self._client = client
        self._act = act

    def __call__(self, event: Mapping[str, Any], _: Any) -> dict[str, Any]:
        """Handle an event as EventBridge hands it on; answer the task that was done, or none."""
        detail = event["detail"]
        with self._client() as client:
            claims = client.claim([detail["role"]], queue=detail["queue"])
            if not claims:
                return {"done": None}
            [claim] = claims
            try:
                result = self._act(claim.task)
            except Exception as error:
                # The task is tried again when it has rested; the fault is in this function's own log.
                client.fail(claim, f"the agent failed: {type(error).__name__}")
                raise
            client.complete(claim, action="did it when woken", result=result)
            return {"done": claim.task.task_id}


def count_words(task: Task) -> JsonValue:
    """The work itself, where a model's call would stand."""
    text = str((task.input or {}).get("text", "")) if isinstance(task.input, dict) else ""
    return {"words": len(text.split())}


@cache
def _key(secret_id: str) -> str:
    import boto3  # the runtime's own

    return str(boto3.client("secretsmanager").get_secret_value(SecretId=secret_id)["SecretString"])


def _connect() -> SlateClient:
    return SlateClient(os.environ["AGENT_SLATE_URL"], _key(os.environ["AGENT_KEY_SECRET"]))


handler = Agent(_connect, count_words)
