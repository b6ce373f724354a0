"""All that Slate runs on, in one stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote

from aws_cdk import CfnOutput, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from slate.settings import Settings
from slate_infra.constructs import permissions
from slate_infra.constructs.alarms import Alarms
from slate_infra.constructs.api import Api
from slate_infra.constructs.deadlines import Deadlines
from slate_infra.constructs.example_agent import ExampleAgent
from slate_infra.constructs.feed import Feed
from slate_infra.constructs.forgetting import Forgetting
from slate_infra.constructs.functions import AUTHORIZER_CACHE_SECONDS, Functions
from slate_infra.constructs.memory import Memory
from slate_infra.constructs.overview import Overview
from slate_infra.constructs.people import People
from slate_infra.constructs.push import Push
from slate_infra.constructs.schedule import RunSchedule
from slate_infra.constructs.search import SearchDomain
from slate_infra.constructs.signing import Signing
from slate_infra.constructs.storage import Storage
from slate_infra.stages import Stage


class SlateStack(Stack):
    """Storage, the bus and its queue, functions, the API before them, what the clock starts, the domain, alarms.

    ``settings`` says how Slate behaves; where its tables, bucket, keys and domain are, the stack fills in. ``stage``
    says what there is of it all. ``bundles`` has the folder of each function's code by the function's name; with one of
    ``agent``, the example is there too.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        env: Environment,
        stage: Stage,
        settings: Settings,
        bundles: Mapping[str, Path],
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            env=env,
            description="Slate: shared state for teams of AI agents",
            termination_protection=stage.protected,
        )
        storage, feed, push = (
            Storage(self, "Storage", stage=stage),
            Feed(self, "Feed"),
            Push(self, "Push", settings.queue_days),
        )
        memory, signing = Memory(self, "Memory", settings.queue_days), Signing(self, "Signing", stage=stage)
        search = self._search(stage, storage)
        settings = self._trusting(stage, self._located(settings, storage, feed, push, memory, signing, search))
        functions = Functions(
            self,
            "Functions",
            storage=storage,
            feed=feed,
            push=push,
            memory=memory,
            settings=settings,
            bundles=bundles,
            network=stage.network,
            domain=self._searched(settings, search),
        )
        if search is not None:
            search.admit(functions.reaching)
        api = Api(
            self,
            "Api",
            tasks_api=functions.tasks_api.function,
            waiting=functions.waiting.function,
            memory_api=functions.memory_api.function,
            privacy_api=functions.privacy_api.function,
            authorizer=functions.authorizer.function,
            decisions_kept_seconds=settings.decision_cache_seconds - AUTHORIZER_CACHE_SECONDS,
        )
        watched: dict[str, lambda_.IFunction] = {
            name: each.function for name, each in functions.every.items() if each is not functions.authorizer
        }
        queues: dict[str, sqs.IQueue] = {
            "MemoryDeadLetters": memory.dead_letters,
            "FeedFailures": feed.failures,
            "WebhookDeadLetters": push.dead_letters,
        }
        for name, run in functions.runs.items():
            schedule = RunSchedule(self, f"{name}Schedule", function=run.function, minutes=run.minutes)
            queues[f"{name}DeadLetters"] = schedule.dead_letters
        if "agent" in bundles:
            agent = ExampleAgent(self, "Agent", bus=push.bus, url=api.http.api_endpoint, code=bundles["agent"])
            watched["Agent"], queues["AgentDeadLetters"] = agent.function, agent.dead_letters
            CfnOutput(self, "AgentKeySecret", value=agent.key.secret_arn)
        followers: dict[str, lambda_.IFunction] = {
            name: watched[name] for name in ("Events", "Indexer") if name in watched
        }
        alarms = Alarms(
            self, "Alarms", api=api.http, functions=watched, queues=queues, followers=followers, search=search
        )
        Forgetting(self, "Forgetting", topic=alarms.topic)
        deadlines = Deadlines(self, "Deadlines", topic=alarms.topic)
        Overview(
            self,
            "Overview",
            api=api.http,
            functions=watched,
            queues=queues,
            followers=followers,
            storage=storage,
            search=search,
            alarms=[*alarms.every, *deadlines.every],
        )
        CfnOutput(self, "Url", value=api.http.api_endpoint)
        CfnOutput(self, "AlarmTopic", value=alarms.topic.topic_arn)
        # What an operator's own process needs to reach the same storage: the first API key is made so. For a shell:
        # a value may have spaces in it.
        environment = " ".join(f"{name}={quote(value)}" for name, value in settings.to_env().items())
        CfnOutput(self, "Environment", value=environment)

    def _search(self, stage: Stage, storage: Storage) -> SearchDomain | None:
        if stage.domain is None:
            return None
        return SearchDomain(
            self, "Search", stage=stage, nodes=stage.domain, key=storage.key, name=f"slate-{stage.name}"
        )

    def _trusting(self, stage: Stage, settings: Settings) -> Settings:
        """Whose tokens are taken, beside API keys: the stage's own people's, or those of the issuer that is set."""
        if not stage.people:
            return settings
        people = People(self, "People", stage=stage)
        CfnOutput(self, "UserPool", value=people.pool.user_pool_id)
        CfnOutput(self, "UserPoolApp", value=people.app.user_pool_client_id)
        return people.trusted_by(settings)

    def _searched(self, settings: Settings, search: SearchDomain | None) -> str | None:
        """What is searched, as policies write it: our own domain, one that was given, or none."""
        if search is not None:
            return search.arn
        return permissions.domains_of(self) if settings.search_endpoint else None

    def _located(
        self,
        settings: Settings,
        storage: Storage,
        feed: Feed,
        push: Push,
        memory: Memory,
        signing: Signing,
        search: SearchDomain | None,
    ) -> Settings:
        return replace(
            settings,
            table=storage.main.table_name,
            keys_table=storage.keys.table_name,
            ledger_table=storage.ledger.table_name,
            bucket=storage.content.bucket_name,
            kms_key_id=storage.key.key_arn,
            signing_key_id=signing.key.key_arn,
            event_bus=push.bus.event_bus_name,
            feed_failures_queue=feed.failures.queue_url,
            webhooks_queue=push.webhooks.queue_url,
            memory_queue=memory.work.queue_url,
            search_endpoint=settings.search_endpoint if search is None else search.endpoint,
            # Whatever a laptop allows: a function's own machine speaks for the function.
            webhook_addresses="public",
            region=self.region,
        )
