"""An event bus in this process: rules hand events to queues, in the very form that EventBridge hands them on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

from slate.domain.events import FeedEntry
from slate.domain.instants import format_instant
from slate.domain.pushed import PUSHED, SOURCE, PushedEvent
from slate.ports.queue import Message, Queue


@dataclass(frozen=True, slots=True)
class _Rule:
    types: frozenset[str]
    target: Queue


class InProcessEventBus:
    """Publishing only puts messages into queues: whoever is woken runs when its queue is delivered."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._rules: list[_Rule] = []
        self._lock = Lock()

    def add_rule(self, target: Queue, types: Collection[str] = PUSHED) -> None:
        """Hand every event of these types to a queue."""
        with self._lock:
            self._rules.append(_Rule(frozenset(types), target))

    def publish(self, tenant: str, events: Sequence[FeedEntry]) -> None:
        """A message for each event and each rule that it matches."""
        with self._lock:
            rules = list(self._rules)
        for event in PushedEvent.of(tenant, events):
            for rule in rules:
                if event.type in rule.types:
                    rule.target.send(self._enveloped(event))

    def _enveloped(self, event: PushedEvent) -> Message:
        return {
            "version": "0",
            "id": event.event_id,
            "detail-type": event.type,
            "source": SOURCE,
            "account": _ACCOUNT,
            "time": format_instant(event.at),
            "region": self._region,
            "resources": [],
            "detail": event.model_dump(mode="json"),
        }


_ACCOUNT: Final = "000000000000"
