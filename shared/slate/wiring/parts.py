"""What Slate is put together from, and what comes of it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.adapters.inprocess.token_estimate import EstimatingCounter
from slate.adapters.inprocess.wakeups import NoWakeups
from slate.ports.clock import Clock
from slate.ports.counts import Counts, NoCounts
from slate.ports.embedder import Embedder
from slate.ports.eraser_start import EraserStart, runs_anyway
from slate.ports.erasure_store import DueErasure
from slate.ports.event_bus import EventBus
from slate.ports.hold_store import DueHold
from slate.ports.ids import Ids
from slate.ports.keyring import KeyWrapper, Operate
from slate.ports.language_model import LanguageModel
from slate.ports.memory_index import MemoryIndex
from slate.ports.queue import Queue, Queues
from slate.ports.receipts import SigningKey
from slate.ports.token_counter import TokenCounter
from slate.ports.wakeups import Wakeups
from slate.service.access import Access
from slate.service.admission import Admission
from slate.service.audit.reading import AuditReading
from slate.service.audit.writing import Auditing
from slate.service.context.giving import Contexts
from slate.service.decay import Decay
from slate.service.due_work import DueWork
from slate.service.erasing.asking import Erasing
from slate.service.erasing.deadlines import Deadlines
from slate.service.erasing.proving import Proving
from slate.service.erasing.replaying import Replaying
from slate.service.erasing.running import Running
from slate.service.exporting import Exporting
from slate.service.facts.extracting import Extracting
from slate.service.facts.remembering import Facts
from slate.service.facts.reviewing import Reviewing
from slate.service.feed.following import Following
from slate.service.feed.numbering import Feeds
from slate.service.forgetting.evicting import Evicting
from slate.service.forgetting.examining import Examining
from slate.service.forgetting.fading import Fading
from slate.service.forgetting.feedback import Learning
from slate.service.forgetting.undoing import Undoing
from slate.service.forgetting.waking import Waking
from slate.service.holding import Holding
from slate.service.locks import Locks
from slate.service.recognising import Recognising
from slate.service.search.finished import Finished
from slate.service.search.retrieval import Retrieval
from slate.service.sessions.keeping import Sessions
from slate.service.sessions.pinning import Pinning
from slate.service.sessions.talking import Talking
from slate.service.summaries import Summaries
from slate.service.tasks.planning import Planning
from slate.service.tasks.steering import Steering
from slate.service.tasks.sweeping import Sweeping
from slate.service.tasks.viewing import Viewing
from slate.service.tasks.working import Working
from slate.service.tenants import Tenants
from slate.service.values import Values
from slate.service.waiting import POLLED, Pauses, Waiting
from slate.service.webhooks.delivering import Delivering
from slate.service.webhooks.keeping import Webhooks
from slate.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

FEED_FAILURES: Final = "feed-failures"
"""The queue of stream records that the feed could not take: somebody looks at them."""
MEMORY: Final = "memory"
"""The queue of work on memory: where segments end, summaries, what closed sessions leave."""
WEBHOOKS: Final = "webhooks"
"""The queue of events for webhooks, and of their deliveries."""
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
    exporting: Exporting
    forgetting: Forgetting


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """The use cases of whoever answers for persons' data."""

    erasing: Erasing
    running: Running
    eraser: DueWork[DueErasure]
    """Goes on with the erasures that are due."""
    deadlines: Deadlines
    proving: Proving
    replaying: Replaying
    """An operator's: it works outside the quarantine alone."""
    holding: Holding
    holds: DueWork[DueHold]
    """Ends the holds whose time is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The use cases of the audit."""

    writing: Auditing
    reading: AuditReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Slate:
    """The use cases, ready to be called."""

    settings: Settings
    clock: Clock
    operate: Operate
    audit: Audit
    waiting: Waiting
    access: Access
    recognising: Recognising
    admission: Admission
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
    privacy: Privacy


def _passing_key() -> SigningKey:
    """A key that ends with the process."""
    from slate.adapters.inprocess.signing_key import LocalSigningKey  # whoever is given one starts without it

    return LocalSigningKey.generate()


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
    signing_key: SigningKey = field(default_factory=_passing_key)
    """Signs the receipts of erasures."""
    counter: TokenCounter = field(default_factory=EstimatingCounter)
    embedder: Embedder = field(default_factory=HashingEmbedder)
    index: MemoryIndex | None = None
    """Without one the newest of what was said is searched in the storage, by words."""
    model: LanguageModel | None = None
    """Without one, rules do what it would."""
    counts: Counts = field(default_factory=NoCounts)
    """Where it is counted what was forgotten, and what became of it."""
    quarantine: bool = True
    """Whether a table that comes from a backup is refused; an operator who replays the ledger over it works in it."""
    sleep: Callable[[float], None] = time.sleep
    start_eraser: EraserStart = runs_anyway
    wakeups: Wakeups = field(default_factory=NoWakeups)
    pauses: Pauses = POLLED
