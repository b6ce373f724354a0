"""The functions: what each is, what it may do, and how its settings differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from slate.settings import Settings
from slate_infra import bundling
from slate_infra.constructs import permissions
from slate_infra.constructs.feed import Feed
from slate_infra.constructs.function import FunctionSpec, ServiceFunction
from slate_infra.constructs.memory import Memory
from slate_infra.constructs.nag import accept, account_of, arn_of, wildcard
from slate_infra.constructs.push import Push
from slate_infra.constructs.storage import Storage

AUTHORIZER_CACHE_SECONDS: Final = 1
"""The gateway keeps a decision for all of the time that there is but this: the two caches add up."""

# HTTP API gives up on an answer after 30 s, and on an authorizer after 10.
TASKS_API: Final = FunctionSpec(bundle=bundling.TASKS_API, memory_mb=1024, timeout_seconds=29)
# The same code for the routes that wait. It mostly sleeps, and is paid by the memory that it has while it does.
WAITING: Final = FunctionSpec(bundle=bundling.TASKS_API, memory_mb=512, timeout_seconds=29)
AUTHORIZER: Final = FunctionSpec(bundle=bundling.AUTHORIZER, memory_mb=1024, timeout_seconds=9)
# It polls for 55 s and then ends what it has begun; an entry takes up to 20 s.
SWEEPER: Final = FunctionSpec(bundle=bundling.SWEEPER, memory_mb=512, timeout_seconds=120)
# A batch of a hundred changes is a few transactions for each graph; all that fails in it comes again.
EVENTS: Final = FunctionSpec(bundle=bundling.EVENTS, memory_mb=512, timeout_seconds=60)
# Its batch is tried side by side, each try for 15 s at most; the rest is for the storage.
WEBHOOKS: Final = FunctionSpec(bundle=bundling.WEBHOOKS, memory_mb=512, timeout_seconds=30)

MEMORY_API: Final = FunctionSpec(bundle=bundling.MEMORY_API, memory_mb=1024, timeout_seconds=29, counts_tokens=True)
# Five messages, one after the other, each of which may ask a model twice.
EXTRACTOR: Final = FunctionSpec(bundle=bundling.EXTRACTOR, memory_mb=1024, timeout_seconds=150, counts_tokens=True)
# An entry takes up to 20 s; a run that finds ever more ends well before the next.
DECAY: Final = FunctionSpec(bundle=bundling.DECAY, memory_mb=512, timeout_seconds=180)

# A batch of a hundred records is a few reads for each session and person, and two requests to the domain.
INDEXER: Final = FunctionSpec(bundle=bundling.INDEXER, memory_mb=1024, timeout_seconds=120)


class Functions(Construct):
    """The functions over one storage."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        storage: Storage,
        feed: Feed,
        push: Push,
        memory: Memory,
        settings: Settings,
        bundles: Mapping[str, Path],
    ) -> None:
        super().__init__(scope, construct_id)

        tokenizer = lambda_.LayerVersion(
            self,
            "Tokenizer",
            code=lambda_.Code.from_asset(str(bundles[bundling.TOKENIZER])),
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
            compatible_architectures=[lambda_.Architecture.ARM_64],
            description="Counts tokens exactly, with its vocabularies",
        )

        def function(
            name: str, spec: FunctionSpec, statements: Sequence[iam.PolicyStatement], settings: Settings = settings
        ) -> ServiceFunction:
            code = bundles[spec.bundle.function]
            layers = [tokenizer] if spec.counts_tokens else []
            return ServiceFunction(
                self, name, spec=spec, code=code, settings=settings, statements=statements, layers=layers
            )

        brief = replace(settings, decision_cache_seconds=AUTHORIZER_CACHE_SECONDS)
        self.tasks_api = function("TasksApi", TASKS_API, permissions.of_tasks_api(storage))
        places = replace(WAITING, reserved=settings.waiting_places)
        self.waiting = function("Waiting", places, permissions.of_waiting(storage))
        self.authorizer = function("Authorizer", AUTHORIZER, permissions.of_authorizer(storage), brief)
        self.sweeper = function("Sweeper", SWEEPER, permissions.of_sweeper(storage, push, memory))
        self.events = function("Events", EVENTS, permissions.of_events(storage, feed, push, memory))
        feed.follow(storage, self.events.function)
        self.webhooks = function("Webhooks", WEBHOOKS, permissions.of_webhooks(storage, push))
        push.deliver_by(self.webhooks.function)
        self._remember(storage, memory, settings, function)
        self.indexer: ServiceFunction | None = None
        if settings.search_endpoint:
            self.indexer = function("Indexer", INDEXER, permissions.of_indexer(storage, feed))
            feed.index(storage, self.indexer.function)
        self._search(settings)
        # The next minute's run is the retry.
        self.sweeper.function.configure_async_invoke(retry_attempts=0, max_event_age=Duration.minutes(1))
        objects = wildcard(f"{arn_of(storage.content)}/*")
        indexers = () if self.indexer is None else (self.indexer,)
        reaching = (self.tasks_api, self.waiting, self.sweeper, self.memory_api, self.extractor, self.decay, *indexers)
        for reaches_objects in reaching:
            accept(reaches_objects.role, objects, "Objects are named as they come, each under its tenant's prefix.")

    def _search(self, settings: Settings) -> None:
        """Let those that search, or keep what is searched, reach the domain and the embedder, where there are any."""
        stack = Stack.of(self)
        models = permissions.embedders_of(stack, settings.embedder)
        indexers = () if self.indexer is None else (self.indexer,)
        for each in (self.memory_api, self.extractor, *indexers):
            for statement in permissions.of_embedder(models):
                each.role.add_to_policy(statement)
        if not settings.search_endpoint:
            return
        for each in (self.memory_api, *indexers):
            each.role.add_to_policy(permissions.of_search(stack))
            accept(
                each.role,
                wildcard(permissions.domains_of(stack.region, account_of(stack))),
                "A domain's address does not tell its name; its own policy says whom it lets in.",
            )

    def _remember(
        self, storage: Storage, memory: Memory, settings: Settings, function: Callable[..., ServiceFunction]
    ) -> None:
        """What works on what is said."""
        self.memory_api = function("MemoryApi", MEMORY_API, permissions.of_memory_api(storage, memory))
        asked = {settings.summary_model, settings.extraction_model}
        models = [arn for model in sorted(asked) for arn in permissions.models_of(Stack.of(self), model)]
        self.extractor = function("Extractor", EXTRACTOR, permissions.of_extractor(storage, memory, models))
        memory.work_by(self.extractor.function)
        for arn in models:
            if ":*:" in arn:
                accept(self.extractor.role, wildcard(arn), "An inference profile asks the model in any of its regions.")
        self.decay = function("Decay", DECAY, permissions.of_decay(storage, memory))
        self.decay.function.configure_async_invoke(retry_attempts=0, max_event_age=Duration.minutes(5))
