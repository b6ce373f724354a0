"""Puts Slate together: the only file that picks adapters.

``build_aws`` is what the Lambdas run; ``build_local`` is the same service over moto in this process. Both hand every
dependency to ``assemble``, and so may a test, with a clock, a randomness or a client of its own.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from slate.adapters.bedrock.embedder import BedrockEmbedder
from slate.adapters.bedrock.language_model import BedrockLanguageModel
from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.cascade_store import DynamoCascadeStore
from slate.adapters.dynamodb.codec import Codec
from slate.adapters.dynamodb.context_store import DynamoContextStore
from slate.adapters.dynamodb.document_store import DynamoDocumentStore
from slate.adapters.dynamodb.episode_store import DynamoEpisodeStore
from slate.adapters.dynamodb.extraction_store import DynamoExtractionStore
from slate.adapters.dynamodb.fact_fading import DynamoFactFading
from slate.adapters.dynamodb.fact_records import DynamoFactRecords
from slate.adapters.dynamodb.fact_store import DynamoFactStore
from slate.adapters.dynamodb.feed_store import DynamoFeedStore
from slate.adapters.dynamodb.graph_store import DynamoGraphStore
from slate.adapters.dynamodb.idempotency_store import DynamoIdempotencyStore
from slate.adapters.dynamodb.key_store import DynamoApiKeyStore
from slate.adapters.dynamodb.keyring import DynamoKeyring
from slate.adapters.dynamodb.keys import ReadyOrder
from slate.adapters.dynamodb.lock_store import DynamoLockStore
from slate.adapters.dynamodb.memory_timer import DynamoMemoryTimer
from slate.adapters.dynamodb.session_store import DynamoSessionStore
from slate.adapters.dynamodb.steering_store import DynamoSteeringStore
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import TABLES
from slate.adapters.dynamodb.task_store import DynamoTaskStore
from slate.adapters.dynamodb.telling import ReadyTelling
from slate.adapters.dynamodb.tenant_store import DynamoTenantStore
from slate.adapters.dynamodb.timer_store import DynamoTimerStore
from slate.adapters.dynamodb.usage_meter import DynamoUsageMeter
from slate.adapters.dynamodb.value_store import DynamoValueStore
from slate.adapters.dynamodb.view_store import DynamoViewStore
from slate.adapters.dynamodb.webhook_store import DynamoWebhookStore
from slate.adapters.eventbridge.bus import EventBridgeBus
from slate.adapters.https.sender import HttpsSender
from slate.adapters.inprocess.clocks import ManualClock, SystemClock
from slate.adapters.inprocess.counts import ProcessCounts
from slate.adapters.inprocess.event_bus import InProcessEventBus
from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.adapters.inprocess.master_key import MasterKeyWrapper
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.inprocess.queues import InProcessQueues
from slate.adapters.inprocess.random_ids import RandomIds
from slate.adapters.inprocess.token_estimate import EstimatingCounter
from slate.adapters.inprocess.wakeups import NoWakeups, ThreadWakeups
from slate.adapters.kms.wrapper import KmsKeyWrapper
from slate.adapters.opensearch.breaker import Breaker
from slate.adapters.opensearch.memory_index import OpenSearchMemoryIndex
from slate.adapters.opensearch.transport import Transport
from slate.adapters.s3.blob_store import S3BlobStore
from slate.adapters.sqs.queues import SqsQueues
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.topics import Topics
from slate.domain.transcript import Window
from slate.domain.values import OwnerKind
from slate.ports.clock import Clock
from slate.ports.counts import Counts, NoCounts
from slate.ports.embedder import Embedder
from slate.ports.event_bus import EventBus
from slate.ports.ids import Ids
from slate.ports.keyring import KeyWrapper
from slate.ports.language_model import LanguageModel
from slate.ports.memory_index import MemoryIndex
from slate.ports.memory_timer import MemoryKind
from slate.ports.queue import Queue, Queues
from slate.ports.token_counter import TokenCounter
from slate.ports.wakeups import Wakeups
from slate.service.access import Access
from slate.service.context.giving import Contexts
from slate.service.context.memory_source import MemorySource
from slate.service.context.session_source import SessionSource
from slate.service.context.task_source import TaskSource
from slate.service.decay import Decay
from slate.service.facts.deciding import Deciding
from slate.service.facts.extracting import JOB, Extracting, TurnWatch
from slate.service.facts.remembering import Facts
from slate.service.facts.reviewing import Reviewing
from slate.service.feed.ending import Ends
from slate.service.feed.following import Following
from slate.service.feed.numbering import Feeds
from slate.service.forgetting.evicting import Evicting
from slate.service.forgetting.examining import Examining
from slate.service.forgetting.fading import Fading
from slate.service.forgetting.feedback import Learning
from slate.service.forgetting.leaving import Leaving
from slate.service.forgetting.undoing import Undoing
from slate.service.forgetting.waking import Waking
from slate.service.idempotency import Idempotency
from slate.service.locks import Locks
from slate.service.paging import Cursors
from slate.service.search.finished import Finished
from slate.service.search.retrieval import Retrieval, Stores
from slate.service.sessions.ending import Ending
from slate.service.sessions.keeping import Sessions
from slate.service.sessions.pinning import Pinning
from slate.service.sessions.reaching import SessionOwners
from slate.service.sessions.talking import Talking
from slate.service.summaries import CALIBRATED, RULES_ONLY, SUMMARY, Summaries, SummaryBounds
from slate.service.tasks.planning import Planning
from slate.service.tasks.steering import Steering
from slate.service.tasks.sweeping import Sweeping
from slate.service.tasks.tokens import Tokens
from slate.service.tasks.unlocking import Unlocking
from slate.service.tasks.viewing import Viewing
from slate.service.tasks.working import Working
from slate.service.tenants import Tenants
from slate.service.values import GraphOwners, Values
from slate.service.waiting import POLLED, TOLD, Pauses, Waiting
from slate.service.watches import Watches
from slate.service.webhooks.delivering import Delivering
from slate.service.webhooks.keeping import Webhooks
from slate.settings import Settings

if TYPE_CHECKING:
    import boto3
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client

FEED_FAILURES: Final = "feed-failures"
"""The queue of stream records that the feed could not take: somebody looks at them."""
MEMORY: Final = "memory"
"""The queue of work on memory: where segments end, summaries, what closed sessions leave."""
WEBHOOKS: Final = "webhooks"
"""The queue of events for webhooks, and of their deliveries."""
HASHING: Final = "hashing"
"""The embedder that needs no model."""
LOCAL_EMBEDDER: Final = "local"
"""The embedder that needs a file, and no network."""
ESTIMATE: Final = "estimate"
"""In the place of a tokenizer: none is used."""
PARALLEL_CALLS: Final = 16
"""Calls of one request that may run side by side; the client's connection pool is as large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """The use cases of forgetting."""

    fading: Fading
    evicting: Evicting
    waking: Waking
    learning: Learning
    undoing: Undoing
    examining: Examining


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The use cases of what is said and remembered."""

    sessions: Sessions
    talking: Talking
    pinning: Pinning
    summaries: Summaries
    extracting: Extracting
    facts: Facts
    reviewing: Reviewing
    tenants: Tenants
    decay: Decay
    contexts: Contexts
    retrieval: Retrieval
    finished: Finished
    forgetting: Forgetting


@dataclass(frozen=True, slots=True, kw_only=True)
class Slate:
    """The use cases, ready to be called."""

    settings: Settings
    clock: Clock
    waiting: Waiting
    access: Access
    planning: Planning
    working: Working
    steering: Steering
    sweeping: Sweeping
    values: Values
    locks: Locks
    feeds: Feeds
    feed_failures: Queue
    following: Following
    viewing: Viewing
    webhooks: Webhooks
    delivering: Delivering
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What ``assemble`` puts Slate together from."""

    dynamodb: DynamoDBClient
    s3: S3Client
    wrapper: KeyWrapper
    clock: Clock
    executor: Executor
    ids: Ids
    rng: random.Random
    queues: Queues
    bus: EventBus
    counter: TokenCounter = field(default_factory=EstimatingCounter)
    embedder: Embedder = field(default_factory=HashingEmbedder)
    index: MemoryIndex | None = None
    """Without one the newest of what was said is searched in the storage, by words."""
    model: LanguageModel | None = None
    """Without one, rules do what it would."""
    counts: Counts = field(default_factory=NoCounts)
    """Where it is counted what was forgotten, and what became of it."""
    sleep: Callable[[float], None] = time.sleep
    wakeups: Wakeups = field(default_factory=NoWakeups)
    pauses: Pauses = POLLED


