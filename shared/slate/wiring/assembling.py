"""Puts Slate together from its parts: every dependency is handed in."""

from __future__ import annotations

import time

from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.cascade_store import DynamoCascadeStore
from slate.adapters.dynamodb.codec import Codec
from slate.adapters.dynamodb.feed_store import DynamoFeedStore
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.graph_store import DynamoGraphStore
from slate.adapters.dynamodb.idempotency_store import DynamoIdempotencyStore
from slate.adapters.dynamodb.key_store import DynamoApiKeyStore
from slate.adapters.dynamodb.keys import ReadyOrder
from slate.adapters.dynamodb.lock_store import DynamoLockStore
from slate.adapters.dynamodb.session_store import DynamoSessionStore
from slate.adapters.dynamodb.steering_store import DynamoSteeringStore
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.task_store import DynamoTaskStore
from slate.adapters.dynamodb.telling import ReadyTelling
from slate.adapters.dynamodb.timer_store import DynamoTimerStore
from slate.adapters.dynamodb.value_store import DynamoValueStore
from slate.adapters.dynamodb.view_store import DynamoViewStore
from slate.adapters.dynamodb.webhook_store import DynamoWebhookStore
from slate.adapters.https.sender import HttpsSender
from slate.adapters.s3.blob_store import S3BlobStore
from slate.domain.throttling import Pace
from slate.domain.values import OwnerKind
from slate.service.access import Access
from slate.service.admission import Admission
from slate.service.feed.ending import Ends
from slate.service.feed.following import Following
from slate.service.feed.numbering import Feeds
from slate.service.idempotency import Idempotency
from slate.service.locks import Locks
from slate.service.paging import Cursors
from slate.service.sessions.reaching import SessionOwners
from slate.service.tasks.planning import Planning
from slate.service.tasks.steering import Steering
from slate.service.tasks.sweeping import Sweeping
from slate.service.tasks.tokens import Tokens
from slate.service.tasks.unlocking import Unlocking
from slate.service.tasks.viewing import Viewing
from slate.service.tasks.working import Working
from slate.service.values import GraphOwners, Values
from slate.service.waiting import Waiting
from slate.service.webhooks.delivering import Delivering
from slate.service.webhooks.keeping import Webhooks
from slate.settings import Settings
from slate.wiring.auditing import audit_of, watched
from slate.wiring.memory import memory_of
from slate.wiring.parts import FEED_FAILURES, MEMORY, WEBHOOKS, Parts, Slate
from slate.wiring.privacy import privacy_of
from slate.wiring.recognition import keyring_of, recognising_of


def assemble(settings: Settings, parts: Parts) -> Slate:
    """Put Slate together from the parts given."""
    clock, ids, rng = parts.clock, parts.ids, parts.rng
    waiting = Waiting(parts.wakeups, rng, pauses=parts.pauses, places=settings.waiting_places)
    written = ReadyTelling(parts.wakeups)

    def calls(table: str) -> Calls:
        return Calls(parts.dynamodb, table, rng, parts.sleep, written)

    main, noted = watched(parts, settings.table, written), calls(settings.ledger_table)
    fences = DynamoFences(main)

    def held(tenant: str, ref: str) -> bool:
        return fences.read(tenant, ref).held

    keyring = keyring_of(settings, calls, fences, parts.wrapper, clock, quarantine=parts.quarantine)
    storage = Storage(
        calls=main,
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
    audit = audit_of(parts, storage, noted, cursors)
    api_keys = DynamoApiKeyStore(storage.calls, storage.codec, clock)
    feed_store = DynamoFeedStore(storage)
    feeds = Feeds(feed_store, parts.wakeups, clock, Ends(parts.bus, parts.queues(MEMORY)))
    webhooks, loopback = DynamoWebhookStore(storage), settings.webhook_addresses == "loopback"
    sender = HttpsSender(timeout_seconds=settings.webhook_timeout_seconds, loopback=loopback)
    return Slate(
        settings=settings,
        clock=clock,
        operate=keyring.operation,
        audit=audit,
        waiting=waiting,
        access=Access(api_keys, idempotency, cursors, ids, clock),
        recognising=recognising_of(settings, api_keys, keyring.operation, clock),
        admission=Admission(Pace(settings.key_calls_per_second, settings.key_burst), clock),
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
        sweeping=Sweeping(DynamoTimerStore(storage, graphs, held), unlocking, feeds, keyring.operation, clock),
        values=Values(
            {OwnerKind.GRAPH: GraphOwners(graphs, keyring), OwnerKind.SESSION: SessionOwners(sessions, keyring)},
            DynamoValueStore(storage),
            idempotency,
            cursors,
        ),
        locks=Locks(DynamoLockStore(storage), keyring, idempotency, waiting, parts.wakeups, clock),
        feeds=feeds,
        feed_failures=parts.queues(FEED_FAILURES),
        following=Following(graphs, feed_store, waiting, keyring.operation),
        viewing=Viewing(graphs, DynamoViewStore(storage), cursors, clock),
        webhooks=Webhooks(webhooks, idempotency, cursors, clock, loopback=loopback),
        delivering=Delivering(webhooks, parts.queues(WEBHOOKS), sender, keyring.operation, clock, rng, time.monotonic),
        memory=memory_of(
            settings,
            parts,
            storage,
            sessions,
            idempotency,
            cursors,
            held,
            audit,
        ),
        privacy=privacy_of(settings, parts, storage, noted, fences, idempotency, cursors, audit),
    )
