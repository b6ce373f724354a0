from __future__ import annotations

import json
from pathlib import Path
from random import SystemRandom
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from json_schema import faults
from slate.adapters.eventbridge.bus import SENDS, EventBridgeBus
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.event_bus import InProcessEventBus
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.adapters.inprocess.queues import InProcessQueues
from slate.adapters.inprocess.random_ids import RandomIds
from slate.domain.errors import Internal, Unavailable
from slate.domain.events import EventType, FeedEntry
from slate.domain.pushed import PUSHED, PushedEvent
from slate.testing.in_process import InProcessSlate

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
TAKEN: dict[str, Any] = {"EventId": "1"}


def entry(seq: int = 1, type_: EventType = EventType.TASK_READY) -> FeedEntry:
    return FeedEntry(
        seq=seq,
        at=1_800_000_000_123,
        type=type_,
        graph_id="g",
        task_id="t",
        state="READY",
        agent="ann",
        epoch=3,
        role="r",
        queue="default",
        version=2,
    )


class Client:
    """Answers PutEvents from a list: an exception is raised, a list of codes (None: taken) is told."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.put: list[list[int]] = []

    def put_events(self, *, Entries: Any) -> Any:  # noqa: N803  # AWS's name
        self.put.append([json.loads(e["Detail"])["seq"] for e in Entries])
        answer = self.answers.pop(0) if self.answers else [None] * len(Entries)
        if isinstance(answer, Exception):
            raise answer
        return {"Entries": [{"ErrorCode": code} if code else TAKEN for code in answer]}


def bus(client: Client, slept: list[float] | None = None) -> EventBridgeBus:
    rests: list[float] = [] if slept is None else slept
    return EventBridgeBus(lambda: client, "bus", SystemRandom(), rests.append)


def test_events_go_by_tens_in_their_order():
    client = Client()
    bus(client).publish("acme", [entry(seq) for seq in range(1, 24)])
    assert client.put == [list(range(1, 11)), list(range(11, 21)), list(range(21, 24))]


def test_what_was_not_taken_is_sent_again_and_only_that():
    client, slept = Client(["ThrottlingException", None, "InternalFailure"], [None, "ThrottlingException"]), []
    bus(client, slept).publish("acme", [entry(seq) for seq in (1, 2, 3)])
    assert client.put == [[1, 2, 3], [1, 3], [3]]
    assert len(slept) == 2


@pytest.mark.parametrize(
    "error",
    [
        ReadTimeoutError(endpoint_url="https://events"),
        ClientError({"Error": {"Code": "ThrottlingException", "Message": ""}}, "PutEvents"),
    ],
)
def test_a_call_without_an_answer_is_made_again(error):
    client = Client(error)
    bus(client).publish("acme", [entry()])
    assert client.put == [[1], [1]]


def test_what_is_never_taken_makes_the_caller_come_back():
    client = Client(*[["ThrottlingException"]] * SENDS)
    with pytest.raises(Unavailable):
        bus(client).publish("acme", [entry()])
    assert len(client.put) == SENDS


def test_an_event_that_the_bus_refuses_for_what_it_is_is_a_fault():
    with pytest.raises(Internal, match="MalformedDetail"):
        bus(Client(["MalformedDetail"])).publish("acme", [entry()])


def test_what_is_not_pushed_is_not_sent():
    client = Client()
    others = [type_ for type_ in EventType if type_ not in PUSHED]
    bus(client).publish("acme", [entry(type_=type_) for type_ in others])
    assert client.put == []


def test_an_event_has_one_id_however_often_it_is_published_and_no_two_share_one():
    def id_of(tenant: str = "acme", **changes: Any) -> str:
        [event] = PushedEvent.of(tenant, [entry().model_copy(update=changes)])
        return event.event_id

    assert id_of() == id_of()
    made_again = {"at": 1_900_000_000_000}
    others = [id_of(tenant="globex"), id_of(seq=2), id_of(graph_id="h"), id_of(**made_again)]
    assert len({id_of(), *others}) == 5


def test_the_local_bus_hands_events_on_in_eventbridges_own_form(monkeypatch):
    # moto would look for a template by a library that is not here; there is none in this rule.
    monkeypatch.setattr("moto.events.utils.EventTemplateParser.parse", lambda event, **_: event)
    queues = InProcessQueues(ManualClock(0), RandomIds())
    local = InProcessEventBus("eu-central-1")
    local.add_rule(queues("woken"), ["task.ready"])
    local.publish("acme", [entry(), entry(2, EventType.TASK_FAILED)])
    [ours] = queues.waiting("woken")
    with MotoEngine(region="eu-central-1") as engine:
        events, sqs = engine.client("events"), engine.client("sqs")
        events.create_event_bus(Name="bus")
        url = sqs.create_queue(QueueName="woken")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        pattern = {"source": ["slate"], "detail-type": ["task.ready"], "detail": {"role": ["r"]}}
        events.put_rule(Name="rule", EventBusName="bus", EventPattern=json.dumps(pattern))
        events.put_targets(Rule="rule", EventBusName="bus", Targets=[{"Id": "1", "Arn": arn}])
        EventBridgeBus(lambda: events, "bus", SystemRandom(), lambda _: None).publish(
            "acme", [entry(), entry(2, EventType.TASK_FAILED)]
        )
        [message] = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    theirs = json.loads(message["Body"])
    assert ours.keys() <= theirs.keys()
    for name in ("detail", "detail-type", "source", "region", "version", "resources"):
        assert theirs[name] == ours[name], name


def schema(type_: str) -> dict[str, Any]:
    return dict(json.loads((SCHEMAS / f"{type_}.v1.json").read_text()))


def test_every_pushed_type_has_its_schema_and_every_field_is_in_it():
    assert {path.name for path in SCHEMAS.iterdir()} == {f"{type_}.v1.json" for type_ in PUSHED}
    for type_ in PUSHED:
        described = schema(type_)
        assert described["properties"].keys() == PushedEvent.model_fields.keys()
        assert set(described["required"]) == PushedEvent.model_fields.keys()
        assert all(inner.get("description") or "const" in inner for inner in described["properties"].values())


@pytest.fixture(scope="module")
def really_sent() -> list[dict[str, Any]]:
    """What the bus carries while a graph's tasks are done, wait and fail."""
    sent: list[dict[str, Any]] = []
    with InProcessSlate() as slate:
        local = slate.service.local
        local.bus.add_rule(local.queues("all"))

        def keep(event: Any, _: Any) -> None:
            sent.extend(json.loads(record["body"])["detail"] for record in event["Records"])

        local.queues.consume("all", keep)
        client = slate.client("worker")
        tasks = [{"task_id": name, "title": "t", "role": "w"} for name in "abc"]
        client.create_graph(
            "goal", [*tasks, {"task_id": "d", "title": "t", "role": "w", "needs_approval": True}], graph_id="g"
        )
        done, failed, asked = client.claim(["w"], max_tasks=3)
        client.complete(done, "did")
        client.fail(failed, "no", retryable=False)
        client.wait(asked, "may I?")
        for task in (asked.task.task_id, "d"):
            client.resume("g", task, "yes")
        for claim in client.claim(["w"], max_tasks=2):
            client.complete(claim, "did")
        slate.drain()
    return sent


@pytest.mark.parametrize("type_", PUSHED)
def test_what_is_really_sent_is_what_its_schema_says(really_sent, type_):
    these = [event for event in really_sent if event["type"] == type_]
    assert these, "the graph's life has one"
    for event in these:
        assert faults(schema(type_), event) == []


def test_a_schema_refuses_what_is_not_its_event(really_sent):
    event = next(event for event in really_sent if event["type"] == "task.ready")
    for broken in (
        {**event, "type": "task.failed"},
        {**event, "schema_version": 2},
        {**event, "task_id": None},
        {**event, "at": "yesterday Z"},
        {**event, "epoch": "3"},
        {name: value for name, value in event.items() if name != "tenant"},
    ):
        assert faults(schema("task.ready"), broken)
