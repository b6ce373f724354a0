"""8 threads and 4 processes claim 1,000 tasks over HTTP, all at once: each task is claimed once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import claimant
from serving import serving
from slate.client import SlateClient

TASKS, THREADS, PROCESSES = 1_000, 8, 4
CLAIMANT = Path(claimant.__file__)


@pytest.fixture(scope="module")
def server():
    with serving() as server:
        yield server


def run(server, queue):
    """Every claim that anybody got."""
    specs = [{"task_id": f"t{i}", "title": "t", "role": "runner"} for i in range(TASKS)]
    with SlateClient(*server) as planner:
        planner.create_graph(goal="race", queue=queue, tasks=specs)
    command = [sys.executable, str(CLAIMANT), *server, queue]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  # our own
        for _ in range(PROCESSES)
    ]
    with ThreadPoolExecutor(THREADS) as pool:
        parts = list(pool.map(lambda _: claimant.claim_all(*server, queue), range(THREADS)))
    for process in processes:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        parts.append([tuple(claim) for claim in json.loads(out)])
    return parts


def each_once(parts):
    claims = Counter(task_id for part in parts for task_id, _ in part)
    assert claims == Counter({f"t{i}": 1 for i in range(TASKS)})
    assert {epoch for part in parts for _, epoch in part} == {1}
    assert sum(bool(part) for part in parts) > PROCESSES, "they did race"


def test_each_task_is_claimed_once(server):
    each_once(run(server, "short"))


@pytest.mark.race
@pytest.mark.timeout(1_500)
def test_each_task_is_claimed_once_twenty_times(server):
    for round_ in range(20):
        each_once(run(server, f"long-{round_}"))
