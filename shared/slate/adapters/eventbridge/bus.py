"""Pushed events on an EventBridge bus, where a rule starts whoever they concern."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from slate.domain.errors import Internal, Unavailable
from slate.domain.events import FeedEntry
from slate.domain.pushed import SOURCE, PushedEvent

AT_ONCE: Final = 10
"""PutEvents takes no more entries."""
SENDS: Final = 5
_FIRST_PAUSE: Final = 0.05
_BUSY: Final = frozenset(
    {"InternalException", "InternalFailure", "ServiceUnavailable", "ThrottlingException", "RequestTimeout"}
)


class EventsClient(Protocol):
    """What is asked of a client of EventBridge."""

    def put_events(self, *, Entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:  # noqa: N803  # AWS's names
        """Put up to ten events."""
        ...


class EventBridgeBus:
    """Publishes to one bus: all of what it is given, or it raises."""

    def __init__(
        self, client: Callable[[], EventsClient], bus: str, rng: random.Random, sleep: Callable[[float], None]
    ) -> None:
        self._client = client
        self._bus = bus
        self._rng = rng
        self._sleep = sleep

    def publish(self, tenant: str, events: Sequence[FeedEntry]) -> None:
        """One PutEvents for ten events; what it says was not taken is sent again.

        Raises:
            Unavailable: some were not taken after several sends.
            Internal: the bus refuses one for what it is.
        """
        entries = [self._entry(event) for event in PushedEvent.of(tenant, events)]
        for start in range(0, len(entries), AT_ONCE):
            self._put(entries[start : start + AT_ONCE])

    def _entry(self, event: PushedEvent) -> Mapping[str, Any]:
        return {
            "EventBusName": self._bus,
            "Source": SOURCE,
            "DetailType": event.type,
            "Detail": event.model_dump_json(),
            "Time": event.at / 1000,
        }

    def _put(self, entries: Sequence[Mapping[str, Any]]) -> None:
        for attempt in range(SENDS):
            if attempt:
                self._sleep(self._rng.uniform(0, _FIRST_PAUSE * 2**attempt))
            entries = self._sent(entries)
            if not entries:
                return
        raise Unavailable("the event bus did not take all events; publish them again")

    def _sent(self, entries: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Those that were not taken."""
        try:
            answer = self._client().put_events(Entries=entries)
        except ClientError as error:
            if error.response["Error"]["Code"] in _BUSY:
                return entries
            raise
        except BotoCoreError:
            return entries
        told: Sequence[Mapping[str, Any]] = answer["Entries"]
        refused = {entry["ErrorCode"] for entry in told if "ErrorCode" in entry}
        if unknown := refused - _BUSY:
            raise Internal(f"the event bus refuses an event: {', '.join(sorted(unknown))}")
        return [entry for entry, result in zip(entries, told, strict=True) if "ErrorCode" in result]
