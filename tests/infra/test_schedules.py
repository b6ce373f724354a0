"""Each schedule of the template, acted on: its own input, given to its own function's handler, does what is due."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import boto3
import pytest

from slate.adapters.dynamodb.table import TABLES
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.contract.erasures import AskErasure
from slate.contract.facts import PostFacts
from slate.contract.sessions import AppendTurns, CreateSession
from slate.contract.tasks import ClaimTasks, CreateGraph
from slate.domain.access import Principal, Scope
from slate.domain.errors import SubjectErased
from slate.domain.tasks import TaskSpec
from slate.service.facts.remembering import FactFilter
from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate.wiring.parts import Slate

ME = Principal(tenant="acme", agent="planner", key_id="k-1", scopes=frozenset(Scope))
REGION = "eu-central-1"
ACTED_ON = ("Sweep", "Decay", "Erase")


class Session:
    """Every client is one of moto's; what is sent or published goes nowhere."""

    def __init__(self, engine: MotoEngine) -> None:
        # Made now: the engine makes them by a session of boto3's own.
        self._clients = {service: engine.client(service) for service in ("dynamodb", "s3", "kms")}
        self.region_name = REGION

    def client(self, service: str, **_: Any) -> Any:
        return self._clients.get(service) or Deaf()

    def get_credentials(self) -> None:
        return None


class Deaf:
    def send_message(self, **_: Any) -> dict[str, Any]:
        return {}

    def put_events(self, Entries: list[Any], **_: Any) -> dict[str, Any]:  # noqa: N803  # boto3's own name
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "e"} for _ in Entries]}


class Context:
    """A run that has nearly all of its time left."""

    def get_remaining_time_in_millis(self) -> int:
        return 100_000


class Started(NamedTuple):
    """A function as Lambda starts it, and a Slate beside it over the same tables."""

    handler: Callable[[Any, Any], Any]
    beside: Slate


@pytest.fixture
def engine():
    with MotoEngine(region=REGION) as engine:
        yield engine


@pytest.fixture
def start(stack, engine, monkeypatch):
    """Starts the function that a schedule names, with the environment that the template gives it."""
    session = Session(engine)
    monkeypatch.setattr(boto3, "Session", lambda **_: session)

    def started(schedule: str) -> Started:
        target = stack.of_type("AWS::Scheduler::Schedule")[schedule]["Target"]
        function = stack.of_type("AWS::Lambda::Function")[stack.text(target["Arn"]).removesuffix(".Arn")]
        given = {name: stack.text(value) for name, value in function["Environment"]["Variables"].items()}
        settings = replace(
            Settings.from_env(given),
            # Sooner than an hour, and here.
            sweep_run_seconds=1,
            sweep_poll_seconds=1,
            session_idle_seconds=1,
            bucket="content",
            search_endpoint="",
            tenant_role="",
            kms_key_id=_storage(engine),
        )
        for name, value in settings.to_env().items():
            monkeypatch.setenv(name, value)
        module, _, attribute = function["Handler"].rpartition(".")
        monkeypatch.delitem(sys.modules, module, raising=False)
        handler = getattr(importlib.import_module(module), attribute)
        monkeypatch.delitem(sys.modules, module)
        return Started(handler, build_aws(settings, session))  # type: ignore[arg-type]  # what of a session is used

    return started


def _storage(engine: MotoEngine) -> str:
    """What the handlers find: the template's tables, a bucket, a key."""
    dynamodb = engine.client("dynamodb")
    for spec, name in zip(TABLES, ("StorageMain", "StorageKeys", "StorageLedger"), strict=True):
        dynamodb.create_table(**spec.create_arguments(name))
    engine.client("s3").create_bucket(Bucket="content", CreateBucketConfiguration={"LocationConstraint": REGION})
    return str(engine.client("kms").create_key()["KeyMetadata"]["KeyId"])


def test_a_sweep_reaps_a_lease_that_has_lapsed(stack, start):
    handler, slate = start("SweepScheduleRuns")
    slate.planning.create(
        ME, CreateGraph(graph_id="g", goal="x", tasks=(TaskSpec(task_id="t", title="t", role="worker"),)), None
    )
    slate.working.claim(ME, ClaimTasks(roles=("worker",), lease_seconds=1), None)
    assert slate.steering.get(ME, "g", "t").state == "RUNNING"
    time.sleep(1.1)
    assert handler(event_of(stack, "SweepScheduleRuns"), Context())["done"] >= 1
    assert slate.steering.get(ME, "g", "t").state == "READY"


def test_decay_closes_a_session_in_which_nothing_is_said(stack, start):
    handler, slate = start("DecayScheduleRuns")
    slate.memory.sessions.create(ME, CreateSession(session_id="s", subject="ann"), None)
    said = AppendTurns.model_validate({"turns": [{"role": "user", "content": "Hello"}]})
    slate.memory.talking.append(ME, "s", said, None)
    assert slate.memory.sessions.get(ME, "s").state == "open"
    time.sleep(1.1)
    assert handler(event_of(stack, "DecayScheduleRuns"), Context())["done"] >= 1
    assert slate.memory.sessions.get(ME, "s").state == "closed"


def test_the_eraser_goes_on_with_an_erasure_that_was_asked_for(stack, start):
    handler, slate = start("EraseScheduleRuns")
    fact = {"category": "other", "statement": "Plays the cello"}
    slate.memory.facts.post(ME, "ann", PostFacts.model_validate({"facts": [fact]}), None)
    asked = slate.privacy.erasing.ask(ME, AskErasure(subject="ann", reason="asked by letter"), None)
    assert handler(event_of(stack, "EraseScheduleRuns"), Context())["done"] >= 1
    assert slate.privacy.erasing.get(ME, asked.erasure_id).state in {"PRIMARY_DELETED", "DRAINED"}
    with pytest.raises(SubjectErased):
        slate.memory.facts.find(ME, "ann", FactFilter(), 10, None)


def test_every_schedule_is_acted_on_here(stack):
    assert set(stack.of_type("AWS::Scheduler::Schedule")) == {f"{name}ScheduleRuns" for name in ACTED_ON}


def event_of(stack, schedule: str) -> Any:
    return json.loads(stack.of_type("AWS::Scheduler::Schedule")[schedule]["Target"]["Input"])