def assemble(settings: Settings, parts: Parts) -> Slate:
    """Put Slate together from the parts given."""
    clock, ids, rng = parts.clock, parts.ids, parts.rng
    waiting = Waiting(parts.wakeups, rng, pauses=parts.pauses, places=settings.waiting_places)
    written = ReadyTelling(parts.wakeups)

    def calls(table: str) -> Calls:
        return Calls(parts.dynamodb, table, rng, parts.sleep, written)

    keyring = DynamoKeyring(calls(settings.keys_table), parts.wrapper, clock, cache_seconds=settings.key_cache_seconds)
    storage = Storage(
        calls=calls(settings.table),
        codec=Codec(keyring),
        blobs=S3BlobStore(parts.s3, settings.bucket),
        clock=clock,
        executor=parts.executor,
        ready_order=ReadyOrder(settings.ready_shards, settings.ready_level_seconds * 1000),
    )
    graphs, tasks, cascade = DynamoGraphStore(storage), DynamoTaskStore(storage), DynamoCascadeStore(storage)
    sessions = DynamoSessionStore(storage)
    cursors, unlocking = Cursors(keyring), Unlocking(cascade, clock)
    idempotency = Idempotency(DynamoIdempotencyStore(storage), ids)
    decisions = settings.decision_cache_seconds
    feed_store = DynamoFeedStore(storage)
    feeds = Feeds(feed_store, parts.wakeups, clock, Ends(parts.bus, parts.queues(MEMORY)))
    webhooks, loopback = DynamoWebhookStore(storage), settings.webhook_addresses == "loopback"
    sender = HttpsSender(timeout_seconds=settings.webhook_timeout_seconds, loopback=loopback)
    return Slate(
        settings=settings,
        clock=clock,
        waiting=waiting,
        access=Access(DynamoApiKeyStore(storage), idempotency, cursors, ids, clock, cache_seconds=decisions),
        planning=Planning(graphs, tasks, unlocking, idempotency, cursors, clock),
        working=Working(
            tasks,
            unlocking,
            Tokens(keyring),
            keyring,
            idempotency,
            waiting,
            ids=ids,
            clock=clock,
            rng=rng,
            level_seconds=settings.ready_level_seconds,
        ),
        steering=Steering(graphs, tasks, DynamoSteeringStore(storage), cascade, unlocking, cursors),
        sweeping=Sweeping(DynamoTimerStore(storage, graphs), unlocking, feeds, clock),
        values=Values(
            {OwnerKind.GRAPH: GraphOwners(graphs, keyring), OwnerKind.SESSION: SessionOwners(sessions, keyring)},
            DynamoValueStore(storage),
            idempotency,
            cursors,
        ),
        locks=Locks(DynamoLockStore(storage), keyring, idempotency, waiting, parts.wakeups, clock),
        feeds=feeds,
        feed_failures=parts.queues(FEED_FAILURES),
        following=Following(graphs, feed_store, waiting),
        viewing=Viewing(graphs, DynamoViewStore(storage), cursors, clock),
        webhooks=Webhooks(webhooks, idempotency, cursors, clock, loopback=loopback),
        delivering=Delivering(webhooks, parts.queues(WEBHOOKS), sender, clock, rng, time.monotonic),
        memory=_memory(settings, parts, storage, sessions, idempotency, cursors),
    )


