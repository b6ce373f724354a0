"""A whole Slate in this process, without a port: what the local server serves and a test calls."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Thread
from typing import Any, Final

from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.queues import BATCH
from slate.contract.access import CreateKey
from slate.domain.access import Scope
from slate.domain.errors import Conflict
from slate.domain.forgetting.strength import DAY_MS
from slate.service.forgetting.fading import Preview
from slate.settings import Settings
from slate.wiring.local import LocalSlate, build_local, manual_clock
from slate.wiring.parts import MEMORY, WEBHOOKS
from slate_functions.authorizer.authorize import Authorizer
from slate_functions.extractor.consume import Consumer as MemoryConsumer
from slate_functions.extractor.dispatch import Dispatch
from slate_functions.http.observing import Fault, Served
from slate_functions.http.serving import app_of
from slate_functions.local.feeding import feed_consumer
from slate_functions.local.gateway import Gateway
from slate_functions.local.indexing import index_consumer
from slate_functions.local.local_routes import LocalRoutes
from slate_functions.local.openapi import whole_document
from slate_functions.memory_api.app import memory_groups
from slate_functions.privacy_api.app import privacy_groups
from slate_functions.tasks_api.app import tasks_groups
from slate_functions.webhooks.consume import Consumer

LOCAL: Final = Settings(webhook_addresses="loopback", key_calls_per_second=1_000_000, key_burst=1_000_000_000)
"""A laptop's receivers are on the laptop, and so are its callers: as fast as they can, while time may stand still."""
TENANTS: Final = ("acme", "globex")
ADMIN: Final = "admin"
THREADS: Final = 8
"""Calls of moto go one at a time, so that more threads would only wait."""
SWEEP_SECONDS: Final = 0.25
DECAY_SECONDS: Final = 5.0
ERASE_SECONDS: Final = 1.0
PREVIEWED: Final = 1_000
"""Entries of a shard that a preview looks at."""
CONSUME_SECONDS: Final = 0.05
DELIVER_SECONDS: Final = 0.05
AT_ONCE: Final = 20
"""Batches of a queue under way at once, as on AWS; a receiver keeps one."""
VISIBILITY_SECONDS: Final = 180
"""As on AWS: six times as long as the consumer may run."""

_log = logging.getLogger(__name__)


class LogObserver:
    """Tells faults to the log, at the level of errors, and requests at that of debugging."""

    def served(self, served: Served) -> None:
        """A request was answered."""
        _log.debug("%s %s %.1f ms %s", served.route, served.status, served.milliseconds, served.code or "")

    def failed(self, fault: Fault) -> None:
        """A request met a fault."""
        _log.error("%s (request %s): %s", fault.route, fault.request_id, " <- ".join(fault.kinds))
        _log.error("  %s", "\n  ".join(fault.frames))


class LocalService:
    """A Slate behind its gateway, with one key of every scope for each of two tenants."""

    def __init__(self, local: LocalSlate, executor: Executor, waiting: Executor, queued: Executor) -> None:
        self.slate = local.slate
        self.local = local
        groups = (
            *tasks_groups(local.slate, whole_document),
            *memory_groups(local.slate),
            *privacy_groups(local.slate),
            LocalRoutes(self),
        )
        app = app_of(local.slate, groups, LogObserver())
        local.queues.consume(MEMORY, MemoryConsumer(Dispatch(local.slate)))
        local.queues.consume(
            WEBHOOKS, Consumer(local.slate.delivering, queued), visibility_seconds=VISIBILITY_SECONDS, lane=_receiver
        )
        self.feed = feed_consumer(local)
        self.index = index_consumer(local)
        local.consumers.extend((self.feed.run, self.index.run))
        self.gateway = Gateway(app, Authorizer(local.slate.recognising), executor, waiting)
        every = CreateKey(agent=ADMIN, scopes=tuple(Scope))
        self.keys = {tenant: local.slate.access.issue(tenant, every, made_by=ADMIN).key for tenant in TENANTS}

    def advance(self, seconds: float) -> int:
        """Move the clock, and do what fell due; answer the new instant.

        Raises:
            Conflict: time goes by itself here.
        """
        if not isinstance(self.local.clock, ManualClock):
            raise Conflict("time goes by itself here; start the server with --manual-clock to move it")
        now = self.local.clock.advance(seconds)
        self.local.drain()
        self.local.wakeups.tell_all()
        return now

    def drain(self, *, queues: bool = True) -> int:
        """Do all that is due, until nothing is; answer how much. Without ``queues`` no message is delivered."""
        return self.local.drain(queues=queues)

    def preview(self, within_days: float) -> Iterator[Preview]:
        """What decay would do in so many days, and why."""
        by = self.local.clock.now() + round(within_days * DAY_MS)
        return self.slate.memory.forgetting.fading.preview(by, PREVIEWED)

    def metrics(self) -> str:
        """What was counted, as Prometheus reads it."""
        return self.local.counts.prometheus()


