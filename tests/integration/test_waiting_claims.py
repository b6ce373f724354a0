"""Claims that wait, in a whole local Slate: told, in turn, without hammering, and in nobody's way."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from slate.contract.tasks import AddTasks, Claims, ClaimTasks, CompleteTask, CreateGraph, FailTask, ReleaseTask
from slate.domain.access import Principal, Scope
from slate.domain.tasks import TaskSpec
from slate.service.waiting import Pauses
from slate.settings import Settings
from slate.testing.meter import Meter
from slate_functions.local.gateway import Incoming
from slate_functions.local.service import LocalService, open_service

PATIENCE = 15
"""Seconds after which a test gives up; none needs a tenth of it, and no wait is over before."""
PLACES = 40
"""More than the server has threads for requests that do not wait."""


@pytest.fixture
def service():
    with open_service(manual=True, settings=Settings(waiting_places=PLACES)) as service:
        # Nobody looks of its own accord: whoever finds work was told of it, however slow the machine is.
        service.slate.waiting._pauses = Pauses(first_seconds=900, longest_seconds=900)
        yield service


def principal(agent: str = "ann", **more: Any) -> Principal:
    return Principal(tenant="acme", agent=agent, key_id=f"k-{agent}", scopes=frozenset(Scope), **more)


def graph(service: LocalService, graph_id: str, *roles: str, priority: int = 5, **more: Any) -> None:
    """A task for each role; the first one of this priority."""
    tasks = tuple(
        TaskSpec(task_id=f"t{n}", title="t", role=role, priority=5 if n else priority) for n, role in enumerate(roles)
    )
    service.slate.planning.create(principal(), CreateGraph(graph_id=graph_id, goal="g", tasks=tasks, **more), None)


def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.002)


def in_line(service: LocalService) -> int:
    return sum(len(line) for line in service.local.wakeups._lines.values())


class Crowd:
    """Claimants that wait, each in a thread, in line in the order in which they came."""

    def __init__(self, service: LocalService, pool: ThreadPoolExecutor) -> None:
        self._service = service
        self._pool = pool

    def join(self, by: Principal, *roles: str, **more: Any) -> Future[Claims]:
        before = in_line(self._service)
        body = ClaimTasks(roles=roles, wait_seconds=20, **more)
        future = self._pool.submit(self._service.slate.working.claim, by, body, None)
        until(lambda: in_line(self._service) == before + len(roles))
        return future


@pytest.fixture
def crowd(service):
    with ThreadPoolExecutor(40) as pool:
        yield Crowd(service, pool)
        service.local.wakeups.close()


@pytest.fixture
def looks(service, monkeypatch):
    """Looks at the index, by the subject of the key."""
    tasks, seen = service.slate.working._tasks, Counter()
    look = tasks.candidates

    def counted(*where):
        seen[where[-1]] += 1
        return look(*where)

    monkeypatch.setattr(tasks, "candidates", counted)
    return seen


def names(*futures: Future[Claims]) -> list[tuple[str, ...]]:
    return [tuple(c.task.graph_id for c in future.result(PATIENCE).claims) for future in futures]


def test_as_many_wake_as_there_is_work_and_who_came_first_is_served_first(service, crowd, looks):
    graph(service, "warm-up", "other")
    with Meter(service.local.dynamodb).measure() as cost:
        waiting = [crowd.join(principal(f"a{n}"), "writer") for n in range(20)]
        until(lambda: looks.total() == 20)
        writes = cost.by_operation["UpdateItem"].calls
        graph(service, "g", "writer", "writer", "writer")
        assert names(*waiting[:3]) == [("g",)] * 3
        assert sorted(f.result().claims[0].task.task_id for f in waiting[:3]) == ["t0", "t1", "t2"]
        assert not any(future.done() for future in waiting[3:])
    assert 23 <= looks.total() <= 26, "twenty first looks, and one for each task, or two where another was faster"
    tries = cost.by_operation["UpdateItem"].calls - writes
    assert 3 <= tries <= 3 * 3, "three who woke together may try each other's task first"
    service.local.wakeups.close()
    assert names(*waiting[3:]) == [()] * 17


def test_a_task_wakes_who_waits_for_it_however_it_becomes_ready(service, crowd):
    work, me = service.slate.working, principal()
    graph(service, "g", "writer")
    [claim] = work.claim(me, ClaimTasks(roles=("writer",)), None).claims
    waiting = crowd.join(principal("b"), "writer")
    work.release(me, "g", "t0", ReleaseTask(token=claim.token))
    [claim] = waiting.result(PATIENCE).claims
    waiting = crowd.join(principal("b"), "writer")
    service.advance(61)  # its lease lapses
    [claim] = waiting.result(PATIENCE).claims
    waiting = crowd.join(principal("b"), "writer")
    work.fail(me, "g", "t0", FailTask(token=claim.token, error="x"))
    service.advance(60)  # its rest is over
    [claim] = waiting.result(PATIENCE).claims
    child = TaskSpec(task_id="child", title="t", role="checker", depends_on=("t0",))
    service.slate.planning.add(me, "g", AddTasks(tasks=(child,)), None)
    waiting = crowd.join(principal("b"), "checker")
    work.complete(me, "g", "t0", CompleteTask(token=claim.token, action="did"))
    assert names(waiting) == [("g",)]


def test_a_bound_keys_wait_is_not_woken_by_the_tasks_of_others_and_takes_nobodys_turn(service, crowd, looks):
    ann = crowd.join(principal("console", subject="ann"), "writer")
    worker = crowd.join(principal("worker"), "writer")
    until(lambda: looks == {None: 1, "ann": 1})
    graph(service, "bobs", "writer", subject="bob")
    assert names(worker) == [("bobs",)]
    assert looks == {None: 2, "ann": 1}
    graph(service, "anns", "writer", subject="ann")
    assert names(ann) == [("anns",)]


def test_who_waits_for_several_roles_takes_the_most_urgent_and_leaves_the_other_to_the_next(service, crowd):
    both = crowd.join(principal("both"), "writer", "checker", max=1)
    checker = crowd.join(principal("checker"), "checker")
    graph(service, "g", "writer", "checker", priority=9)
    assert [f.result(PATIENCE).claims[0].task.role for f in (both, checker)] == ["writer", "checker"]


def test_several_are_claimed_by_one_call_that_waited(service, crowd):
    greedy = crowd.join(principal(), "writer", max=100)
    graph(service, "g", *["writer"] * 5)
    assert 1 <= len(greedy.result(PATIENCE).claims) <= 5


def ask(client: httpx.AsyncClient, body: dict[str, Any]) -> Any:
    return client.post("/v1/claims", json=body)


async def everybody_waits(service: LocalService) -> dict[str, Any]:
    """Every place is taken by one who waits, and more than the server has threads for other requests."""
    headers = {"Authorization": f"Bearer {service.keys['acme']}"}
    async with AsyncExitStack() as stack:
        transport = httpx.ASGITransport(app=service.gateway)
        client = await stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url="http://slate.test", headers=headers)
        )
        [claim] = (await ask(client, {"roles": ["worker"]})).json()["claims"]
        waiters = [asyncio.create_task(ask(client, {"roles": ["nobody"], "wait_seconds": 20})) for _ in range(PLACES)]
        wakeups = service.local.wakeups
        await asyncio.to_thread(until, lambda: in_line(service) == PLACES)
        path = f"/v1/graphs/g/tasks/{claim['task']['task_id']}/complete"
        done = await client.post(path, json={"token": claim["token"], "action": "did"})
        beyond = await ask(client, {"roles": ["nobody"], "wait_seconds": 20})
        there = await ask(client, {"roles": ["worker"], "wait_seconds": 20})
        at_once = await ask(client, {"roles": ["nobody"]})
        waiting = sum(not waiter.done() for waiter in waiters)
        wakeups.close()
        answers = {(await waiter).text for waiter in waiters}
    return {
        "done": done,
        "beyond": beyond,
        "there": there,
        "at_once": at_once,
        "waiting": waiting,
        "answers": answers,
    }


def test_completions_go_through_while_every_place_is_waiting_and_one_more_is_told_when_to_come_again(service):
    graph(service, "g", "worker", "worker")
    seen = asyncio.run(asyncio.wait_for(everybody_waits(service), PATIENCE))
    assert seen["done"].json()["state"] == "DONE"
    assert seen["waiting"] == PLACES
    assert (seen["beyond"].status_code, seen["beyond"].headers["Retry-After"]) == (503, "2")
    assert seen["beyond"].json()["retryable"] is True
    assert len(seen["there"].json()["claims"]) == 1, "what is there is given to whoever asks"
    assert (seen["at_once"].status_code, seen["at_once"].json()) == (200, {"claims": []})
    assert seen["answers"] == {json.dumps({"claims": []}, separators=(",", ":"))}


@pytest.mark.parametrize("wait", [-1, 20.5, "5", None, True])
def test_a_wait_is_of_20_seconds_at_most(service, wait):
    body = {"roles": ["worker"], "wait_seconds": wait}
    headers = [("Authorization", f"Bearer {service.keys['acme']}")]
    answer = service.gateway.handle(
        Incoming(method="POST", path="/v1/claims", headers=headers, body=json.dumps(body).encode())
    )
    assert answer.status == 422
    assert [error["field"] for error in json.loads(answer.body)["errors"]] == ["wait_seconds"]
