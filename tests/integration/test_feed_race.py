"""Eight writers, consumers that die and are given records twice and out of order, followers who start anywhere."""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from threading import Event, Lock
from typing import Any, Final

import pytest

from contract.faults import Faults, FaultyClient, Killed
from slate.adapters.dynamodb.feed_records import read_record
from slate.adapters.dynamodb.table import FEED_FILTER
from slate.adapters.inprocess.random_ids import RandomIds
from slate.contract.tasks import AddTasks, ClaimTasks, CompleteTask, CreateGraph
from slate.domain.access import Principal, Scope
from slate.domain.errors import SlateError
from slate.domain.events import FeedEntry
from slate.domain.tasks import TaskSpec
from slate.wiring.assembling import assemble
from slate.wiring.local import LocalSlate, build_local, manual_clock
from slate.wiring.parts import Parts, Slate
from slate_functions.events.consume import FeedConsumer
from slate_functions.local.stream import _as_json, matches

WRITERS: Final = 8
FOLLOWERS: Final = 3
CONSUMERS: Final = 2
PART: Final = 500
STATES: Final = ("BLOCKED", "READY", "RUNNING", "DONE")
Record = dict[str, Any]


def principal(agent: str) -> Principal:
    return Principal(tenant="acme", agent=agent, key_id=f"k-{agent}", scopes=frozenset(Scope))


@pytest.mark.parametrize("tasks", [150, pytest.param(2_500, marks=pytest.mark.race)])
def test_every_follower_sees_every_change_once_in_order(tasks: int):
    with build_local(clock=manual_clock()) as local:
        race = Race(local)
        with ThreadPoolExecutor(WRITERS + FOLLOWERS + CONSUMERS) as pool:
            followers = [pool.submit(race.follow, seed) for seed in range(FOLLOWERS)]
            consumers = [pool.submit(race.consume, seed) for seed in range(CONSUMERS)]
            race.plan(tasks)
            writers = [pool.submit(race.write, f"w{i}") for i in range(WRITERS)]
            for writer in writers:
                writer.result()
            race.written.set()
            for consumer in consumers:
                consumer.result()
            race.numbered.set()
            seen = [follower.result() for follower in followers]
        assert race.deaths > 3, "no consumer was killed: the test shows nothing"
        assert race.again > tasks // 10, "nothing was given twice"
        assert seen[0] == seen[1] == seen[2]
        check(seen[0], race.told, tasks)


def check(feed: list[FeedEntry], told: dict[str, set[tuple[int, str]]], tasks: int) -> None:
    """The feed against what the stream said: all of it, once, each task's in the order of its versions."""
    assert [entry.seq for entry in feed] == list(range(1, len(feed) + 1))
    of_task: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for entry in feed:
        if entry.task_id is not None:
            of_task[entry.task_id].append((entry.version, str(entry.state)))
    assert len(of_task) == tasks
    for task_id, steps in of_task.items():
        assert all(before < after for (before, _), (after, _) in pairwise(steps)), task_id
        assert set(steps) == told[task_id]
        assert tuple(state for _, state in steps) == STATES
    assert sum(map(len, of_task.values())) == 4 * tasks
    assert feed[-1].type == "graph.completed"