def _memory(
    settings: Settings,
    parts: Parts,
    storage: Storage,
    sessions: DynamoSessionStore,
    idempotency: Idempotency,
    cursors: Cursors,
) -> Memory:
    clock, ids, counter, queue = parts.clock, parts.ids, parts.counter, parts.queues(MEMORY)
    tenants = Tenants(DynamoTenantStore(storage, ids), clock, parts.counts, cache_seconds=settings.tenant_cache_seconds)
    summaries = Summaries(
        sessions,
        tenants,
        parts.embedder,
        counter,
        queue,
        DynamoUsageMeter(storage),
        model=None if settings.summary_model == RULES_ONLY else parts.model,
        bounds=SummaryBounds(
            settings.segment_exchanges,
            settings.segment_window_percent,
            settings.default_window,
            settings.summary_tokens,
            settings.merged_summary_tokens,
        ),
        similarity=None if settings.topic_similarity == CALIBRATED else float(settings.topic_similarity),
        leaves=Leaving(sessions, DynamoFactRecords(storage), storage.codec.keyring).out,
    )
    ending = Ending(sessions, summaries, queue, ids, clock, idle_seconds=settings.session_idle_seconds)
    pinning, days = Pinning(sessions, counter), settings.session_retention_days
    keyring, records = storage.codec.keyring, DynamoFactRecords(storage)

    def policies(tenant: str) -> DecayPolicy:
        return tenants.of(tenant).decay

    facts, fades = DynamoFactStore(storage, ids, policies), DynamoFactFading(storage, ids, policies)
    evicting = Evicting(fades, tenants, queue, clock, parts.counts)
    waking = Waking(fades, DynamoContextStore(storage), tenants, keyring, queue, clock, parts.counts)
    deciding = Deciding(facts, records, tenants, clock, evicting.decided)
    knowing = Facts(facts, records, deciding, tenants, keyring, idempotency, cursors, clock, counts=parts.counts)
    watches = Watches(summaries, TurnWatch(tenants, queue))
    stores = Stores(
        sessions=sessions,
        facts=facts,
        records=records,
        episodes=DynamoEpisodeStore(storage),
        documents=DynamoDocumentStore(storage, ids),
        keyring=keyring,
    )
    retrieval = Retrieval.over(
        stores,
        index=parts.index,
        scratch=InProcessMemoryIndex,
        embedder=parts.embedder,
        tenants=tenants,
        idempotency=idempotency,
        ids=ids,
        clock=clock,
    )
    contexts = _contexts(settings, parts, storage, stores, retrieval, waking)
    timer = DynamoMemoryTimer(storage)
    learning = Learning(fades, contexts, sessions, tenants, keyring, parts.counts)
    fading = Fading(fades, facts, tenants, timer, clock, parts.counts, evicting.ask, cap=settings.decay_acts_per_tenant)
    return Memory(
        sessions=Sessions(sessions, ending, pinning, idempotency, cursors, ids, clock, retention_days=days),
        talking=Talking(sessions, watches, counter, idempotency, cursors, clock),
        pinning=pinning,
        summaries=summaries,
        extracting=Extracting(
            sessions,
            DynamoExtractionStore(storage),
            deciding,
            tenants,
            keyring,
            idempotency,
            queue,
            ids=ids,
            clock=clock,
            model=None if settings.extraction_model == RULES_ONLY else parts.model,
            heard=waking.heard,
            closed=learning.reflect,
        ),
        facts=knowing,
        reviewing=Reviewing(records, knowing, deciding, tenants, keyring, cursors, clock),
        tenants=tenants,
        decay=Decay(
            timer,
            {
                MemoryKind.SESSION: lambda due, deadline: ending.tick(due.tenant, due.owner, deadline),
                MemoryKind.CONTENT: lambda due, _: sessions.drop_content(due.tenant, due.owner, due.name),
                MemoryKind.FACT: lambda due, _: fading.tick(due),
                MemoryKind.LIVING: lambda due, _: fading.tick(due),
            },
            clock,
        ),
        contexts=contexts,
        retrieval=retrieval,
        finished=Finished(
            DynamoGraphStore(storage), DynamoTaskStore(storage), DynamoViewStore(storage), stores.episodes
        ),
        forgetting=Forgetting(
            fading=fading,
            evicting=evicting,
            waking=waking,
            learning=learning,
            undoing=Undoing(records, knowing, keyring, cursors, clock),
            examining=Examining(fades, records, tenants, keyring, clock),
        ),
    )


