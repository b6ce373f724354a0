"""All that Slate runs on, in one stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aws_cdk import CfnOutput, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from slate.settings import Settings
from slate_infra.constructs.alarms import Alarms
from slate_infra.constructs.api import Api
from slate_infra.constructs.example_agent import ExampleAgent
from slate_infra.constructs.feed import Feed
from slate_infra.constructs.forgetting import Forgetting
from slate_infra.constructs.functions import AUTHORIZER_CACHE_SECONDS, Functions
from slate_infra.constructs.memory import Memory
from slate_infra.constructs.push import Push
from slate_infra.constructs.schedule import RunSchedule
from slate_infra.constructs.storage import Storage

DECAY_MINUTES = 5
"""Idle sessions, and those whose time is over, are found so often."""


class SlateStack(Stack):
    """Storage, the bus and its queue, functions, the API before them, the sweeper's schedule, alarms.

    ``settings`` says how Slate behaves; where its tables, bucket and key are, the stack fills in.
    ``bundles`` has the folder of each function's code by the function's name; with one of ``agent``, the example is
    there too.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        env: Environment,
        settings: Settings,
        bundles: Mapping[str, Path],
    ) -> None:
        super().__init__(scope, construct_id, env=env, description="Slate: shared state for teams of AI agents")
        storage, feed, push = Storage(self, "Storage"), Feed(self, "Feed"), Push(self, "Push")
        memory = Memory(self, "Memory")
        settings = self._located(settings, storage, feed, push, memory)
        functions = Functions(
            self,
            "Functions",
            storage=storage,
            feed=feed,
            push=push,
            memory=memory,
            settings=settings,
            bundles=bundles,
        )
        api = Api(
            self,
            "Api",
            tasks_api=functions.tasks_api.function,
            waiting=functions.waiting.function,
            memory_api=functions.memory_api.function,
            authorizer=functions.authorizer.function,
            decisions_kept_seconds=settings.decision_cache_seconds - AUTHORIZER_CACHE_SECONDS,
        )
        sweeps = RunSchedule(self, "SweepSchedule", function=functions.sweeper.function, minutes=1)
        decays = RunSchedule(self, "DecaySchedule", function=functions.decay.function, minutes=DECAY_MINUTES)
        watched: dict[str, lambda_.IFunction] = {
            "TasksApi": functions.tasks_api.function,
            "Waiting": functions.waiting.function,
            "Sweeper": functions.sweeper.function,
            "Events": functions.events.function,
            "Webhooks": functions.webhooks.function,
            "MemoryApi": functions.memory_api.function,
            "Extractor": functions.extractor.function,
            "Decay": functions.decay.function,
        }
        followers: dict[str, lambda_.IFunction] = {"Events": functions.events.function}
        if functions.indexer is not None:
            watched["Indexer"] = followers["Indexer"] = functions.indexer.function
        queues: dict[str, sqs.IQueue] = {
            "SweepDeadLetters": sweeps.dead_letters,
            "DecayDeadLetters": decays.dead_letters,
            "MemoryDeadLetters": memory.dead_letters,
            "FeedFailures": feed.failures,
            "WebhookDeadLetters": push.dead_letters,
        }
        if "agent" in bundles:
            agent = ExampleAgent(self, "Agent", bus=push.bus, url=api.http.api_endpoint, code=bundles["agent"])
            watched["Agent"], queues["AgentDeadLetters"] = agent.function, agent.dead_letters
            CfnOutput(self, "AgentKeySecret", value=agent.key.secret_arn)
        alarms = Alarms(
            self,
            "Alarms",
            api=api.http,
            functions=watched,
            queues=queues,
            followers=followers,
        )
        Forgetting(self, "Forgetting", topic=alarms.topic)
        CfnOutput(self, "Url", value=api.http.api_endpoint)
        CfnOutput(self, "AlarmTopic", value=alarms.topic.topic_arn)
        # What an operator's own process needs to reach the same storage: the first API key is made so.
        environment = " ".join(f"{name}={value}" for name, value in settings.to_env().items())
        CfnOutput(self, "Environment", value=environment)

    def _located(self, settings: Settings, storage: Storage, feed: Feed, push: Push, memory: Memory) -> Settings:
        return replace(
            settings,
            table=storage.main.table_name,
            keys_table=storage.keys.table_name,
            ledger_table=storage.ledger.table_name,
            bucket=storage.content.bucket_name,
            kms_key_id=storage.key.key_arn,
            event_bus=push.bus.event_bus_name,
            feed_failures_queue=feed.failures.queue_url,
            webhooks_queue=push.webhooks.queue_url,
            memory_queue=memory.work.queue_url,
            # Whatever a laptop allows: a function's own machine speaks for the function.
            webhook_addresses="public",
            region=self.region,
        )
