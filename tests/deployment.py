"""The functions over one storage in this process, and what each asks of AWS, as IAM would see it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from iam import Call, dynamodb_calls, s3_calls
from slate.adapters.dynamodb.table import FEED_FILTER
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.master_key import MasterKeyWrapper
from slate.adapters.inprocess.queues import InProcessQueues
from slate.adapters.inprocess.random_ids import RandomIds
from slate.domain.events import FeedEntry
from slate.domain.operations import working_for
from slate.ports.event_bus import EventBus
from slate.ports.queue import Message
from slate.wiring.assembling import assemble
from slate.wiring.local import LocalSlate, build_local, manual_clock
from slate.wiring.parts import FEED_FAILURES, MEMORY, WEBHOOKS, Parts, Slate
from slate_functions.local.stream import Handler, StreamPump

_QUEUES = {WEBHOOKS: "PushWebhooks.Arn", FEED_FAILURES: "FeedFailures.Arn", MEMORY: "MemoryWork.Arn"}
_TABLES = {"slate": "StorageMain.Arn", "slate-keys": "StorageKeys.Arn", "slate-ledger": "StorageLedger.Arn"}
_BUCKET, _KEY = "StorageContent.Arn", "StorageKey.Arn"
_SERVED = frozenset({"tasks_api", "waiting", "memory_api", "privacy_api"})
"""Behind the gateway each call is an operation for the caller's tenant; here the use cases are called without one."""
_UNDER_THE_KEY = {"PutObject": "kms:GenerateDataKey", "GetObject": "kms:Decrypt"}
"""What S3 does with the key in the caller's name."""
NOBODY_YET = "authorizer"
"""It finds out whose the request is."""


def _arn(table: str) -> str:
    """Of the table that a local one, whose name ends in a mark of its own, stands for."""
    return _TABLES[table.rpartition("-")[0]]


class Deployment:
    """Each function starts with an empty memory, so that it asks for every key itself."""

    def __init__(self, local: LocalSlate, clock: ManualClock, executor: ThreadPoolExecutor) -> None:
        self.clock = clock
        self.calls: dict[str, set[Call]] = {
            "tasks_api": set(),
            "waiting": set(),
            "authorizer": set(),
            "sweeper": set(),
            "events": set(),
            "webhooks": set(),
            "memory_api": set(),
            "extractor": set(),
            "decay": set(),
            "privacy_api": set(),
            "eraser": set(),
        }
        self._local = local
        self._executor = executor
        self._keys = MasterKeyWrapper.generate()
        self._acting = "tasks_api"
        for client, service in ((local.dynamodb, "dynamodb"), (local.s3, "s3")):
            client.meta.events.register(f"before-parameter-build.{service}", self._asked)

    def start(self, function: str) -> Slate:
        """A cold start: what is asked from here to the next start is this function's doing."""
        self._acting = function
        parts = Parts(
            dynamodb=self._local.dynamodb,
            s3=self._local.s3,
            wrapper=_Wrapper(self._keys, lambda call: self.calls[function].add(self._made(call))),
            clock=self.clock,
            executor=self._executor,
            ids=RandomIds(),
            rng=random.Random(1),  # noqa: S311 (the same run each time)
            queues=partial(_Sending, self._local.queues, self.calls[function]),
            bus=_Publishing(self._local.bus, self.calls[function]),
            sleep=lambda _: None,
        )
        return assemble(self._local.slate.settings, parts)

    def queued(self, name: str) -> list[dict[str, Any]]:
        """The messages that a queue holds."""
        return self._local.queues.waiting(name)

    def follow(self, consumer: Handler) -> None:
        """Hand on the whole stream, which Lambda reads in the function's name."""
        table = self._local.slate.settings.table
        acting, self._acting = self._acting, "nobody"
        pump = StreamPump(
            self._local.dynamodb,
            self._local.streams,
            table,
            consumer,
            pattern=FEED_FILTER,
            given_up=lambda _: None,
            trimmed=lambda: None,
        )
        self._acting = acting
        pump.run()

    def _asked(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name in ("DeleteTable", "DescribeTable"):
            return  # the local Slate goes, and its tables with it; the stream is looked for
        seen_by_iam = _dynamodb if model.service_model.service_name == "dynamodb" else _s3
        self.calls[self._acting].update(map(self._made, seen_by_iam(model.name, params)))

    def _made(self, call: Call) -> Call:
        """For whom: who is being worked for."""
        tenant = working_for()
        if tenant is None and self._acting in _SERVED:
            tenant = call.names or "acme"
        return call._replace(tenant=None if self._acting == NOBODY_YET else tenant)


@contextmanager
def deployment() -> Iterator[Deployment]:
    clock = manual_clock()
    with build_local(clock=clock) as local, ThreadPoolExecutor(4) as executor:
        yield Deployment(local, clock, executor)


class _Wrapper:
    """Wraps as KMS would, and notes that it was asked to."""

    def __init__(self, inner: MasterKeyWrapper, note: Callable[[Call], None]) -> None:
        self._inner = inner
        self._note = note

    def wrap(self, key: bytes, tenant: str, ref: str) -> bytes:
        self._note(Call("kms:Encrypt", _KEY, context=tenant))
        return self._inner.wrap(key, tenant, ref)

    def unwrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
        self._note(Call("kms:Decrypt", _KEY, context=tenant))
        return self._inner.unwrap(wrapped, tenant, ref)


class _Sending:
    """Sends as SQS would take it, and notes that it was asked to."""

    def __init__(self, queues: InProcessQueues, calls: set[Call], name: str) -> None:
        self.queues = queues
        self._calls = calls
        self._name = name

    def send(self, message: Message, *, delay_seconds: int = 0) -> None:
        self._calls.add(Call("sqs:SendMessage", _QUEUES[self._name]))
        self.queues(self._name).send(message, delay_seconds=delay_seconds)


class _Publishing:
    """Publishes as EventBridge would take it, and notes that it was asked to."""

    def __init__(self, bus: EventBus, calls: set[Call]) -> None:
        self._bus = bus
        self._calls = calls

    def publish(self, tenant: str, events: Sequence[FeedEntry]) -> None:
        self._calls.add(Call("events:PutEvents", "PushBus.Arn"))
        self._bus.publish(tenant, events)


def _dynamodb(operation: str, params: dict[str, Any]) -> Iterator[Call]:
    # A table lies under the key, and DynamoDB uses it in the caller's name.
    yield Call("kms:Decrypt", _KEY, through="dynamodb.eu-central-1.amazonaws.com")
    yield from dynamodb_calls(operation, params, _arn)


def _s3(operation: str, params: dict[str, Any]) -> Iterator[Call]:
    yield from s3_calls(operation, params, _BUCKET)
    if operation in _UNDER_THE_KEY:
        yield Call(_UNDER_THE_KEY[operation], _KEY, through="s3.eu-central-1.amazonaws.com")