def _contexts(
    settings: Settings, parts: Parts, storage: Storage, stores: Stores, retrieval: Retrieval, waking: Waking
) -> Contexts:
    """Each source of sections that a context may have."""
    graphs, counter, sessions = DynamoGraphStore(storage), parts.counter, stores.sessions
    likeness = (
        parts.embedder.same_topic if settings.topic_similarity == CALIBRATED else float(settings.topic_similarity)
    )
    window = Window(settings.window_exchanges_least, settings.window_exchanges_most)
    digests = settings.context_summaries != "off"
    sources = (
        SessionSource(
            sessions, parts.embedder, Topics(likeness), counter, window, summaries=digests, counts=parts.counts
        ),
        TaskSource(graphs, DynamoTaskStore(storage), DynamoValueStore(storage), storage.codec.keyring, counter),
    )
    memory = MemorySource(
        retrieval.facts,
        retrieval.recalling,
        retrieval.episodes,
        retrieval.knowledge,
        stores.records,
        sessions,
        stores.keyring,
        counter,
    )
    return Contexts(
        sources,
        memory,
        DynamoContextStore(storage),
        sessions,
        graphs,
        counter,
        parts.ids,
        parts.clock,
        window=settings.default_window,
        receipt_days=settings.context_receipt_days,
        given=waking.given,
        deleted=waking.deleted,
    )


def token_counter(settings: Settings) -> TokenCounter:
    """The tokenizer that is set; the estimate where that is set, or where no tokenizer is installed."""
    if settings.tokenizer == ESTIMATE:
        return EstimatingCounter()
    try:
        from slate.adapters.toktok.token_counter import ToktokCounter
    except ImportError:
        return EstimatingCounter()
    return ToktokCounter(settings.tokenizer)