class Race:
    """One graph, the stream of its table, and what is done with both."""

    def __init__(self, local: LocalSlate) -> None:
        self.written, self.numbered = Event(), Event()
        self.deaths = self.again = 0
        self.told: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
        self._local = local
        self._lock = Lock()
        self._waiting: list[Record] = []
        self._taken: list[Record] = []
        self._iterator = self._horizon()

    # ---- writers

    def plan(self, tasks: int) -> None:
        planner = principal("planner")
        specs = tuple(TaskSpec(task_id=f"t{i}", title="t", role=f"w{i % WRITERS}") for i in range(tasks))
        first = CreateGraph(graph_id="g", goal="a goal", tasks=specs[:PART], more=True)
        self._local.slate.planning.create(planner, first, None)
        for start in range(PART, tasks, PART):
            part = AddTasks(tasks=specs[start : start + PART], more=True)
            self._local.slate.planning.add(planner, "g", part, None)
        self._local.slate.planning.add(planner, "g", AddTasks(tasks=()), None)

    def write(self, agent: str) -> None:
        me, working = principal(agent), self._local.slate.working
        # Each has a role of its own: the race is for the feed, not for the tasks.
        while claims := working.claim(me, ClaimTasks(roles=(agent,), max=5, lease_seconds=3_600), None).claims:
            for claim in claims:
                body = CompleteTask(token=claim.token, action="done", result=1)
                working.complete(me, "g", claim.task.task_id, body)

    # ---- consumers

    def consume(self, seed: int) -> None:
        """Number the stream, badly: out of order, some of it twice, and dead now and then."""
        rng = random.Random(seed)  # noqa: S311  # the same run each time
        while True:
            batch = self._batch(rng)
            if not batch:
                if self.written.is_set() and not self._read():
                    return
                time.sleep(0.005)
                continue
            with _mortal(self._local, rng) as slate:
                left = self._handed(slate, batch)
            with self._lock:
                self._waiting += left
                self._taken += [record for record in batch if record not in left]

    def _handed(self, slate: Slate, batch: list[Record]) -> list[Record]:
        """What is to be given again."""
        try:
            answer = FeedConsumer(slate.feeds, slate.feed_failures, slate.operate)({"Records": batch}, None)
        except Killed:
            with self._lock:
                self.deaths += 1
            return batch
        failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        first = next((i for i, r in enumerate(batch) if r["dynamodb"]["SequenceNumber"] in failed), len(batch))
        return batch[first:]

    def _batch(self, rng: random.Random) -> list[Record]:
        """Some of what waits, from anywhere in it, and some of what was taken already."""
        self._read()
        with self._lock:
            some = self._waiting[:400]
            rng.shuffle(some)
            batch = some[: rng.randint(1, 60)]
            chosen = {id(record) for record in batch}
            self._waiting = [record for record in self._waiting if id(record) not in chosen]
            if self._taken and rng.random() < 0.5:
                twice = rng.choices(self._taken, k=20)
                self.again += len(twice)
                batch = [*twice, *batch]
            rng.shuffle(batch)
            return batch

    def _read(self) -> bool:
        """Take in what the stream holds; whether anything waits."""
        with self._lock:
            page = self._local.streams.get_records(ShardIterator=self._iterator, Limit=1_000)
            self._iterator = page["NextShardIterator"]
            new = [json.loads(json.dumps(r, default=_as_json)) for r in page["Records"] if matches(r, FEED_FILTER)]
            for record in new:
                self._note(record)
            self._waiting += new
            return bool(self._waiting or page["Records"])

    def _note(self, raw: Record) -> None:
        record = read_record(raw)
        if record is not None and record.step.task_id is not None:
            self.told[record.step.task_id].add((record.step.version, str(record.step.state)))

    def _horizon(self) -> str:
        streams, table = self._local.streams, self._local.slate.settings.table
        arn = self._local.dynamodb.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        answer = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        return answer["ShardIterator"]

    # ---- followers

    def follow(self, seed: int) -> list[FeedEntry]:
        """Read on after the last entry seen, and now and then again from anywhere before it."""
        rng, seen = random.Random(seed), list[FeedEntry]()  # noqa: S311  # as above
        while True:
            over = self.numbered.is_set()
            after = rng.randint(0, len(seen)) if rng.random() < 0.2 else len(seen)
            wait = 0 if over else 0.3
            try:
                page = self._local.slate.following.read(principal("reader"), "g", after, rng.randint(1, 200), wait)
            except SlateError:
                time.sleep(0.01)
                continue  # there is no graph yet
            assert [e.seq for e in page.items] == list(range(after + 1, after + 1 + len(page.items)))
            again, new = page.items[: len(seen) - after], page.items[len(seen) - after :]
            assert list(again) == seen[after : after + len(again)], "an entry has changed"
            seen += new
            if over and not page.items and after == len(seen):
                return seen


@contextmanager
def _mortal(local: LocalSlate, rng: random.Random) -> Iterator[Slate]:
    """A consumer's process: half of them die at one of their first writes, before it or after it."""
    faults = Faults()
    if rng.random() < 0.5:
        faults.kill_after(rng.randint(0, 4))
    client: Any = FaultyClient(local.dynamodb, faults)
    with ThreadPoolExecutor(1) as executor:
        parts = Parts(
            dynamodb=client,
            s3=local.s3,
            wrapper=_NoKeys(),
            clock=local.clock,
            executor=executor,
            ids=RandomIds(),
            rng=rng,
            queues=local.queues,
            bus=local.bus,
            wakeups=local.wakeups,
        )
        yield assemble(local.slate.settings, parts)


class _NoKeys:
    """A consumer opens nothing that is sealed."""

    wrap: Callable[..., bytes]
    unwrap: Callable[..., bytes]
