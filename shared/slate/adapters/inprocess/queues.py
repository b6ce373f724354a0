"""Queues in this process, by the rules of SQS and the injected clock: the laptop's and a test's.

Delivered at least once, in no promised order: a message that is received is invisible for a time and deleted when its
consumer has ended; one whose consumer failed shows again when that time is over, and after so many receives it is a
dead letter. A consumer is the handler of the Lambda that consumes the queue on AWS, with SQS's own event and answer.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from slate.ports.clock import Clock
from slate.ports.ids import Ids
from slate.ports.queue import MAX_DELAY_SECONDS, Message

Handler = Callable[[Mapping[str, Any], Any], Mapping[str, Any] | None]
"""Takes an event of SQS; answers ``batchItemFailures`` with those of its messages that failed, or raises for all."""
Lane = Callable[[Mapping[str, Any]], str]
"""Says of a message for whom it is: who keeps a batch waiting keeps nobody else's."""

BATCH: Final = 10
VISIBILITY_SECONDS: Final = 60
MAX_RECEIVES: Final = 5

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Held:
    message_id: str
    body: str
    visible_at: int
    receives: int = 0


@dataclass(slots=True)
class _Consumer:
    handler: Handler
    batch: int
    visibility_ms: int
    max_receives: int
    lane: Lane

    def lane_of(self, held: _Held) -> str:
        return self.lane(json.loads(held.body))


@dataclass(slots=True)
class _Kept:
    held: dict[str, _Held] = field(default_factory=dict)
    dead: list[_Held] = field(default_factory=list)
    consumer: _Consumer | None = None
    busy: set[str] = field(default_factory=set)
    """Lanes of which a batch is being handled."""


class InProcessQueues:
    """Queues by name, each made at its first mention."""

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids
        self._kept: dict[str, _Kept] = {}
        self._lock = Lock()

    def __call__(self, name: str) -> InProcessQueue:
        """The queue by this name."""
        return InProcessQueue(self, name)

    def consume(
        self,
        name: str,
        handler: Handler,
        *,
        batch: int = BATCH,
        visibility_seconds: int = VISIBILITY_SECONDS,
        max_receives: int = MAX_RECEIVES,
        lane: Lane = lambda _: "",
    ) -> None:
        """Deliver this queue's messages to a handler, ``batch`` so many at once, at most ``max_receives`` times."""
        with self._lock:
            self._of(name).consumer = _Consumer(handler, batch, visibility_seconds * 1000, max_receives, lane)

    def put(self, name: str, message: Message, delay_seconds: int) -> None:
        """Keep a message until it is delivered."""
        if not 0 <= delay_seconds <= MAX_DELAY_SECONDS:
            raise ValueError(f"a message is held back 0 to {MAX_DELAY_SECONDS} seconds, not {delay_seconds}")
        held = _Held(self._ids.new(), json.dumps(message), self._clock.now() + delay_seconds * 1000)
        with self._lock:
            self._of(name).held[held.message_id] = held

    def consumed(self) -> list[str]:
        """The queues that have a consumer."""
        with self._lock:
            return [name for name, kept in self._kept.items() if kept.consumer is not None]

    def run_once(self, name: str | None = None) -> int:
        """Deliver one batch, of one queue or of each that has a consumer; answer how many messages that were."""
        return sum(self._deliver(each) for each in ([name] if name else self.consumed()))

    def next_of_lane(self, name: str) -> Callable[[], None] | None:
        """Receive one batch, of a lane of which none is being handled; answer what delivers it, None if there is none.

        So any number of threads may deliver, and a lane keeps one of them at most.
        """
        with self._lock:
            kept = self._of(name)
            consumer, now = kept.consumer, self._clock.now()
            if consumer is None:
                return None
            idle = [(consumer.lane_of(held), held) for held in self._visible(kept, now)]
            lane = next((lane for lane, _ in idle if lane not in kept.busy), None)
            if lane is None:
                return None
            received = self._receive(kept, consumer, now, [held for of, held in idle if of == lane])
            kept.busy.add(lane)

        def deliver() -> None:
            try:
                self._handle(name, kept, consumer, received)
            finally:
                with self._lock:
                    kept.busy.discard(lane)

        return deliver

    def waiting(self, name: str) -> list[dict[str, Any]]:
        """The messages that the queue holds, delayed and invisible ones too, the oldest first."""
        with self._lock:
            return [json.loads(held.body) for held in self._of(name).held.values()]

    def dead_letters(self, name: str) -> list[dict[str, Any]]:
        """The messages that were given up."""
        with self._lock:
            return [json.loads(held.body) for held in self._of(name).dead]

    def redrive(self, name: str) -> int:
        """Give every dead letter back to its queue; answer how many."""
        with self._lock:
            kept = self._of(name)
            back, kept.dead = kept.dead, []
            for held in back:
                held.receives, held.visible_at = 0, self._clock.now()
                kept.held[held.message_id] = held
            return len(back)

    def _of(self, name: str) -> _Kept:
        return self._kept.setdefault(name, _Kept())

    def _deliver(self, name: str) -> int:
        with self._lock:
            kept = self._of(name)
            consumer, now = kept.consumer, self._clock.now()
            if consumer is None:
                return 0
            received = self._receive(kept, consumer, now, self._visible(kept, now))
        self._handle(name, kept, consumer, received)
        return len(received)

    def _handle(self, name: str, kept: _Kept, consumer: _Consumer, received: list[_Held]) -> None:
        if not received:
            return
        failed = self._handled(name, consumer.handler, received)
        with self._lock:
            for held in received:
                if held.message_id not in failed:
                    kept.held.pop(held.message_id, None)

    @staticmethod
    def _visible(kept: _Kept, now: int) -> list[_Held]:
        return sorted((held for held in kept.held.values() if held.visible_at <= now), key=lambda h: h.visible_at)

    @staticmethod
    def _receive(kept: _Kept, consumer: _Consumer, now: int, visible: list[_Held]) -> list[_Held]:
        """The next messages, now invisible; one received too often goes to the dead letters instead."""
        received: list[_Held] = []
        for held in visible:
            if len(received) == consumer.batch:
                break
            if held.receives >= consumer.max_receives:
                kept.dead.append(kept.held.pop(held.message_id))
                continue
            held.receives += 1
            held.visible_at = now + consumer.visibility_ms
            received.append(held)
        return received

    @staticmethod
    def _handled(name: str, handler: Handler, received: list[_Held]) -> set[str]:
        """The ids of those that failed: all, where the handler raised."""
        records = [_record(name, held) for held in received]
        try:
            answer = handler({"Records": records}, None) or {}
        except Exception as error:  # noqa: BLE001  # as on Lambda: the messages come again, the fault is told
            where = "".join(traceback.format_tb(error.__traceback__))
            _log.error("a consumer of the queue %s raised %s:\n%s", name, type(error).__name__, where)
            return {held.message_id for held in received}
        return {failure["itemIdentifier"] for failure in answer.get("batchItemFailures", ())}


@dataclass(frozen=True, slots=True)
class InProcessQueue:
    """One of them."""

    queues: InProcessQueues
    name: str

    def send(self, message: Message, *, delay_seconds: int = 0) -> None:
        """Keep it until it is delivered."""
        self.queues.put(self.name, message, delay_seconds)


def _record(name: str, held: _Held) -> dict[str, Any]:
    return {
        "messageId": held.message_id,
        "body": held.body,
        "attributes": {"ApproximateReceiveCount": str(held.receives)},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:local:000000000000:{name}",
    }