@contextmanager
def open_service(*, manual: bool, settings: Settings | None = None) -> Iterator[LocalService]:
    """A fresh Slate whose data lives in memory and goes with the context.

    With a ``manual`` clock time stands still unless moved, and nothing runs in the background; otherwise threads
    sweep, read the stream and deliver.
    """
    with (
        build_local(clock=manual_clock() if manual else None, settings=settings or LOCAL) as local,
        ThreadPoolExecutor(THREADS, thread_name_prefix="slate-function") as executor,
        # So many that who may not wait, and who asks for no waiting, still finds one free.
        ThreadPoolExecutor(
            local.slate.settings.waiting_places + THREADS, thread_name_prefix="slate-waiting"
        ) as waiting,
        ThreadPoolExecutor(BATCH * AT_ONCE, thread_name_prefix="slate-queue") as queued,
        _ended(local),
    ):
        service = LocalService(local, executor, waiting, queued)
        if manual:
            yield service
            return
        with (
            _sweeping(service),
            _decaying(service),
            _holding(service),
            _erasing(service),
            _consuming(service),
            _delivering(service),
        ):
            yield service


@contextmanager
def _ended(local: LocalSlate) -> Iterator[None]:
    """Whoever still waits at the end is answered at once, so that no thread is waited for."""
    try:
        yield
    finally:
        local.wakeups.close()


def _sweeping(service: LocalService) -> AbstractContextManager[None]:
    return _repeated("sweeper", SWEEP_SECONDS, service.slate.sweeping.run_once)


def _decaying(service: LocalService) -> AbstractContextManager[None]:
    return _repeated("decay", DECAY_SECONDS, service.slate.memory.decay.run_once)


def _erasing(service: LocalService) -> AbstractContextManager[None]:
    return _repeated("eraser", ERASE_SECONDS, service.slate.privacy.eraser.run_once)


def _holding(service: LocalService) -> AbstractContextManager[None]:
    return _repeated("holds", DECAY_SECONDS, service.slate.privacy.holds.run_once)


@contextmanager
def _repeated(name: str, seconds: float, run_once: Callable[[], int]) -> Iterator[None]:
    """Work off a kind of the timer again and again."""
    stop = Event()

    def run() -> None:
        while not stop.wait(seconds):
            try:
                run_once()
            except Exception as error:  # noqa: BLE001  # one bad poll must not end the thread that all of it relies on
                LogObserver().failed(Fault.of(error, "", name))

    thread = Thread(target=run, name=f"slate-{name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def _consuming(service: LocalService) -> Iterator[None]:
    """Read the stream as it grows."""
    stop = Event()

    def consume() -> None:
        while not stop.wait(CONSUME_SECONDS):
            for consumer in service.local.consumers:
                try:
                    consumer()
                except Exception as error:  # noqa: BLE001  # what follows the stream must not end with one bad read
                    LogObserver().failed(Fault.of(error, "", "stream"))

    thread = Thread(target=consume, name="slate-stream", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        service.feed.close()
        service.index.close()
        thread.join()


def _receiver(message: Mapping[str, Any]) -> str:
    """A try is its webhook's; events wait for no receiver."""
    return str(message.get("webhook_id", ""))


@contextmanager
def _delivering(service: LocalService) -> Iterator[None]:
    """A thread for each queue, so that none waits for another's consumer; and batches beside each other."""
    stop = Event()
    queues = service.local.queues

    def deliver(name: str, batches: Executor) -> None:
        while not stop.is_set():
            batch = queues.next_of_lane(name)
            if batch is None:
                stop.wait(DELIVER_SECONDS)
            else:
                batches.submit(batch)

    # Threads are made as they are needed: a few, unless receivers are silent.
    with ThreadPoolExecutor(AT_ONCE * len(queues.consumed()), thread_name_prefix="slate-batch") as batches:
        threads = [
            Thread(target=deliver, args=(name, batches), name=f"slate-{name}", daemon=True)
            for name in queues.consumed()
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()
