"""All that Slate runs on, in one stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aws_cdk import CfnOutput, Environment, Stack
from constructs import Construct

from slate.settings import Settings
from slate_infra.constructs.alarms import Alarms
from slate_infra.constructs.api import Api
from slate_infra.constructs.functions import AUTHORIZER_CACHE_SECONDS, Functions
from slate_infra.constructs.schedule import SweepSchedule
from slate_infra.constructs.storage import Storage


class SlateStack(Stack):
    """Storage, functions, the API before them, the sweeper's schedule, alarms.

    ``settings`` says how Slate behaves; where its tables, bucket and key are, the stack fills in.
    ``bundles`` has the folder of each function's code by the function's name.
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
        storage = Storage(self, "Storage")
        settings = self._located(settings, storage)
        functions = Functions(self, "Functions", storage=storage, settings=settings, bundles=bundles)
        api = Api(
            self,
            "Api",
            tasks_api=functions.tasks_api.function,
            waiting=functions.waiting.function,
            authorizer=functions.authorizer.function,
            decisions_kept_seconds=settings.decision_cache_seconds - AUTHORIZER_CACHE_SECONDS,
        )
        schedule = SweepSchedule(self, "SweepSchedule", sweeper=functions.sweeper.function)
        alarms = Alarms(
            self,
            "Alarms",
            api=api.http,
            functions={
                "TasksApi": functions.tasks_api.function,
                "Waiting": functions.waiting.function,
                "Sweeper": functions.sweeper.function,
            },
            queues={"SweepDeadLetters": schedule.dead_letters},
        )
        CfnOutput(self, "Url", value=api.http.api_endpoint)
        CfnOutput(self, "AlarmTopic", value=alarms.topic.topic_arn)
        # What an operator's own process needs to reach the same storage: the first API key is made so.
        environment = " ".join(f"{name}={value}" for name, value in settings.to_env().items())
        CfnOutput(self, "Environment", value=environment)

    def _located(self, settings: Settings, storage: Storage) -> Settings:
        return replace(
            settings,
            table=storage.main.table_name,
            keys_table=storage.keys.table_name,
            ledger_table=storage.ledger.table_name,
            bucket=storage.content.bucket_name,
            kms_key_id=storage.key.key_arn,
            region=self.region,
        )
