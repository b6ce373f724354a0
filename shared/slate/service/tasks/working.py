"""What a worker does: claim, tell that it lives, complete, fail, ask, give back."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, cast

from pydantic import JsonValue

from slate.contract.tasks import (
    AskQuestion,
    Claims,
    ClaimTasks,
    Completed,
    CompleteTask,
    FailTask,
    Heartbeat,
    ReleaseTask,
    SendHeartbeat,
)
from slate.domain.access import Principal, Scope
from slate.domain.errors import WITHHELD, Forbidden, Invalid, LeaseLost, NotFound, Unavailable
from slate.domain.fences import Intent
from slate.domain.leases import Claim, Lease, backoff_ms
from slate.domain.tasks import Task
from slate.ports.clock import Clock
from slate.ports.ids import Ids
from slate.ports.keyring import Keyring
from slate.ports.task_store import Candidate, Outcome, Parent, TaskStore
from slate.ports.wakeups import ready_topic
from slate.service.idempotency import Idempotency
from slate.service.paging import ANSWER_BYTES
from slate.service.tasks.bounds import bounded
from slate.service.tasks.tokens import Tokens
from slate.service.tasks.unlocking import Unlocking
from slate.service.waiting import Waiting

CANDIDATES: Final = 10
"""Looked at for one claim: enough that several workers seldom try the same one."""
ROUNDS: Final = 8


class Working:
    """The worker's use cases."""

    def __init__(
        self,
        tasks: TaskStore,
        unlocking: Unlocking,
        tokens: Tokens,
        keyring: Keyring,
        idempotency: Idempotency,
        waiting: Waiting,
        *,
        ids: Ids,
        clock: Clock,
        rng: random.Random,
        level_seconds: int,
    ) -> None:
        self._tasks = tasks
        self._unlocking = unlocking
        self._tokens = tokens
        self._keyring = keyring
        self._idempotency = idempotency
        self._ids = ids
        self._clock = clock
        self._rng = rng
        self._waiting = waiting
        self._level_ms = level_seconds * 1000

    def claim(self, principal: Principal, body: ClaimTasks, idempotency_key: str | None) -> Claims:
        """Up to ``max`` tasks of these roles, the most urgent first; an empty answer means there were none.

        With ``wait_seconds``, none for so long. Fewer than ``max`` where more of them would not fit an answer.

        Raises:
            RoleMissing: the key may not work for one of the roles.
            Forbidden: the agent is another's.
            Unavailable: there is nothing, and too many wait already.
        """
        roles = tuple(dict.fromkeys(body.roles))
        principal.may_work_for(frozenset(roles))
        agent = body.agent or principal.agent
        if agent != principal.agent and Scope.ADMIN not in principal.scopes:
            raise Forbidden(f"this key is the agent {principal.agent}'s; leave `agent` out", agent=principal.agent)

        def do(_: str) -> tuple[Claims, JsonValue]:
            claims = self._waited(principal, body, roles, agent)
            # The ids and the tokens, which hold no content; the tasks are read again.
            kept = [[c.task.graph_id, c.task.task_id, c.token, c.epoch, c.lease_until] for c in claims]
            return Claims(claims=tuple(claims)), cast("JsonValue", kept)

        request: JsonValue = ["POST /v1/claims", body.model_dump(mode="json")]
        return self._idempotency.once(
            principal,
            idempotency_key,
            request,
            do,
            lambda kept: self._again(principal.tenant, kept),
            about=principal.subject,
        )

    def _waited(self, principal: Principal, body: ClaimTasks, roles: Sequence[str], agent: str) -> list[Claim]:
        tenant, subject = principal.tenant, principal.subject
        ref = None if subject is None else self._keyring.name(tenant, subject)
        found = self._waiting.until(
            lambda: self._looked(principal, body, roles, agent) or None,
            topics=[ready_topic(tenant, body.queue, role, ref) for role in roles],
            seconds=body.wait_seconds,
        )
        return found or []

    def _looked(self, principal: Principal, body: ClaimTasks, roles: Sequence[str], agent: str) -> list[Claim]:
        """One look of a call that may wait long: what it saw of fences at its beginning says nothing now.

        Whoever claims is served what the task says: it is a read, too, which a hold forbids.
        """
        with self._keyring.operation(Intent.READ, principal.tenant):
            return self._claim(principal, body, roles, agent)

    def _claim(self, principal: Principal, body: ClaimTasks, roles: Sequence[str], agent: str) -> list[Claim]:
        looked_at = max(CANDIDATES, 2 * body.max)
        claims: list[Claim] = []
        size = 0
        tried: set[tuple[str, str]] = set()
        for _ in range(ROUNDS):
            # As many more as were tried: an index that still shows those must not hide what stands behind them.
            candidates = self._candidates(principal, body.queue, roles, looked_at + len(tried))
            fresh = [c for c in candidates if (c.graph_id, c.task_id) not in tried]
            for candidate in self._in_turn(fresh):
                tried.add((candidate.graph_id, candidate.task_id))
                try:
                    claim = self._try(principal, candidate, body.lease_seconds, agent)
                except Unavailable:
                    if claims:
                        return claims  # they are this worker's now: an error would lose them until they lapse
                    raise
                if claim is not None:
                    claims.append(claim)
                    size += len(claim.model_dump_json()) if body.max > 1 else 0
                if len(claims) == body.max or size > ANSWER_BYTES:
                    return claims
            if not fresh:
                break
        return claims

    def _candidates(self, principal: Principal, queue: str, roles: Sequence[str], limit: int) -> list[Candidate]:
        tenant, subject = principal.tenant, principal.subject
        found = [c for role in roles for c in self._tasks.candidates(tenant, queue, role, limit, subject)]
        return sorted(found, key=lambda c: c.rank)

    def _in_turn(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """By rank; in random order among equals, so that workers do not all try the same one first."""
        for equals in equal_turns(candidates, self._level_ms):
            self._rng.shuffle(equals)
            yield from equals

    def _try(self, principal: Principal, candidate: Candidate, asked: int | None, agent: str) -> Claim | None:
        lease_seconds = asked or candidate.lease_seconds
        nonce = self._ids.secret()
        try:
            self._keyring.admit(principal.tenant, candidate.subject_ref)
            won = self._tasks.claim(principal.tenant, candidate, agent, nonce, lease_seconds, principal.subject)
        except WITHHELD:
            return None  # a queue goes on past a person who is being erased, or is held
        if won is None:
            return None
        task, lease = won
        return _claim(task, self._tokens.make(principal.tenant, lease), task.epoch, task.lease_until)

    def _again(self, tenant: str, kept: JsonValue) -> Claims:
        """The claims of an earlier call: its tokens, and the tasks as they are by now, of whoever is served now."""
        claims: list[Claim] = []
        with self._keyring.operation(Intent.READ, tenant):
            for graph_id, task_id, token, epoch, lease_until in cast("list[Any]", kept):
                with suppress(*WITHHELD):
                    found = self._tasks.many(tenant, graph_id, [task_id])
                    claims.extend(_claim(task, token, epoch, lease_until) for task in found)
        return Claims(claims=tuple(claims))

    def heartbeat(self, principal: Principal, graph_id: str, task_id: str, body: SendHeartbeat) -> Heartbeat:
        """The lease goes on; after a cancel the answer says so.

        Raises:
            LeaseLost: the token no longer holds the task.
        """
        lease = self._lease(principal, graph_id, task_id, body.token)
        seconds = body.lease_seconds or lease.lease_seconds
        beat = self._tasks.heartbeat(principal.tenant, lease, seconds, bounded("progress", body.progress))
        return Heartbeat(lease_until=beat.lease_until, cancel_requested=beat.cancel_requested)

    def complete(self, principal: Principal, graph_id: str, task_id: str, body: CompleteTask) -> Completed:
        """The task is DONE and its children are told; the same token again answers the same.

        Raises:
            LeaseLost: another has the task, or it was given up.
            AlreadyTerminal: it was cancelled, or failed for good.
            VersionMismatch, Conflict, NotFound, TooLarge: a value cannot be changed so; the task runs on.
        """
        lease = self._lease(principal, graph_id, task_id, body.token)
        outcome = Outcome(body.action, body.result, body.artifacts, body.values)
        task, freed = self._tasks.complete(principal.tenant, lease, outcome)
        more = False
        if task.unlocking:
            freed, more = self._tell(principal.tenant, task)
        return Completed.model_construct(**{**dict(task), "unlocked": freed, "unlocking": more})

    def fail(self, principal: Principal, graph_id: str, task_id: str, body: FailTask) -> Task:
        """The task rests and is tried again, or has FAILED: then what waited for its success is cancelled.

        Raises:
            LeaseLost, AlreadyTerminal: as in ``complete``.
        """
        lease = self._lease(principal, graph_id, task_id, body.token)
        again = body.retryable and lease.attempts < lease.max_attempts
        rest = backoff_ms(lease.attempts, lease.backoff_seconds, self._rng.random()) if again else None
        task = self._tasks.fail(principal.tenant, lease, bounded("error", body.error), rest)
        if not task.unlocking:
            return task
        _, more = self._tell(principal.tenant, task)
        return task.model_copy(update={"unlocking": more})

    def release(self, principal: Principal, graph_id: str, task_id: str, body: ReleaseTask) -> Task:
        """The task is free at once, and the attempt does not count. Raises as ``complete``."""
        return self._tasks.release(principal.tenant, self._lease(principal, graph_id, task_id, body.token))

    def wait(self, principal: Principal, graph_id: str, task_id: str, body: AskQuestion) -> Task:
        """The task waits for an answer, and the attempt does not count. Raises as ``complete``."""
        lease = self._lease(principal, graph_id, task_id, body.token)
        return self._tasks.wait(principal.tenant, lease, bounded("question", body.question))

    def _tell(self, tenant: str, task: Task) -> tuple[tuple[str, ...], bool]:
        return self._unlocking.inline(tenant, Parent(task.graph_id, task.task_id, task.state, task.epoch))

    def _lease(self, principal: Principal, graph_id: str, task_id: str, token: str) -> Lease:
        """The lease behind a token, which must be for this very task, and for a subject within reach."""
        lease = self._tokens.read(principal.tenant, token)
        if lease is not None and (lease.graph_id, lease.task_id) == (graph_id, task_id):
            if principal.subject is None or self._keyring.ref(principal.tenant, principal.subject) == lease.subject_ref:
                return lease
            raise _no_task(graph_id, task_id)
        # Without a lease nobody knows whom the task is about: a bound key learns no more than that it has none.
        if principal.subject is not None or not self._tasks.many(principal.tenant, graph_id, [task_id]):
            raise _no_task(graph_id, task_id)
        if lease is None:
            raise Invalid.field("token", "this is not a token of a claim; send the one that the claim answered with")
        raise LeaseLost("this token is another task's; send the one that this task's claim answered with")


def equal_turns(candidates: Iterable[Candidate], level_ms: int) -> Iterator[list[Candidate]]:
    """Candidates in the order of their ranks, cut where priority changes or the first one has waited a level longer.

    So neither chance nor a stream of urgent tasks keeps one waiting behind what became READY long after it.
    """
    equals: list[Candidate] = []
    for candidate in candidates:
        if equals and (candidate.priority != equals[0].priority or candidate.rank >= equals[0].rank + level_ms):
            yield equals
            equals = []
        equals.append(candidate)
    if equals:
        yield equals


def _claim(task: Task, token: str, epoch: int, lease_until: int | None) -> Claim:
    return Claim.model_construct(task=task, token=token, epoch=epoch, lease_until=lease_until or 0)


def _no_task(graph_id: str, task_id: str) -> NotFound:
    return NotFound(f"there is no task {task_id!r} in the graph {graph_id!r}")
