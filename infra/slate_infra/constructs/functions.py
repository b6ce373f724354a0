"""The functions: what each is, what it may do, how its settings differ, and which of them the clock starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from aws_cdk import Stack
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
from slate_infra.constructs.tenancy import TAG
from slate_infra.stages import Network

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
# As long as Lambda lets a run go on: it is paid by what it does, and what an hour brings due is much.
DECAY: Final = FunctionSpec(bundle=bundling.DECAY, memory_mb=512, timeout_seconds=900)
PRIVACY_API: Final = FunctionSpec(bundle=bundling.PRIVACY_API, memory_mb=1024, timeout_seconds=29)
# As long as Lambda lets a run go on: a person may have a million items.
ERASER: Final = FunctionSpec(bundle=bundling.ERASER, memory_mb=1024, timeout_seconds=900)

# A batch of a hundred records is a few reads for each session and person, and two requests to the domain.
INDEXER: Final = FunctionSpec(bundle=bundling.INDEXER, memory_mb=1024, timeout_seconds=120)


_UNNAMED: Final = "A domain that is given is known by its address, not its name; a merge by the task it was given."

OPENS_NOTHING: Final = frozenset({"Sweeper", "Events"})
"""They open nothing that is sealed, by no key."""


class Run(NamedTuple):
    """A function that the clock starts, and the minutes from one start to the next."""

    function: lambda_.Function
    minutes: int


class Functions(Construct):
    """The functions over one storage; ``domain`` is the ARN of what is searched, where anything is."""

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
        network: Network | None,
        domain: str | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.every: dict[str, ServiceFunction] = {}
        """By name."""
        self._settings = settings
        self._bundles = bundles
        self._network = network
        self._tokenizer = lambda_.LayerVersion(
            self,
            "Tokenizer",
            code=lambda_.Code.from_asset(str(bundles[bundling.TOKENIZER])),
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
            compatible_architectures=[lambda_.Architecture.ARM_64],
            description="Counts tokens exactly, with its vocabularies",
        )
        self._work_on_tasks(storage, feed, push, memory)
        self._remember(storage, memory)
        self._erase(storage, memory)
        self.runs = {
            "Sweep": Run(self.sweeper.function, settings.sweep_minutes),
            "Decay": Run(self.decay.function, settings.decay_minutes),
            "Erase": Run(self.eraser.function, settings.erasure_minutes),
        }
        """By the name of the schedule: a further one is a line here."""
        self.indexer: ServiceFunction | None = None
        self.reaching: list[iam.Role] = []
        """The roles that reach the domain."""
        if domain is not None:
            self._search(storage, feed, domain)
        self._embed()
        objects = wildcard(f"{arn_of(storage.content)}/<aws:PrincipalTag/{TAG}>/*")
        for each in self.every.values():
            if each.tenant_role is not None and each not in (self.events, self.webhooks):
                accept(each.tenant_role, objects, "Objects are named as they come, under the tenant's prefix.")

    def _function(
        self,
        name: str,
        spec: FunctionSpec,
        statements: Sequence[iam.PolicyStatement],
        settings: Settings | None = None,
        *,
        tenants_apart: bool = True,
    ) -> ServiceFunction:
        before = () if name in OPENS_NOTHING else self._settings.previous_kms_key_ids.split()
        self.every[name] = ServiceFunction(
            self,
            name,
            spec=spec,
            code=self._bundles[spec.bundle.function],
            settings=settings or self._settings,
            statements=[*statements, *map(permissions.of_previous_key, before)],
            layers=[self._tokenizer] if spec.counts_tokens else [],
            network=self._network,
            tenants_apart=tenants_apart,
        )
        return self.every[name]

    def _work_on_tasks(self, storage: Storage, feed: Feed, push: Push, memory: Memory) -> None:
        brief = replace(self._settings, decision_cache_seconds=AUTHORIZER_CACHE_SECONDS)
        self.tasks_api = self._function("TasksApi", TASKS_API, permissions.of_tasks_api(storage))
        places = replace(WAITING, reserved=self._settings.waiting_places)
        self.waiting = self._function("Waiting", places, permissions.of_waiting(storage))
        known_by_key = permissions.of_authorizer(storage)
        self.authorizer = self._function("Authorizer", AUTHORIZER, known_by_key, brief, tenants_apart=False)
        self.sweeper = self._function("Sweeper", SWEEPER, permissions.of_sweeper(storage, push, memory))
        self.events = self._function("Events", EVENTS, permissions.of_events(storage, feed, push, memory))
        feed.follow(storage, self.events.function)
        self.webhooks = self._function("Webhooks", WEBHOOKS, permissions.of_webhooks(storage, push))
        push.deliver_by(self.webhooks.function)

    def _remember(self, storage: Storage, memory: Memory) -> None:
        """What works on what is said."""
        self.memory_api = self._function("MemoryApi", MEMORY_API, permissions.of_memory_api(storage, memory))
        asked = {self._settings.summary_model, self._settings.extraction_model}
        models = [arn for model in sorted(asked) for arn in permissions.models_of(Stack.of(self), model)]
        self.extractor = self._function("Extractor", EXTRACTOR, permissions.of_extractor(storage, memory, models))
        memory.work_by(self.extractor.function)
        for arn in models:
            if ":*:" in arn:
                accept(self.extractor.role, wildcard(arn), "An inference profile asks the model in any of its regions.")
        self.decay = self._function("Decay", DECAY, permissions.of_decay(storage, memory))

    def _erase(self, storage: Storage, memory: Memory) -> None:
        """What answers for persons' data."""
        signing = self._settings.signing_key_id
        self.eraser = self._function("Eraser", ERASER, permissions.of_eraser(storage, signing))
        own = replace(self._settings, eraser_function=self.eraser.function.function_name)
        statements = permissions.of_privacy_api(storage, memory, signing, self.eraser.function.function_arn)
        self.privacy_api = self._function("PrivacyApi", PRIVACY_API, statements, own)

    def _search(self, storage: Storage, feed: Feed, domain: str) -> None:
        """What keeps the index; and let it, and who searches, reach the domain."""
        indexer = self._function("Indexer", INDEXER, permissions.of_indexer(storage, feed))
        feed.index(storage, indexer.function)
        self._reach(self.memory_api, permissions.of_searching(domain))
        self._reach(indexer, permissions.of_indexing(domain))
        self._reach(self.eraser, permissions.of_expunging(domain))
        self.indexer = indexer

    def _reach(self, each: ServiceFunction, statements: Sequence[iam.PolicyStatement]) -> None:
        self.reaching.append(each.role)
        for statement in statements:
            each.role.add_to_policy(statement)
            for resource in statement.resources:
                if "*" in resource:
                    found = resource.replace(Stack.of(self).account, account_of(Stack.of(self)))
                    accept(each.role, wildcard(found), _UNNAMED)

    def _embed(self) -> None:
        """Let those ask the embedder that search, or keep what is searched, where it is one that can be asked."""
        models = permissions.embedders_of(Stack.of(self), self._settings.embedder)
        indexers = () if self.indexer is None else (self.indexer,)
        for each in (self.memory_api, self.extractor, *indexers):
            for statement in permissions.of_embedder(models):
                each.role.add_to_policy(statement)
