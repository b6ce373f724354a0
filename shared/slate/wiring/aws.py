"""Slate over AWS: what the Lambdas run."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from slate.adapters.awslambda.eraser_start import LambdaEraserStart
from slate.adapters.eventbridge.bus import EventBridgeBus
from slate.adapters.inprocess.clocks import SystemClock
from slate.adapters.inprocess.random_ids import RandomIds
from slate.adapters.kms.signing_key import KmsSigningKey
from slate.adapters.kms.wrapper import KmsKeyWrapper
from slate.adapters.opensearch.memory_index import OpenSearchMemoryIndex
from slate.adapters.sqs.queues import SqsQueues
from slate.ports.counts import Counts, NoCounts
from slate.ports.eraser_start import runs_anyway
from slate.settings import Settings
from slate.wiring.assembling import assemble
from slate.wiring.choices import (
    embedder_of,
    language_model,
    made_once,
    search_transport,
    tenant_session,
    token_counter,
)
from slate.wiring.parts import FEED_FAILURES, MEMORY, PARALLEL_CALLS, WEBHOOKS, Parts, Slate

if TYPE_CHECKING:
    import boto3


def build_aws(settings: Settings, session: boto3.Session, counts: Counts | None = None) -> Slate:
    """Slate over AWS, with this session's credentials."""
    return assemble(settings, parts_on_aws(settings, session, counts))


def parts_on_aws(settings: Settings, session: boto3.Session, counts: Counts | None = None) -> Parts:
    """What Slate is put together from on AWS."""
    from botocore.config import Config

    # Standard mode sends a call again after a timeout; every write here can tell its own earlier success.
    config = Config(
        connect_timeout=2,
        read_timeout=5,
        max_pool_connections=PARALLEL_CALLS,
        retries={"mode": "standard", "total_max_attempts": 4},
    )
    client: Any = partial(session.client, config=config)
    scoped = tenant_session(settings, session)
    rng, transport = random.SystemRandom(), search_transport(settings, session)
    urls = {
        WEBHOOKS: settings.webhooks_queue,
        MEMORY: settings.memory_queue,
        FEED_FAILURES: settings.feed_failures_queue,
    }
    return Parts(
        dynamodb=scoped.client("dynamodb", config=config),
        s3=scoped.client("s3", config=config),
        wrapper=KmsKeyWrapper(
            scoped.client("kms", config=config),
            settings.kms_key_id,
            settings.previous_kms_key_ids.split(),
        ),
        signing_key=KmsSigningKey(made_once(partial(client, "kms")), settings.signing_key_id),
        clock=SystemClock(),
        executor=ThreadPoolExecutor(PARALLEL_CALLS),
        ids=RandomIds(),
        rng=rng,
        queues=SqsQueues(made_once(partial(client, "sqs")), urls),
        bus=EventBridgeBus(made_once(partial(client, "events")), settings.event_bus, rng, time.sleep),
        counter=token_counter(settings),
        counts=NoCounts() if counts is None else counts,
        model=language_model(settings, session),
        embedder=embedder_of(settings, made_once(partial(client, "bedrock-runtime")), ThreadPoolExecutor(8)),
        index=None if transport is None else OpenSearchMemoryIndex(transport),
        start_eraser=LambdaEraserStart(made_once(partial(client, "lambda")), settings.eraser_function)
        if settings.eraser_function
        else runs_anyway,
    )
