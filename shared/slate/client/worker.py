"""A worker: claims tasks of its roles, hands each to a handler, and keeps the lease alive meanwhile."""

from __future__ import annotations

import logging
import queue as queues
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from slate.client.client import SlateClient
from slate.domain.errors import AlreadyTerminal, Invalid, LeaseLost, Malformed, NotFound, SlateError, TooLarge
from slate.domain.graphs import DEFAULT_QUEUE
from slate.domain.leases import Claim
from slate.domain.tasks import Task

_GONE: Final = (LeaseLost, AlreadyTerminal, NotFound)
"""The task is somebody else's by now, or nobody's: what this worker did with it no longer counts."""
_NOT_STORABLE: Final = (Invalid, Malformed, TooLarge)
"""What the handler answered can be put on no task; another attempt would answer the same."""

log = logging.getLogger("slate.worker")


@dataclass(frozen=True, slots=True)
class Done:
    """The task is done: what was done, in a few words, and what came of it."""

    action: str
    result: JsonValue = None
    artifacts: Sequence[JsonValue] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """The task could not be done; ``retryable`` says whether another attempt may help."""

    error: JsonValue
    retryable: bool = True


@dataclass(frozen=True, slots=True)
class Ask:
    """The task waits for an answer, and comes back with it in ``task.answer``."""

    question: JsonValue


Outcome = Done | Failed | Ask


class Context:
    """What a handler knows of its task while it works on it."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._stop = threading.Event()
        self._progress: JsonValue = None

    @property
    def task(self) -> Task:
        """The task as it was claimed."""
        return self._claim.task

    @property
    def epoch(self) -> int:
        """The fencing number: pass it to external systems, which refuse a lower one than they have seen."""
        return self._claim.epoch

    @property
    def cancel_requested(self) -> bool:
        """Whether to stop: the task was cancelled, or its lease is lost. What the handler answers is then dropped."""
        return self._stop.is_set()

    def wait_for_cancel(self, seconds: float) -> bool:
        """Sleep, but no longer than until a stop is asked for; answers whether it is."""
        return self._stop.wait(seconds)

    def report_progress(self, progress: JsonValue) -> None:
        """Show this on the task from the next heartbeat on."""
        self._progress = progress

    @property
    def progress(self) -> JsonValue:
        """What was reported last."""
        return self._progress

    def request_cancel(self) -> None:
        """Tell the handler to stop; the heartbeat does."""
        self._stop.set()


Handler = Callable[[Context], Outcome]


class Worker:
    """Works on one task at a time until stopped; run several for more.

    A heartbeat at a third of the lease keeps a long task. An exception from the handler is a failure that may be
    retried. After ``stop`` the task at hand is still finished. A worker that dies simply falls silent: its lease
    lapses, and another finishes the task; so a handler may run more than once, while one result alone is committed.
    """

    def __init__(
        self,
        client: SlateClient,
        roles: Sequence[str],
        handler: Handler,
        *,
        queue: str = DEFAULT_QUEUE,
        lease_seconds: int | None = None,
        poll_seconds: float = 1.0,
        wait_seconds: float = 0,
        pause: Callable[[threading.Event, float], bool] = threading.Event.wait,
    ) -> None:
        self._client = client
        self._roles = tuple(roles)
        self._handler = handler
        self._queue = queue
        self._lease_seconds = lease_seconds
        self._poll_seconds = poll_seconds
        self._wait_seconds = wait_seconds
        self._pause = pause
        self._stopping = False
        self._wake: queues.SimpleQueue[None] = queues.SimpleQueue()

    def stop(self) -> None:
        """Finish the task at hand, then let ``run`` return; safe from any thread and from a signal handler."""
        self._stopping = True
        self._wake.put(None)  # reentrant, which Event.set is not: a signal may come in the middle of the rest

    def run(self) -> None:
        """Work until stopped; with nothing to do, ask again every ``poll_seconds``.

        With ``wait_seconds`` each question waits for work so long, and the next follows at once; a stop comes into
        effect when the wait is over.

        Raises:
            SlateError: the key does not allow this work; a service that is out of reach or at fault is asked again.
        """
        while not self._stopping:
            if not self._try_once() and not self._stopping:
                with suppress(queues.Empty):
                    self._wake.get(timeout=self._poll_seconds)

    def run_once(self) -> bool:
        """Claim one task and work on it; answers whether there was one."""
        claims = self._client.claim(
            self._roles, queue=self._queue, lease_seconds=self._lease_seconds, wait_seconds=self._wait_seconds
        )
        for claim in claims:
            self._work_on(claim)
        return bool(claims)

    def _try_once(self) -> bool:
        """Whether to ask again without a rest."""
        try:
            return self.run_once() or self._wait_seconds > 0
        except SlateError as error:
            if not error.retryable and error.code != SlateError.code:  # a fault of the service passes as well
                raise
            log.warning("asking again: %s", error.detail)
            return False

    def _work_on(self, claim: Claim) -> None:
        context = Context(claim)
        with self._kept_alive(claim, context):
            outcome = self._outcome(context)
        try:
            self._report(claim, outcome)
        except _GONE as error:
            log.warning("%s of %s is no longer ours: %s", claim.task.task_id, claim.task.graph_id, error.detail)

    def _outcome(self, context: Context) -> Outcome:
        try:
            return self._handler(context)
        except Exception as error:  # whatever goes wrong in the handler is the task's failure, never the worker's end
            log.exception("the handler failed on %s of %s", context.task.task_id, context.task.graph_id)
            return Failed({"type": type(error).__name__, "message": str(error)})

    def _report(self, claim: Claim, outcome: Outcome) -> None:
        try:
            self._send(claim, outcome)
        except _NOT_STORABLE as error:
            self._send(claim, Failed({"type": type(error).__name__, "message": error.detail}, retryable=False))

    def _send(self, claim: Claim, outcome: Outcome) -> None:
        match outcome:
            case Done(action, result, artifacts):
                self._client.complete(claim, action, result, artifacts=artifacts)
            case Failed(error, retryable):
                self._client.fail(claim, error, retryable=retryable)
            case Ask(question):
                self._client.wait(claim, question)

    @contextmanager
    def _kept_alive(self, claim: Claim, context: Context) -> Iterator[None]:
        finished = threading.Event()
        beat = threading.Thread(target=self._beat, args=(claim, context, finished), name="heartbeat", daemon=True)
        beat.start()
        try:
            yield
        finally:
            finished.set()
            beat.join()

    def _beat(self, claim: Claim, context: Context, finished: threading.Event) -> None:
        lease_seconds = self._lease_seconds or claim.task.lease_seconds
        while not self._pause(finished, lease_seconds / 3):
            try:
                beat = self._client.heartbeat(claim, lease_seconds=self._lease_seconds, progress=context.progress)
            except _GONE:
                context.request_cancel()
                return
            except SlateError as error:
                log.warning("a heartbeat of %s went astray: %s", claim.task.task_id, error.detail)
                continue
            if beat.cancel_requested:
                context.request_cancel()
                return
