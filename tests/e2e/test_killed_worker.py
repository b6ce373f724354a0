"""Four worker processes, one of them killed in the middle of a task: every task is completed, and none twice."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import mortal
from serving import serving
from slate.client import SlateClient

CHAINS, LENGTH = 20, 4


@contextmanager
def worker(server, key, holds=""):
    command = [sys.executable, str(Path(mortal.__file__)), server.url, key, "mortal", holds]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own
        try:
            yield process
        finally:
            process.kill()


def chain(n):
    ids = [f"c{n}-{i}" for i in range(LENGTH)]
    return [
        {"task_id": ids[i], "title": "t", "role": "runner", "depends_on": ids[max(i - 1, 0) : i]} for i in range(LENGTH)
    ]


def test_a_killed_workers_task_is_completed_by_another_and_every_task_once():
    with serving() as server, SlateClient(*server) as planner, ExitStack() as fleet:
        keys = {name: planner.create_key(name, ["tasks:write"]).key for name in ("victim", "w1", "w2", "w3")}
        planner.create_graph("g", [task for n in range(CHAINS) for task in chain(n)], graph_id="g", queue="mortal")
        victim = fleet.enter_context(worker(server, keys["victim"], "holds"))
        held = victim.stdout.readline().strip()
        for name in ("w1", "w2", "w3"):
            fleet.enter_context(worker(server, keys[name]))
        while planner.graph("g").counts.done < (CHAINS - 1) * LENGTH:
            time.sleep(0.1)
        assert planner.task("g", held).epoch == 1, "while it lives its heartbeats keep the task"
        victim.kill()
        while (graph := planner.graph("g")).state == "ACTIVE":
            time.sleep(0.1)
        assert graph.counts.done == CHAINS * LENGTH
        tasks = {task.task_id: task for task in planner.tasks("g")}
    completions = [[entry.event for entry in task.history].count("completed") for task in tasks.values()]
    assert completions == [1] * CHAINS * LENGTH
    steps = [(entry.event, entry.agent) for entry in tasks[held].history if entry.event in ("claimed", "lapsed")]
    assert steps[:2] == [("claimed", "victim"), ("lapsed", "slate")]
    assert tasks[held].agent != "victim"
    assert tasks[held].epoch >= 2