def embedder_of(settings: Settings, bedrock: Callable[[], Any], executor: Executor) -> Embedder:
    """What makes vectors on AWS, as it is set.

    Raises:
        ValueError: it is one that only a laptop has.
    """
    if settings.embedder == HASHING:
        return HashingEmbedder()
    if settings.embedder == LOCAL_EMBEDDER:
        raise ValueError(f"the embedder is `{HASHING}` or a Bedrock model on AWS, not {LOCAL_EMBEDDER!r}")
    return BedrockEmbedder(bedrock, settings.embedder, settings.embedder_dimension, executor)


def local_embedder(settings: Settings) -> Embedder:
    """What makes vectors on a laptop, as it is set.

    Raises:
        ValueError: it is not installed, or is one of Bedrock's.
    """
    if settings.embedder == HASHING:
        return HashingEmbedder()
    if settings.embedder != LOCAL_EMBEDDER:
        raise ValueError(f"the embedder is `{HASHING}` or `{LOCAL_EMBEDDER}` here, not {settings.embedder!r}")
    try:
        from slate.adapters.wordllama.embedder import WordLlamaEmbedder

        return WordLlamaEmbedder()
    except ImportError:
        raise ValueError("the local embedder is not installed: pip install 'agent-slate[embedder]'") from None


def search_transport(settings: Settings, session: boto3.Session) -> Transport | None:
    """How the OpenSearch domain is reached, where there is one."""
    if not settings.search_endpoint:
        return None
    from slate.adapters.opensearch.signed import BotocoreSender

    credentials = session.get_credentials()
    sender = BotocoreSender(settings.search_endpoint, settings.region, credentials)
    return Transport(sender, Breaker(time.monotonic), random.SystemRandom(), time.sleep)


def build_aws(settings: Settings, session: boto3.Session, counts: Counts | None = None) -> Slate:
    """Slate over AWS, with this session's credentials."""
    from botocore.config import Config

    # Standard mode sends a call again after a timeout; every write here can tell its own earlier success.
    config = Config(
        connect_timeout=2,
        read_timeout=5,
        max_pool_connections=PARALLEL_CALLS,
        retries={"mode": "standard", "total_max_attempts": 4},
    )
    client: Any = partial(session.client, config=config)
    rng, transport = random.SystemRandom(), search_transport(settings, session)
    urls = {
        WEBHOOKS: settings.webhooks_queue,
        MEMORY: settings.memory_queue,
        FEED_FAILURES: settings.feed_failures_queue,
    }
    return assemble(
        settings,
        Parts(
            dynamodb=session.client("dynamodb", config=config),
            s3=session.client("s3", config=config),
            wrapper=KmsKeyWrapper(session.client("kms", config=config), settings.kms_key_id),
            clock=SystemClock(),
            executor=ThreadPoolExecutor(PARALLEL_CALLS),
            ids=RandomIds(),
            rng=rng,
            queues=SqsQueues(_made_once(partial(client, "sqs")), urls),
            bus=EventBridgeBus(_made_once(partial(client, "events")), settings.event_bus, rng, time.sleep),
            counter=token_counter(settings),
            counts=NoCounts() if counts is None else counts,
            model=_language_model(settings, session),
            embedder=embedder_of(settings, _made_once(partial(client, "bedrock-runtime")), ThreadPoolExecutor(8)),
            index=None if transport is None else OpenSearchMemoryIndex(transport),
        ),
    )


def _language_model(settings: Settings, session: boto3.Session) -> LanguageModel | None:
    """The model of each job; none where rules are to do it."""
    from botocore.config import Config

    jobs = {SUMMARY: settings.summary_model, JOB: settings.extraction_model}
    models = {job: model for job, model in jobs.items() if model != RULES_ONLY}
    if not models:
        return None
    # An answer may take long; a function that waits for one is started by a queue, never by a caller.
    config = Config(connect_timeout=2, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 2})
    return BedrockLanguageModel(_made_once(partial(session.client, "bedrock-runtime", config=config)), models)


def _made_once(make: Callable[[], Any]) -> Callable[[], Any]:
    """A client at its first use: most functions start without it. A session is not safe to share between threads."""
    lock = Lock()
    kept = cache(make)

    def client() -> Any:
        with lock:
            return kept()

    return client


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
        due = self.slate.sweeping.run_once() + self.slate.memory.decay.run_once()
        done = due + sum(consume() for consume in self.consumers)
        while queues and (delivered := self.queues.run_once()):
            done += delivered
        return done


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
    with MotoEngine(region=settings.region) as engine, ThreadPoolExecutor(PARALLEL_CALLS) as executor:
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
            clock=clock,
            executor=executor,
            ids=ids,
            counter=token_counter(settings),
            embedder=local_embedder(settings),
            rng=rng or random.SystemRandom(),
            queues=queues,
            bus=bus,
            index=InProcessMemoryIndex(),
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
