"""The Python client of Slate: a method a route, answers as the domain's own entities, refusals as its errors."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

import httpx
from pydantic import JsonValue

from slate.client.answers import PAGE, graph_path, pages, parse, segment, task_path
from slate.client.audit import Audit
from slate.client.calls import Calls, Retries
from slate.client.contexts import Contexts
from slate.client.credentials import Credential
from slate.client.erasures import Erasures
from slate.client.exports import Exports
from slate.client.facts import Facts
from slate.client.holds import Holds
from slate.client.locks import NamedLocks
from slate.client.parts import cut, specs_of
from slate.client.sessions import Sessions
from slate.client.values import AnyChange, OwnedValues, changes_of
from slate.client.webhooks import Webhooks
from slate.contract.access import CreatedKey, KeyPage
from slate.contract.feed import FeedPage
from slate.contract.tasks import Added, Claims, Completed, GraphPage, Heartbeat, TaskPage
from slate.contract.views import TimelinePage
from slate.domain.access import ApiKey, Scope
from slate.domain.critical_path import CriticalPath, PathBy
from slate.domain.errors import AlreadyTerminal, SlateError
from slate.domain.events import FeedEntry
from slate.domain.graphs import DEFAULT_QUEUE, DEFAULT_RETENTION_DAYS, Graph, check_tasks, in_order
from slate.domain.leases import Claim
from slate.domain.tasks import Task, TaskSpec, TaskState
from slate.domain.timeline import TaskTimeline

Progress = Callable[[int, int], None]
"""Told after each part: how many tasks have arrived, and of how many."""
FOLLOW_SECONDS: Final = 20
"""One call of a follower waits so long, the most that a server allows."""
AnyTask = TaskSpec | Mapping[str, Any]


class SlateClient:
    """Every call that is safe to repeat is repeated until it is answered or given up; no other is ever sent twice.

    A network error, a 429 and a 503 are followed by another attempt after a growing, spread rest (``Retry-After`` is
    honoured): reads, calls with a token, creations under an id, and claims, which carry an Idempotency-Key. What the
    server refuses is raised as the class of ``slate.domain.errors`` that its code names; what stays unanswered is
    ``Unavailable``. ``key`` is an API key, or a function that gives the token to send now (``Bearer``). Instants are
    milliseconds since 1970 UTC. A client may be shared by threads; close it when done, or use it in a ``with``.
    """

    def __init__(
        self,
        url: str,
        key: Credential,
        *,
        transport: httpx.BaseTransport | None = None,
        timeout: float = 30.0,
        retries: Retries | None = None,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._calls = Calls(
            url,
            key,
            transport=transport,
            timeout=timeout,
            retries=retries or Retries(),
            sleep=sleep,
            jitter=jitter,
        )
        self._new_id = new_id
        self.values = OwnedValues(self._calls, new_id)
        self.locks = NamedLocks(self._calls, new_id)
        self.webhooks = Webhooks(self._calls, new_id)
        self.sessions = Sessions(self._calls, new_id)
        self.facts = Facts(self._calls, new_id)
        self.contexts = Contexts(self._calls)
        self.audit = Audit(self._calls)
        self.erasures = Erasures(self._calls, new_id, sleep)
        self.exports = Exports(self._calls, new_id, sleep)
        self.holds = Holds(self._calls, new_id)

    def __enter__(self) -> Self:
        """Use it in a ``with``."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, whatever happened."""
        self.close()

    def close(self) -> None:
        """Close the connections; the client cannot be used afterwards."""
        self._calls.close()

    # --- graphs

    def create_graph(
        self,
        goal: str,
        tasks: Iterable[AnyTask],
        *,
        graph_id: str | None = None,
        queue: str = DEFAULT_QUEUE,
        subject: str | None = None,
        retention_days: int = DEFAULT_RETENTION_DAYS,
        on_progress: Progress | None = None,
    ) -> Graph:
        """Create a graph whole: none of its tasks starts before the last has arrived.

        Any number of tasks: over 1,000, or over 800 KB, they travel in parts. The same call with the same
        ``graph_id`` changes nothing that is there and finishes what a crash left undone, so give the id yourself
        where a process must be able to go on; otherwise one is made.

        Raises:
            Invalid: a task is wrong, given twice, or depends on one that is not here; nothing was sent.
            Cycle: the dependencies run in a circle, named; nothing was sent.
            Conflict: the id is taken by a graph of other content.
        """
        specs = specs_of(tasks)
        check_tasks(specs, ())
        parts = cut(specs)
        head = {
            "graph_id": graph_id if graph_id is not None else self._new_id(),
            "goal": goal,
            "queue": queue,
            "subject": subject,
            "retention_days": retention_days,
        }
        body = {**{k: v for k, v in head.items() if v is not None}, "tasks": parts[0], "more": len(parts) > 1}
        graph = parse(Graph, self._calls.call("POST", "/v1/graphs", body=body))
        _report(on_progress, len(parts[0]), len(specs))
        return self._send_parts(graph.graph_id, parts[1:], len(specs), on_progress) or graph

    def add_tasks(self, graph_id: str, tasks: Iterable[AnyTask], *, on_progress: Progress | None = None) -> Graph:
        """Add tasks to a graph that is there; one that is there already, with the same content, counts as added.

        Parents may be in the graph or among these. Over 1,000 tasks, or 800 KB, they travel in parts, each of which
        stands once it has arrived; the same call again adds what is missing.

        Raises:
            Invalid: a task is wrong, or depends on one that is nowhere.
            Cycle: the dependencies run in a circle, named.
            Conflict: an id is taken by a task of other content, or the graph has been cancelled.
        """
        specs = specs_of(tasks)
        in_order(specs)
        graph = self._send_parts(graph_id, cut(specs), len(specs), on_progress)
        return graph if graph is not None else self.graph(graph_id)

    def _send_parts(
        self,
        graph_id: str,
        parts: Sequence[Sequence[Mapping[str, Any]]],
        total: int,
        on_progress: Progress | None,
    ) -> Graph | None:
        graph: Graph | None = None
        done = total - sum(map(len, parts))
        path = f"{graph_path(graph_id)}/tasks"
        for i, part in enumerate(parts, start=1):
            answer = self._calls.call("POST", path, body={"tasks": part, "more": i < len(parts)})
            graph = parse(Added, answer).graph
            done += len(part)
            _report(on_progress, done, total)
        return graph

    def graph(self, graph_id: str) -> Graph:
        """The graph as it stands, with its counts."""
        return parse(Graph, self._calls.call("GET", graph_path(graph_id)))

    def graphs(self) -> Iterator[Graph]:
        """All graphs, the newest first, page after page as they are asked for."""
        return pages(self._calls, "/v1/graphs", partial(parse, GraphPage), {})

    def cancel_graph(self, graph_id: str) -> Graph:
        """Cancel all of it: nothing of it starts any more, and its workers are told at their next heartbeat."""
        return parse(Graph, self._calls.call("POST", f"{graph_path(graph_id)}/cancel", body={}))

    def delete_graph(self, graph_id: str) -> None:
        """Delete all of it: from now on it is not found; its id is free once everything is removed."""
        self._calls.call("DELETE", graph_path(graph_id))

    def events(self, graph_id: str, *, after: int = 0, limit: int = PAGE, wait_seconds: float = 0) -> FeedPage:
        """The changes of a graph that follow a number; where there are none yet, wait so long for the next."""
        params = {"after": str(after), "limit": str(limit)} | (
            {"wait_seconds": str(wait_seconds)} if wait_seconds else {}
        )
        return parse(
            FeedPage, self._calls.call("GET", f"{graph_path(graph_id)}/events", params=params, waits=wait_seconds)
        )

    def follow(self, graph_id: str, *, after: int = 0, wait_seconds: float = FOLLOW_SECONDS) -> Iterator[FeedEntry]:
        """The changes of a graph as they happen, without end; go on later after the last ``seq`` that was seen.

        Raises:
            NotFound: there is no such graph, or not any more.
        """
        while True:
            page = self.events(graph_id, after=after, wait_seconds=wait_seconds)
            yield from page.items
            after = page.next_after

    def critical_path(self, graph_id: str, *, by: PathBy = PathBy.TOTAL) -> CriticalPath:
        """The chain of tasks that takes longest: in all, or what is still to be done.

        Raises:
            TooLarge: the graph has over 10,000 tasks.
        """
        path = f"{graph_path(graph_id)}/critical-path"
        return parse(CriticalPath, self._calls.call("GET", path, params={"by": str(by)}))

    def timeline(self, graph_id: str) -> Iterator[TaskTimeline]:
        """Each task of a graph with who worked on it, and when; page after page as they are asked for."""
        return pages(self._calls, f"{graph_path(graph_id)}/timeline", partial(parse, TimelinePage), {})

    # --- tasks

    def tasks(self, graph_id: str, *, state: TaskState | None = None, role: str | None = None) -> Iterator[Task]:
        """The tasks of a graph, of one state or role where given, page after page as they are asked for."""
        params = {k: v for k, v in (("state", state), ("role", role)) if v is not None}
        return pages(self._calls, f"{graph_path(graph_id)}/tasks", partial(parse, TaskPage), params)

    def task(self, graph_id: str, task_id: str) -> Task:
        """The task as it stands."""
        return parse(Task, self._calls.call("GET", task_path(graph_id, task_id)))

    def resume(self, graph_id: str, task_id: str, answer: JsonValue, *, epoch: int | None = None) -> Task:
        """Answer the question that a task waits on, or approve one that needs it.

        With the ``epoch`` of the question the call is safe to repeat: it cannot answer the next question.
        """
        body = {"answer": answer} if epoch is None else {"answer": answer, "epoch": epoch}
        return self._act(graph_id, task_id, "resume", body, repeatable=epoch is not None)

    def cancel_task(self, graph_id: str, task_id: str) -> Task:
        """Cancel a task that has not ended, and what depends on its success.

        Raises:
            AlreadyTerminal: it had ended.
        """
        try:
            return self._act(graph_id, task_id, "cancel", {})
        except AlreadyTerminal as error:
            if error.data["attempts"] > 1 and error.data.get("state") == TaskState.CANCELLED:
                return self.task(graph_id, task_id)  # an earlier attempt, whose answer was lost, did it
            raise

    def retry(self, graph_id: str, task_id: str, *, cascade: bool = False) -> Task:
        """Try a failed or cancelled task again; ``cascade`` takes along what its failure cancelled.

        Raises:
            Conflict: a parent has failed or was cancelled, named: retry that one.
        """
        return self._act(graph_id, task_id, "retry", {"cascade": cascade}, repeatable=cascade)

    # --- the work

    def claim(
        self,
        roles: Sequence[str],
        *,
        queue: str = DEFAULT_QUEUE,
        max_tasks: int = 1,
        lease_seconds: int | None = None,
        wait_seconds: float = 0,
        agent: str | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Claim, ...]:
        """Take READY tasks of these roles, the most urgent first; none, when there are none.

        With ``wait_seconds``, at most 20, the answer comes as soon as there is one. Each is this caller's alone until
        its lease ends. A repeat under the same ``idempotency_key`` answers the same claims; one is made for each call
        that gives none.
        """
        given = {"lease_seconds": lease_seconds, "wait_seconds": wait_seconds or None, "agent": agent}
        body: dict[str, Any] = {"roles": list(roles), "queue": queue, "max": max_tasks}
        body |= {k: v for k, v in given.items() if v is not None}
        key = idempotency_key or self._new_id()
        answer = self._calls.call("POST", "/v1/claims", body=body, idempotency_key=key, waits=wait_seconds)
        return parse(Claims, answer).claims

    def heartbeat(self, claim: Claim, *, lease_seconds: int | None = None, progress: JsonValue = None) -> Heartbeat:
        """Say that the work goes on: the lease is extended, and a cancellation is told.

        Raises:
            LeaseLost: the task is no longer this claim's; stop.
        """
        body = {k: v for k, v in (("lease_seconds", lease_seconds), ("progress", progress)) if v is not None}
        return parse(Heartbeat, self._report_on(claim, "heartbeat", body))

    def complete(
        self,
        claim: Claim,
        action: str,
        result: JsonValue = None,
        *,
        artifacts: Sequence[JsonValue] = (),
        values: Iterable[AnyChange] = (),
    ) -> Completed:
        """Hand in the result: committed once, under this claim's epoch; the same again answers the same.

        Changes of the graph's ``values`` are made with it, all of them or nothing.

        Raises:
            LeaseLost: another worker has the task, or has done it.
            AlreadyTerminal: the task was cancelled meanwhile.
            VersionMismatch, Conflict, NotFound, TooLarge: a value cannot be changed so; the task runs on.
        """
        body: dict[str, Any] = {"action": action, "result": result, "artifacts": list(artifacts)}
        if changes := changes_of(values):
            body["values"] = changes
        return parse(Completed, self._report_on(claim, "complete", body))

    def fail(self, claim: Claim, error: JsonValue, *, retryable: bool = True) -> Task:
        """Report a failure: the task rests and is tried again, or FAILED when not ``retryable`` or out of attempts."""
        return parse(Task, self._report_on(claim, "fail", {"error": error, "retryable": retryable}))

    def wait(self, claim: Claim, question: JsonValue) -> Task:
        """Ask, and give the task back until somebody answers by ``resume``; the attempt does not count."""
        return parse(Task, self._report_on(claim, "wait", {"question": question}))

    def release(self, claim: Claim) -> Task:
        """Give the task back for another to take at once; the attempt does not count."""
        return parse(Task, self._report_on(claim, "release", {}))

    # --- keys and the service

    def create_key(
        self,
        agent: str,
        scopes: Iterable[Scope | str],
        *,
        roles: Iterable[str] = (),
        subject: str | None = None,
    ) -> CreatedKey:
        """Make an API key; it is shown in this answer only."""
        body = {"agent": agent, "scopes": list(scopes), "roles": list(roles)}
        if subject is not None:
            body["subject"] = subject
        # A repeat would make a second key that nobody holds.
        return parse(CreatedKey, self._calls.call("POST", "/v1/keys", body=body, repeatable=False))

    def keys(self) -> Iterator[ApiKey]:
        """All API keys, without their secrets."""
        return pages(self._calls, "/v1/keys", partial(parse, KeyPage), {})

    def revoke_key(self, key_id: str) -> None:
        """Close a key for good; servers that know it may honour it for up to a minute."""
        self._calls.call("DELETE", f"/v1/keys/{segment('key_id', key_id)}")

    def health(self) -> Mapping[str, Any]:
        """What the service says of itself."""
        answer = self._calls.call("GET", "/v1/health")
        if not isinstance(answer, dict):
            raise SlateError("the health route answered no object; is the url that of a Slate server?")
        return answer

    # --- shared by the above

    def _act(self, graph_id: str, task_id: str, step: str, body: Mapping[str, Any], *, repeatable: bool = True) -> Task:
        path = f"{task_path(graph_id, task_id)}/{step}"
        return parse(Task, self._calls.call("POST", path, body=body, repeatable=repeatable))

    def _report_on(self, claim: Claim, step: str, body: Mapping[str, Any]) -> Any:
        path = f"{task_path(claim.task.graph_id, claim.task.task_id)}/{step}"
        return self._calls.call("POST", path, body={"token": claim.token, **body})


def _report(on_progress: Progress | None, done: int, total: int) -> None:
    if on_progress is not None:
        on_progress(done, total)
