"""A fresh Slate for each test: one process-wide moto, tables of its own, a clock that is moved, nothing random."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, Final

from contract.faults import Faults, FaultyClient
from slate.adapters.dynamodb.calls import Calls, Item, Key, from_wire
from slate.adapters.dynamodb.cascade_store import DynamoCascadeStore
from slate.adapters.dynamodb.codec import Codec
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.graph_store import DynamoGraphStore
from slate.adapters.dynamodb.idempotency_store import DynamoIdempotencyStore
from slate.adapters.dynamodb.key_store import DynamoApiKeyStore
from slate.adapters.dynamodb.keyring import DynamoKeyring
from slate.adapters.dynamodb.keys import ReadyOrder, ref_of, task_key
from slate.adapters.dynamodb.steering_store import DynamoSteeringStore
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import KEYS, LEDGER, MAIN
from slate.adapters.dynamodb.task_items import need_of
from slate.adapters.dynamodb.task_store import DynamoTaskStore
from slate.adapters.dynamodb.timer_store import DynamoTimerStore
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.event_bus import InProcessEventBus
from slate.adapters.inprocess.master_key import MasterKeyWrapper
from slate.adapters.inprocess.queues import InProcessQueues
from slate.adapters.s3.blob_store import S3BlobStore
from slate.contract.tasks import (
    Added,
    AddTasks,
    AskQuestion,
    ClaimTasks,
    Completed,
    CompleteTask,
    CreateGraph,
    FailTask,
    Heartbeat,
    ReleaseTask,
    ResumeTask,
    RetryTask,
    SendHeartbeat,
)
from slate.domain.access import Principal, Scope
from slate.domain.graphs import Graph
from slate.domain.leases import Claim
from slate.domain.tasks import OPEN, Task, TaskSpec, TaskState
from slate.settings import Settings
from slate.wiring.assembling import assemble
from slate.wiring.parts import Parts

START: Final = 1_800_000_000_000
ROLE: Final = "worker"
TENANT: Final = "acme"
DAY: Final = 86_400
SEALED: Final = ("body", "outcome", "error", "question", "answer", "progress", "said", "content", "subject")
_UNREPEATABLE: Final = ("digest", "blob_digest", "blob", "salt")
"""Differ between two worlds, since their keys do."""
_numbers = itertools.count()


class CountingIds:
    """Ids and secrets in order, so that two runs of one test make the same."""

    def __init__(self) -> None:
        self._count = itertools.count(1)

    def new(self) -> str:
        return f"{next(self._count):032x}"

    def secret(self) -> str:
        return f"secret-{next(self._count):016}"


class SteadyRandom(random.Random):
    """Seeded. The pause before another try draws nothing, so that a fault does not change what is drawn after it."""

    def uniform(self, a: float, _: float) -> float:
        return a


class Inline(Executor):
    """Runs what it is given at once, so that calls have an order that can be counted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  # as an executor's thread does
            future.set_exception(error)
        return future


