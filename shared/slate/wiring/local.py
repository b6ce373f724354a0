"""Slate over moto in this process: what a laptop and the tests run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from slate.adapters.dynamodb.table import TABLES, TIMER, TIMER_PK, TIMER_SK
from slate.adapters.inprocess.clocks import ManualClock, SystemClock
from slate.adapters.inprocess.counts import ProcessCounts
from slate.adapters.inprocess.event_bus import InProcessEventBus
from slate.adapters.inprocess.master_key import MasterKeyWrapper
from slate.adapters.inprocess.queues import InProcessQueues
from slate.adapters.inprocess.random_ids import RandomIds
from slate.adapters.inprocess.signing_key import LocalSigningKey
from slate.adapters.inprocess.wakeups import ThreadWakeups
from slate.ports.clock import Clock
from slate.ports.ids import Ids
from slate.ports.keyring import KeyWrapper
from slate.service.waiting import TOLD
from slate.settings import Settings
from slate.wiring.assembling import assemble
from slate.wiring.choices import local_embedder, token_counter
from slate.wiring.local_index import local_index
from slate.wiring.parts import PARALLEL_CALLS, WEBHOOKS, Parts, Slate

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSlate:
    """Slate in this process, and what only a local one has: its clock may be moved, its clients reached."""

    slate: Slate
    clock: Clock
    dynamodb: DynamoDBClient
    streams: DynamoDBStreamsClient
    s3: S3Client
    queues: InProcessQueues
    bus: InProcessEventBus
    wakeups: ThreadWakeups
    counts: ProcessCounts
    consumers: list[Callable[[], int]] = field(default_factory=list)
    """The stream's: each reads it to its end, and answers how much it did."""

    def drain(self, *, queues: bool = True) -> int:
        """Do all that is due, until nothing is; answer how much. Without ``queues`` no message is delivered."""
        done = 0
        while now := self._run_once(queues=queues):
            done += now
        return done

    def _run_once(self, *, queues: bool) -> int:
        """Each may make work for the others: only a round in which none had any is the last.

        The queues are emptied first: a batch of theirs is small, and looking for what is due is not.
        """
        slate = self.slate
        timers: Mapping[str, Callable[[], int]] = {
            "task": slate.sweeping.run_once,
            "memory": slate.memory.decay.run_once,
            "hold": slate.privacy.holds.run_once,
            "erasure": slate.privacy.eraser.run_once,
        }
        due = self._due_kinds()
        done = sum(run_once() for kind, run_once in timers.items() if kind in due)
        done += sum(consume() for consume in self.consumers)
        while queues and (delivered := self.queues.run_once()):
            done += delivered
        return done

    def _due_kinds(self) -> set[str]:
        """Of which kinds something is due. One look at the whole timer, which here is small, spares those at shards."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.slate.settings.table, IndexName=TIMER)
        end = f"{self.clock.now() + 1:015d}"
        due = [item for page in pages for item in page["Items"] if item[TIMER_SK]["S"] < end]
        return {item[TIMER_PK]["S"].partition("#")[0] for item in due}


@contextmanager
def build_local(
    *,
    clock: Clock | None = None,
    wrapper: KeyWrapper | None = None,
    settings: Settings | None = None,
    rng: random.Random | None = None,
    ids: Ids | None = None,
) -> Iterator[LocalSlate]:
    """Slate over moto in this process: its data lives in memory and goes with the context."""
    from slate.adapters.inprocess.moto_engine import MotoEngine

    # Engines of one process share one AWS account: names of its own keep each Slate to itself.
    own = RandomIds().new()[:12]
    base = settings or Settings()
    settings = replace(
        base,
        table=f"{base.table}-{own}",
        keys_table=f"{base.keys_table}-{own}",
        ledger_table=f"{base.ledger_table}-{own}",
        bucket=f"{base.bucket}-{own}",
    )
    clock = clock or SystemClock()
    embedder = local_embedder(settings)
    with (
        MotoEngine(region=settings.region) as engine,
        ThreadPoolExecutor(PARALLEL_CALLS) as executor,
        local_index(settings, embedder, own) as index,
    ):
        dynamodb: DynamoDBClient = engine.client("dynamodb")
        s3: S3Client = engine.client("s3")
        create_storage(dynamodb, s3, settings)
        ids = ids or RandomIds()
        counts = ProcessCounts()
        queues, wakeups = InProcessQueues(clock, ids), ThreadWakeups()
        bus = InProcessEventBus(settings.region)
        bus.add_rule(queues(WEBHOOKS))
        parts = Parts(
            dynamodb=dynamodb,
            s3=s3,
            wrapper=wrapper or MasterKeyWrapper.generate(),
            signing_key=_signing_key(settings),
            clock=clock,
            executor=executor,
            ids=ids,
            counter=token_counter(settings),
            embedder=embedder,
            rng=rng or random.SystemRandom(),
            queues=queues,
            bus=bus,
            index=index,
            wakeups=wakeups,
            pauses=TOLD,
            counts=counts,
        )
        slate = assemble(settings, parts)
        try:
            yield LocalSlate(
                slate=slate,
                clock=clock,
                dynamodb=dynamodb,
                streams=engine.client("dynamodbstreams"),
                s3=s3,
                queues=queues,
                bus=bus,
                wakeups=wakeups,
                counts=counts,
            )
        finally:
            wakeups.close()
            for table in (settings.table, settings.keys_table, settings.ledger_table):
                dynamodb.delete_table(TableName=table)


def _signing_key(settings: Settings) -> LocalSigningKey:
    """What receipts are signed by; raises ValueError where the file that is set holds no such key."""
    file = settings.signing_key_file
    return LocalSigningKey.from_file(Path(file)) if file else LocalSigningKey.generate()


def create_storage(dynamodb: DynamoDBClient, s3: S3Client, settings: Settings) -> None:
    """Make the tables and the bucket, in the shape that CDK gives them."""
    names = {"slate": settings.table, "slate-keys": settings.keys_table, "slate-ledger": settings.ledger_table}
    for spec in TABLES:
        dynamodb.create_table(**spec.create_arguments(names[spec.name]))
    region = s3.meta.region_name
    s3.create_bucket(Bucket=settings.bucket, CreateBucketConfiguration={"LocationConstraint": region})  # type: ignore[typeddict-item]  # any region
    s3.put_bucket_versioning(Bucket=settings.bucket, VersioningConfiguration={"Status": "Enabled"})


def manual_clock() -> ManualClock:
    """A clock that starts at the machine's time and stands still until it is moved."""
    return ManualClock(SystemClock().now())
