"""Large graphs end: wide joins, wide fans, and 10,000 tasks with 15,000 edges, created in parts over a crash."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from slate.domain.errors import Unavailable

ROLE = "runner"


def task(task_id, *parents):
    return {"task_id": task_id, "title": "t", "role": ROLE, "depends_on": list(parents)}


def work_off(slate, client):
    """Complete all there is, letting the sweeper do its part; how many were completed."""
    done = 0
    while True:
        claims = client.claim([ROLE], max_tasks=100, lease_seconds=3_600)
        for claim in claims:
            client.complete(claim, "ran")
        done += len(claims)
        if not claims and not slate.drain():
            return done


def test_a_join_of_200_is_released_once_by_the_last(fresh_slate):
    client = fresh_slate.client()
    parents = [f"p{i}" for i in range(200)]
    client.create_graph(graph_id="g", goal="g", tasks=[*map(task, parents), task("join", *parents)])
    freed = []
    while claims := client.claim([ROLE], max_tasks=100):
        if claims[0].task.task_id == "join":
            break
        freed += [child for claim in claims for child in client.complete(claim, "ran").unlocked]
    assert freed == ["join"]
    assert [c.task.task_id for c in claims] == ["join"]


def test_a_fan_of_500_is_freed_100_inline_and_the_rest_by_the_sweeper(fresh_slate):
    client = fresh_slate.client()
    children = [f"c{i}" for i in range(500)]
    client.create_graph(graph_id="g", goal="g", tasks=[task("root"), *(task(c, "root") for c in children)])
    (claim,) = client.claim([ROLE])
    answer = client.complete(claim, "ran")
    assert (len(answer.unlocked), answer.unlocking) == (100, True)
    fresh_slate.drain()
    assert client.graph("g").counts.ready == 500
    assert work_off(fresh_slate, client) == 500


def test_the_last_two_parents_finishing_together_free_the_child_once(fresh_slate):
    clients = [fresh_slate.client("w1"), fresh_slate.client("w2")]
    with ThreadPoolExecutor(2) as pool:
        for n in range(40):
            name = f"g{n}"
            clients[0].create_graph(
                graph_id=name, goal="g", queue=name, tasks=[task("a"), task("b"), task("join", "a", "b")]
            )
            claims = clients[0].claim([ROLE], queue=name, max_tasks=2)
            together = threading.Barrier(2)

            def finish(client, claim, together=together):
                together.wait()
                return client.complete(claim, "ran").unlocked

            freed = [c for unlocked in pool.map(finish, clients, claims) for c in unlocked]
            assert freed == ["join"]
            assert [c.task.task_id for c in clients[1].claim([ROLE], queue=name, max_tasks=5)] == ["join"]


class Crash(Exception):
    """The planner's process ends."""


@pytest.mark.timeout(1_500)
@pytest.mark.parametrize(
    ("layers", "width", "part"), [(6, 40, 100), pytest.param(100, 100, 1_000, marks=pytest.mark.race)]
)
def test_a_graph_in_parts_is_created_over_a_crash_and_all_of_it_ends(fresh_slate, monkeypatch, layers, width, part):
    """10,000 tasks with 14,850 edges in the long run; 240 with 300, in smaller parts, in every run."""
    monkeypatch.setattr("slate.client.parts.MAX_TASKS_A_CALL", part)
    specs = [task(f"l0-{i}") for i in range(width)]
    for layer in range(1, layers):
        for i in range(width):
            parents = [f"l{layer - 1}-{i}", f"l{layer - 1}-{(i + 7) % width}"]
            specs.append(task(f"l{layer}-{i}", *parents[: 2 if i % 2 else 1]))
    edges = sum(len(spec["depends_on"]) for spec in specs)
    total = layers * width
    assert (len(specs), edges) == (total, (total - width) * 3 // 2)

    client = fresh_slate.client()
    seen = []

    def crash_midway(done, total):
        seen.append((done, total))
        if done >= total * 2 // 5:
            raise Crash

    with pytest.raises((Crash, Unavailable)):
        client.create_graph(graph_id="g", goal="g", tasks=specs, on_progress=crash_midway)
    assert client.graph("g").state == "CREATING"
    assert client.claim([ROLE]) == ()
    progress = []
    client.create_graph(graph_id="g", goal="g", tasks=specs, on_progress=lambda *p: progress.append(p))
    assert progress[-1] == (total, total)
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)

    assert client.graph("g").counts.ready == width
    assert work_off(fresh_slate, client) == total
    graph = client.graph("g")
    assert (graph.state, graph.counts.done) == ("DONE", total)
