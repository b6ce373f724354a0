"""Adapters that a setting chooses."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from slate.adapters.bedrock.embedder import BedrockEmbedder
from slate.adapters.bedrock.language_model import BedrockLanguageModel
from slate.adapters.inprocess.clocks import SystemClock
from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.adapters.inprocess.token_estimate import EstimatingCounter
from slate.adapters.opensearch.breaker import Breaker
from slate.adapters.opensearch.transport import Transport
from slate.ports.embedder import Embedder
from slate.ports.language_model import LanguageModel
from slate.ports.token_counter import TokenCounter
from slate.service.facts.extracting import JOB
from slate.service.summaries import RULES_ONLY, SUMMARY
from slate.settings import Settings

if TYPE_CHECKING:
    import boto3

HASHING: Final = "hashing"
"""The embedder that needs no model."""
LOCAL_EMBEDDER: Final = "local"
"""The embedder that needs a file, and no network."""
SEARCH_SECONDS: Final = 2
"""A search that takes longer is answered from the storage instead."""
ESTIMATE: Final = "estimate"
"""In the place of a tokenizer: none is used."""


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


def search_transport(
    settings: Settings, session: boto3.Session | None, *, timeout_seconds: int = SEARCH_SECONDS
) -> Transport | None:
    """How the OpenSearch domain is reached, where there is one; unsigned without a session."""
    if not settings.search_endpoint:
        return None
    from slate.adapters.opensearch.signed import BotocoreSender

    credentials = None if session is None else session.get_credentials()
    sender = BotocoreSender(settings.search_endpoint, settings.region, credentials, timeout_seconds=timeout_seconds)
    return Transport(sender, Breaker(time.monotonic), random.SystemRandom(), time.sleep)


def language_model(settings: Settings, session: boto3.Session) -> LanguageModel | None:
    """The model of each job; none where rules are to do it."""
    from botocore.config import Config

    jobs = {SUMMARY: settings.summary_model, JOB: settings.extraction_model}
    models = {job: model for job, model in jobs.items() if model != RULES_ONLY}
    if not models:
        return None
    # An answer may take long; a function that waits for one is started by a queue, never by a caller.
    config = Config(connect_timeout=2, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 2})
    return BedrockLanguageModel(made_once(partial(session.client, "bedrock-runtime", config=config)), models)


def tenant_session(settings: Settings, session: boto3.Session) -> boto3.Session:
    """Whose clients reach the data of the tenant being worked for alone; this session where no role is set.

    Raises:
        ValueError: there are no credentials to assume the role with.
    """
    if not settings.tenant_role:
        return session
    import boto3
    import botocore.session
    from botocore.credentials import CredentialResolver

    from slate.adapters.sts.tenant_credentials import TenantCredentialProvider, TenantCredentials

    own, sts = session.get_credentials(), made_once(partial(session.client, "sts"))
    if own is None:
        raise ValueError("a tenant role is set, and there are no credentials to assume it with")
    credentials = TenantCredentials(own, sts, settings.tenant_role, SystemClock())
    tenants = botocore.session.get_session()
    tenants.register_component("credential_provider", CredentialResolver([TenantCredentialProvider(credentials)]))
    return boto3.Session(botocore_session=tenants, region_name=settings.region)


def made_once(make: Callable[[], Any]) -> Callable[[], Any]:
    """A client at its first use: most functions start without it. A session is not safe to share between threads."""
    lock = Lock()
    kept = cache(make)

    def client() -> Any:
        with lock:
            return kept()

    return client