class Bucket:
    """An S3 client whose one bucket is made when it is first used: most worlds never do."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._made = False

    def __getattr__(self, name: str) -> Any:
        if not self._made:
            self._made = True
            where = {"LocationConstraint": self._client.meta.region_name}
            self._client.create_bucket(Bucket=self._name, CreateBucketConfiguration=where)
            self._client.put_bucket_versioning(Bucket=self._name, VersioningConfiguration={"Status": "Enabled"})
        return getattr(self._client, name)


def task(task_id: str, *parents: str | dict[str, str], **more: Any) -> TaskSpec:
    """A task for the role that ``World.claim`` works for."""
    return TaskSpec.model_validate(
        {"task_id": task_id, "title": f"do {task_id}", "role": ROLE, "depends_on": parents, **more}
    )


def after(parent: str) -> dict[str, str]:
    """An edge that any end of the parent meets."""
    return {"task_id": parent, "kind": "completion"}


def many(prefix: str, count: int) -> list[str]:
    """Ids in the order of their numbers."""
    return [f"{prefix}{i:03}" for i in range(count)]


class World:
    """A Slate, the stores behind it, and the few words that tests speak."""

    def __init__(self, dynamodb: Any, s3: Any, **settings: Any) -> None:
        n = next(_numbers)
        self.settings = Settings(
            table=f"main-{n}", keys_table=f"keys-{n}", ledger_table=f"ledger-{n}", bucket=f"content-{n}", **settings
        )
        self.dynamodb, self.s3 = dynamodb, Bucket(s3, self.settings.bucket)
        self._make()
        self.clock = ManualClock(START)
        self.faults = Faults()
        self.slept: list[float] = []
        client, wrapper = FaultyClient(self.dynamodb, self.faults), MasterKeyWrapper.generate()
        self.queues = InProcessQueues(self.clock, CountingIds())
        parts = Parts(
            dynamodb=client,  # type: ignore[arg-type]
            s3=FaultyClient(self.s3, self.faults),  # type: ignore[arg-type]
            wrapper=wrapper,
            clock=self.clock,
            executor=Inline(),
            ids=CountingIds(),
            rng=SteadyRandom(7),
            queues=self.queues,
            bus=InProcessEventBus("local"),
            sleep=self.slept.append,
        )
        self.parts = parts
        self.slate = assemble(self.settings, parts)
        self.storage = self._storage(parts)
        self.graphs, self.tasks = DynamoGraphStore(self.storage), DynamoTaskStore(self.storage)
        self.steering, self.cascade = DynamoSteeringStore(self.storage), DynamoCascadeStore(self.storage)
        self.timer = DynamoTimerStore(self.storage, self.graphs)
        self.calls_seen = DynamoIdempotencyStore(self.storage)
        self.keys = DynamoApiKeyStore(self.storage.calls, self.storage.codec, self.storage.clock)
        self.me = self.principal()

    def _make(self) -> None:
        self.dynamodb.create_table(**MAIN.create_arguments(self.settings.table))
        self.dynamodb.create_table(**KEYS.create_arguments(self.settings.keys_table))
        self.dynamodb.create_table(**LEDGER.create_arguments(self.settings.ledger_table))

    def _storage(self, parts: Parts) -> Storage:
        def calls(table: str) -> Calls:
            return Calls(parts.dynamodb, table, parts.rng, parts.sleep)

        main = calls(self.settings.table)
        keyring = DynamoKeyring(
            calls(self.settings.keys_table), parts.wrapper, parts.clock, DynamoFences(main), cache_seconds=300
        )
        return Storage(
            calls=main,
            codec=Codec(keyring),
            blobs=S3BlobStore(parts.s3, self.settings.bucket),
            clock=parts.clock,
            executor=parts.executor,
            ready_order=ReadyOrder(self.settings.ready_shards, self.settings.ready_level_seconds * 1000),
        )

    def close(self) -> None:
        """Forget its tables: a session makes thousands."""
        self.dynamodb.delete_table(TableName=self.settings.table)
        self.dynamodb.delete_table(TableName=self.settings.keys_table)
        self.dynamodb.delete_table(TableName=self.settings.ledger_table)

    # ---- who

    def principal(self, agent: str = "ann", tenant: str = TENANT, **more: Any) -> Principal:
        return Principal(tenant=tenant, agent=agent, key_id=f"k-{agent}", scopes=frozenset(Scope), **more)

    # ---- planners

    def graph(self, *specs: TaskSpec, graph_id: str = "g", by: Principal | None = None, **more: Any) -> Graph:
        body = CreateGraph(graph_id=graph_id, goal=more.pop("goal", "a goal"), tasks=specs, **more)
        return self.slate.planning.create(by or self.me, body, None)[0]

    def add(self, *specs: TaskSpec, graph_id: str = "g", by: Principal | None = None, more: bool = False) -> Added:
        return self.slate.planning.add(by or self.me, graph_id, AddTasks(tasks=specs, more=more), None)

    def cancel_graph(self, graph_id: str = "g") -> Graph:
        return self.slate.planning.cancel(self.me, graph_id, None)

    def delete_graph(self, graph_id: str = "g") -> None:
        self.slate.planning.delete(self.me, graph_id, None)

    # ---- workers

    def claim(self, by: Principal | None = None, **more: Any) -> Claim:
        """The one task there is to claim."""
        (claim,) = self.claims(by, **more)
        return claim

    def claims(self, by: Principal | None = None, *, key: str | None = None, **more: Any) -> tuple[Claim, ...]:
        body = ClaimTasks.model_validate({"roles": (ROLE,), **more})
        return self.slate.working.claim(by or self.me, body, key).claims

    def heartbeat(self, claim: Claim, by: Principal | None = None, **more: Any) -> Heartbeat:
        body = SendHeartbeat(token=claim.token, **more)
        return self.slate.working.heartbeat(by or self.me, claim.task.graph_id, claim.task.task_id, body)

    def complete(self, claim: Claim, result: Any = "ok", by: Principal | None = None, **more: Any) -> Completed:
        body = CompleteTask(token=claim.token, action="did it", result=result, **more)
        return self.slate.working.complete(by or self.me, claim.task.graph_id, claim.task.task_id, body)

    def fail(self, claim: Claim, error: Any = "boom", by: Principal | None = None, *, retryable: bool = True) -> Task:
        body = FailTask(token=claim.token, error=error, retryable=retryable)
        return self.slate.working.fail(by or self.me, claim.task.graph_id, claim.task.task_id, body)

    def wait(self, claim: Claim, question: Any = "may I?", by: Principal | None = None) -> Task:
        body = AskQuestion(token=claim.token, question=question)
        return self.slate.working.wait(by or self.me, claim.task.graph_id, claim.task.task_id, body)

    def release(self, claim: Claim, by: Principal | None = None) -> Task:
        body = ReleaseTask(token=claim.token)
        return self.slate.working.release(by or self.me, claim.task.graph_id, claim.task.task_id, body)

    # ---- people

    def task(self, task_id: str, graph_id: str = "g", by: Principal | None = None) -> Task:
        return self.slate.steering.get(by or self.me, graph_id, task_id)

    def resume(
        self,
        task_id: str,
        answer: Any = "yes",
        epoch: int | None = None,
        by: Principal | None = None,
        graph_id: str = "g",
    ) -> Task:
        body = ResumeTask(answer=answer, epoch=epoch)
        return self.slate.steering.resume(by or self.me, graph_id, task_id, body, None)

    def cancel(self, task_id: str, by: Principal | None = None, graph_id: str = "g") -> Task:
        return self.slate.steering.cancel(by or self.me, graph_id, task_id, None)

    def retry(self, task_id: str, by: Principal | None = None, graph_id: str = "g", *, cascade: bool = False) -> Task:
        return self.slate.steering.retry(by or self.me, graph_id, task_id, RetryTask(cascade=cascade), None)

    def states(self, graph_id: str = "g") -> dict[str, str]:
        """The state of each task, as callers see it."""
        page = self.tasks.page(TENANT, graph_id, None, None, None, 1_000)
        return {t.task_id: t.state.value for t in page.items}

    # ---- time

    def sweep(self) -> int:
        return self.slate.sweeping.run_once()

    def settle(self) -> None:
        """Let all time pass that anything waits for: leases, delays, holds, last sweeps."""
        for _ in range(10):
            if not self.waits():
                return
            self.clock.advance(DAY + 1)
            self.sweep()
        raise AssertionError("something stays in the timer for ever")

    def waits(self) -> bool:
        """Whether anything is due now or later, but for the look whether values are to go."""
        return any("timer_pk" in item and key.sk != "VALUES" for key, item in self.items().items())

    def work_off(self, result_of: Callable[[Claim], Any] = lambda _: "ok") -> None:
        """Workers and people do all there is to do, and never fail."""
        for _ in range(1_000):
            for item in self.items().values():
                if item["sk"].startswith("T#") and _asks(item):
                    self.resume(item["sk"][2:], graph_id=item["pk"].rpartition("#")[2])
            claims = self.claims(max=100)
            for claim in claims:
                self.complete(claim, result_of(claim))
            if not claims and not any(_asks(item) for item in self.items().values()):
                return
        raise AssertionError("work does not end")

    def freeze(self, *indexes: str) -> None:
        """These indexes stop following the table until ``self.faults.thaw()``."""
        for index in indexes:
            self.faults.freeze(index, list(self._scan()))

    # ---- behind the ports

    def items(self) -> dict[Key, Item]:
        """Every item of the main table but the audit's, which tells of each try."""
        return {key: item for key, item in self.everything().items() if not is_of_audit(key)}

    def everything(self) -> dict[Key, Item]:
        """Every item of the main table."""
        found = (from_wire(raw) or {} for raw in self._scan())
        return {Key(item["pk"], item["sk"]): item for item in found}

    def _scan(self) -> Iterator[Any]:
        for page in self.dynamodb.get_paginator("scan").paginate(TableName=self.settings.table):
            yield from page["Items"]

    def item(self, task_id: str, graph_id: str = "g") -> Item:
        """A task's item as it is stored."""
        return self.storage.calls.get(TENANT, task_key(TENANT, graph_id, task_id)) or {}

    def content(self) -> dict[Key, Item]:
        """Every item with what is sealed opened, without what differs between two worlds that did the same."""
        return {key: self._opened(key, item) for key, item in self.items().items()}

    def _opened(self, key: Key, item: Item) -> Item:
        tenant, ref = key.pk.partition("#")[0], ref_of(item)
        shown = {name: value for name, value in item.items() if name not in _UNREPEATABLE}
        if key.sk == "CALL":
            shown["answer"] = "answer" in shown  # it holds tokens
        if key.sk.startswith(("V#", "VH#")) and "content" in shown:
            place = Key(key.pk, f"V#{key.sk.split('#')[1]}")
            name = f"value {item['version']}"
            shown["content"] = self.storage.codec.open(tenant, ref, place, name, shown["content"])
        for name in SEALED:
            if isinstance(shown.get(name), bytes):
                shown[name] = self.storage.codec.open(tenant, ref, key, name, shown[name])
        if ref is not None:
            # Each world has keys of its own, so one person has another ref in each.
            shown = {n: v.replace(ref, "somebody") if isinstance(v, str) else v for n, v in shown.items()}
        return shown

    def shape(self) -> dict[Key, Item]:
        """The content without what a second try of a call makes anew: tokens, jitter, and records of the tries."""
        return {
            key: {name: value for name, value in item.items() if name not in ("token", "due_at", "timer_sk")}
            for key, item in self.content().items()
            if key.sk != "CALL"
        }

    def objects(self) -> list[str]:
        """The key of every object version."""
        pages = self.s3.get_paginator("list_object_versions").paginate(Bucket=self.settings.bucket)
        return [v["Key"] for page in pages for v in (*page.get("Versions", []), *page.get("DeleteMarkers", []))]


def is_of_audit(key: Key) -> bool:
    return "#A#" in key.pk or key.pk.endswith("#N#audit")


def _asks(item: Item) -> bool:
    if not item["sk"].startswith("T#"):
        return False
    return item["state"] == TaskState.WAITING or (item["state"] == TaskState.BLOCKED and need_of(item) == {0})


def all_ended(states: Iterable[str]) -> bool:
    return not set(states) & {state.value for state in OPEN}
