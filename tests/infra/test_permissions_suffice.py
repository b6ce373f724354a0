"""The calls that each function really makes, held against what its role allows: all of them, and nothing besides."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from deployment import Deployment, deployment
from iam import Call, allows
from slate.contract.access import CreateKey
from slate.contract.contexts import AskContext
from slate.contract.erasures import AskErasure
from slate.contract.facts import ExtractFacts, PatchFact, PostFacts, PutConsents
from slate.contract.forgetting import GiveFeedback, RestoreMany
from slate.contract.holds import CreateHold
from slate.contract.locks import AcquireLock
from slate.contract.sessions import AppendTurns, CreateSession, PatchPinned, PatchTurn
from slate.contract.tasks import (
    AddTasks,
    AskQuestion,
    ClaimTasks,
    CompleteTask,
    CreateGraph,
    FailTask,
    ReleaseTask,
    ResumeTask,
    RetryTask,
    SendHeartbeat,
)
from slate.contract.tenants import PutTenant
from slate.contract.values import PutValue
from slate.contract.webhooks import CreateWebhook
from slate.domain.access import Principal, Scope
from slate.domain.context import Format
from slate.domain.errors import ClaimLost, Conflict, Unauthenticated
from slate.domain.events import EventType, FeedEntry
from slate.domain.pushed import PushedEvent
from slate.domain.tasks import TaskSpec
from slate.domain.values import OwnerKind
from slate.ports.webhooks import Answer
from slate.service.audit.reading import Wanted
from slate.service.facts.remembering import FactFilter
from slate.service.forgetting.undoing import LogFilter
from slate.wiring.parts import MEMORY, Memory, Slate
from slate_functions.events.consume import FeedConsumer
from slate_functions.extractor.dispatch import Dispatch

PLANNER = Principal(tenant="acme", agent="planner", key_id="k-1", scopes=frozenset(Scope))
LARGE = "x" * 150_000
ROLES = {
    "tasks_api": "FunctionsTasksApiRole",
    "waiting": "FunctionsWaitingRole",
    "authorizer": "FunctionsAuthorizerRole",
    "sweeper": "FunctionsSweeperRole",
    "events": "FunctionsEventsRole",
    "webhooks": "FunctionsWebhooksRole",
    "memory_api": "FunctionsMemoryApiRole",
    "extractor": "FunctionsExtractorRole",
    "decay": "FunctionsDecayRole",
    "privacy_api": "FunctionsPrivacyApiRole",
    "eraser": "FunctionsEraserRole",
}
NO_CALL_OF_OURS = (
    *("logs:", "xray:", "sts:"),
    *("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"),
    *("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"),
    *("sqs:ReceiveMessage", "bedrock:InvokeModel", "es:", "kms:Sign", "kms:GetPublicKey", "lambda:InvokeFunction"),
)
"""Lambda writes, receives and deletes these in the function's name; models are asked of nobody here, and no domain is."""


def task(task_id: str, *parents: str, **more: object) -> TaskSpec:
    return TaskSpec(task_id=task_id, title=task_id, role="worker", depends_on=parents, **more)


def graph(graph_id: str, *tasks: TaskSpec, more: bool = False) -> CreateGraph:
    return CreateGraph(graph_id=graph_id, goal="a goal", subject="person-1", tasks=tasks, more=more)


def plan(slate: Slate) -> None:
    big = task("big", input=LARGE)
    slate.planning.create(
        PLANNER, graph("whole", big, task("child", "big"), task("checked", needs_approval=True)), "once"
    )
    slate.planning.create(PLANNER, graph("parts", task("a"), more=True), None)
    slate.planning.add(PLANNER, "parts", AddTasks(tasks=(task("b", "a"),)), None)
    slate.planning.add(PLANNER, "whole", AddTasks(tasks=(task("late", "child"),)), None)
    with pytest.raises(Conflict):
        slate.planning.create(PLANNER, graph("whole", task("other")), "refused once")
    slate.planning.list(PLANNER, 10, None, None)
    slate.steering.list(PLANNER, "whole", None, None, 10, None)


def work(slate: Slate) -> None:
    def claim():
        return slate.working.claim(PLANNER, ClaimTasks(roles=("worker",)), None).claims[0]

    first = claim()
    place = (first.task.graph_id, first.task.task_id)
    slate.working.heartbeat(PLANNER, *place, SendHeartbeat(token=first.token))
    slate.working.complete(PLANNER, *place, CompleteTask(token=first.token, action="done", result=LARGE))
    slate.steering.get(PLANNER, *place)
    second = claim()
    slate.working.release(PLANNER, second.task.graph_id, second.task.task_id, ReleaseTask(token=second.token))
    third = claim()
    place = (third.task.graph_id, third.task.task_id)
    slate.working.wait(PLANNER, *place, AskQuestion(token=third.token, question="which?"))
    slate.steering.resume(PLANNER, *place, ResumeTask(answer="this"), None)
    slate.steering.resume(PLANNER, "whole", "checked", ResumeTask(answer="yes"), None)
    fourth = claim()
    place = (fourth.task.graph_id, fourth.task.task_id)
    slate.working.fail(PLANNER, *place, FailTask(token=fourth.token, error="no", retryable=False))
    slate.steering.retry(PLANNER, *place, RetryTask(cascade=True), None)
    slate.steering.cancel(PLANNER, "whole", "late", None)


def keep_keys(slate: Slate) -> list[str]:
    made = [
        slate.access.create(PLANNER, CreateKey(agent="worker", scopes=(Scope.TASKS_WRITE,), subject=subject), None)
        for subject in ("person-1", None)
    ]
    slate.access.list(PLANNER, 10, None)
    slate.access.revoke(PLANNER, made[1].key_id)
    return [key.key for key in made]


def leave_work_to_the_sweeper(slate: Slate) -> None:
    """All that falls due by the clock alone, and a delete that died before it removed anything."""
    for name in ("cancelled", "deleted"):
        slate.planning.create(PLANNER, graph(name, task("a", input=LARGE), task("b", "a")), None)
    slate.planning.cancel(PLANNER, "cancelled", None)
    slate.planning._graphs.begin_delete(PLANNER.tenant, "deleted", None)
    slate.planning.create(PLANNER, graph("abandoned", task("a"), more=True), None)
    slate.planning.create(PLANNER, graph("lapsing", task("a", max_attempts=1), task("b", "a")), None)
    slate.planning.create(PLANNER, graph("lapsing-leaf", task("c")), None)
    slate.working.claim(PLANNER, ClaimTasks(roles=("worker",), max=100), None)


def wait(slate: Slate) -> None:
    """What the routes that may wait do, by somebody whose tenant has no data key yet as well."""
    stranger = Principal(tenant="globex", agent="worker", key_id="k-2", scopes=frozenset(Scope))
    slate.working.claim(stranger, ClaimTasks(roles=("worker",)), "once")
    for _ in range(2):
        slate.working.claim(PLANNER, ClaimTasks(roles=("worker",), max=2), "claim once")
        slate.locks.acquire(PLANNER, "deploy", AcquireLock(lease_seconds=60), "lock once")
    with pytest.raises(ClaimLost):
        slate.locks.acquire(PLANNER, "deploy", AcquireLock(lease_seconds=60), "lock again")
    slate.following.read(PLANNER, "waited-for", 0, 10, 0)


def make_feeds(slate: Slate) -> None:
    for name in ("fed", "fed-whole"):
        made = CreateGraph(graph_id=name, goal="a goal", queue="fed", tasks=(task("first"), task("last")))
        slate.planning.create(PLANNER, made, None)
    for claim in slate.working.claim(PLANNER, ClaimTasks(roles=("worker",), queue="fed", max=4), None).claims:
        body = CompleteTask(token=claim.token, action="done", result=1)
        slate.working.complete(PLANNER, claim.task.graph_id, claim.task.task_id, body)


def feed(slate: Slate, event: Any) -> Any:
    """A batch of which one record cannot be read: the sweeper is left to look at the table."""
    for record in event["Records"]:
        image = record["dynamodb"]["NewImage"]
        if (image["pk"]["S"], image["sk"]["S"], image["state"]["S"]) == ("acme#G#fed", "T#first", "DONE"):
            del image["history"]
    return FeedConsumer(slate.feeds, slate.feed_failures, slate.operate)(event, None)


class Refused:
    """A receiver that takes nothing."""

    def send(self, *_: object) -> Answer:
        return Answer(status=500)


def keep_webhooks(slate: Slate) -> None:
    body = CreateWebhook(url="https://agents.example.com/", events=("task.ready",))
    made = [slate.webhooks.create(PLANNER, body, key) for key in (None, "webhook once", "webhook once")]
    slate.webhooks.list(PLANNER, 10, None)
    slate.webhooks.deliveries(PLANNER, made[0].webhook_id, 10, None)
    slate.webhooks.delete(PLANNER, made[1].webhook_id)


def deliver(slate: Slate, at: int) -> None:
    """An event that is published twice, and a try of its delivery that is refused."""
    slate.delivering._sender = Refused()
    entry = FeedEntry(
        seq=1,
        at=at,
        type=EventType.TASK_READY,
        graph_id="parts",
        task_id="a",
        state="READY",
        epoch=1,
        role="r",
        version=1,
    )
    [event] = PushedEvent.of(PLANNER.tenant, [entry])
    for _ in range(2):
        slate.delivering.consume({"detail": event.model_dump(mode="json")})
    sent = slate.delivering._queue.queues.waiting("webhooks")
    slate.delivering.consume(next(message for message in sent if "delivery_id" in message))


def talk(slate: Slate) -> None:
    """Sessions as the memory API keeps them."""
    memory = slate.memory
    for name in ("closed", "idle", "deleted"):
        body = CreateSession(session_id=name, subject=f"person-{name}", system="Be brief.")
        for _ in range(2):
            memory.sessions.create(PLANNER, body, f"session {name}")
        given = [{"role": "user", "content": f"{i}: I am in Germany."} for i in range(3)]
        turns = AppendTurns.model_validate({"turns": [*given, {"role": "tool", "content": LARGE}]})
        memory.talking.append(PLANNER, name, turns, None)
        memory.pinning.patch(PLANNER, name, PatchPinned(goal="x"), 1)
        slate.values.put(PLANNER, OwnerKind.SESSION, name, "v", PutValue(value=LARGE), None)
    memory.sessions.list(PLANNER, 10, None, None)
    memory.talking.list(PLANNER, "closed", 10, None)
    given_context = memory.contexts.give(PLANNER, AskContext(session="closed"))
    memory.contexts.get(PLANNER, given_context.context_id, Format.TEXT)
    memory.talking.patch(PLANNER, "closed", "1", PatchTurn(importance=9), None)
    memory.talking.delete(PLANNER, "closed", "2", None)
    memory.talking.delete(PLANNER, "deleted", "4", None)
    memory.sessions.delete(PLANNER, "deleted", None)
    extraction = memory.sessions.close(PLANNER, "closed").extraction_id
    memory.sessions.extraction(PLANNER, extraction)
    memory.tenants.put(PLANNER, PutTenant(), None)
    know(memory)


def know(memory: Memory) -> None:
    """All that is done with facts through the API."""
    person, given = "customer-9", {"category": "other", "attribute": "city"}
    body = {"facts": [{**given, "statement": f"Lives in {city}", "value": city} for city in ("Rome", "Oslo")]}
    held = {"category": "other", "statement": "Has root access"}
    trivial = {"category": "other", "statement": "Wore a hat", "importance": 2}
    results = memory.facts.post(
        PLANNER, person, PostFacts.model_validate({"facts": [*body["facts"], held, trivial]}), None
    ).results
    fact_id = str(results[1].fact_id)
    memory.facts.find(PLANNER, person, FactFilter(), 10, None)
    memory.facts.history(PLANNER, person, fact_id)
    memory.facts.edit(PLANNER, person, fact_id, PatchFact(importance=8), None)
    memory.facts.confirm(PLANNER, person, fact_id)
    memory.facts.delete(PLANNER, person, fact_id, None)
    memory.facts.restore(PLANNER, person, fact_id)
    memory.facts.keep(PLANNER, person, fact_id)
    memory.reviewing.notices(PLANNER, person, 10, None)
    forget(memory, person)
    memory.reviewing.accept(PLANNER, person, str(results[2].quarantine_id))
    consent = {"health": {"given": True, "at": 1_000, "source": "form"}}
    memory.reviewing.put_consents(PLANNER, person, PutConsents.model_validate(consent), None)
    for said in ("I like tea. I moved to Rome. I have diabetes.", "I like rum. " + LARGE):
        asked = {"messages": [{"role": "user", "content": said}]}
        memory.extracting.ask(PLANNER, person, ExtractFacts.model_validate(asked), None, wait=False)
    memory.facts.delete_all(PLANNER, person)


def forget(memory: Memory, person: str) -> None:
    """The log, the way back, feedback, and facts that fade and wake on their own."""
    given = [{"category": "other", "statement": f"Plays the {what}"} for what in ("cello", "flute")]
    memory.facts.post(PLANNER, person, PostFacts.model_validate({"facts": given}), None)
    context = memory.contexts.give(PLANNER, AskContext(subject=person, query="who plays the cello?"))
    (first, *_) = [item.id for section in context.sections if section.name == "facts" for item in section.items]
    memory.forgetting.learning.give(PLANNER, context.context_id, GiveFeedback(used=(first,)))
    memory.forgetting.undoing.log(PLANNER, person, LogFilter(), 10, None)
    memory.forgetting.undoing.restore(PLANNER, person, RestoreMany(rule="deleted"))
    memory.forgetting.examining.examine(PLANNER, person)
    fading = [{"category": "other", "statement": f"Saw a {what}"} for what in ("heron", "crane")]
    memory.facts.post(PLANNER, "customer-10", PostFacts.model_validate({"facts": fading}), None)


def remember(deployed: Deployment) -> None:
    """What is worked off after turns are written, and what falls due of sessions."""
    talk(deployed.start("memory_api"))
    # Another instance, which has to ask for the keys that this one made.
    deployed.start("memory_api").memory.sessions.get(PLANNER, "idle")
    export_id = deployed.start("privacy_api").memory.exporting.ask(PLANNER, "person-closed", None).export_id
    work = Dispatch(deployed.start("extractor"))
    for _ in range(3):
        for message in deployed.queued(MEMORY):
            work.consume(message)
    assert deployed.start("privacy_api").memory.exporting.page(PLANNER, export_id, None).text
    decay = deployed.start("decay").memory.decay
    for hours in (1, 31 * 24, 24, 31 * 24, 150 * 24, 31 * 24):
        deployed.clock.advance(hours * 3_600)
        while decay.run_once():
            pass


def answer_for(deployed: Deployment) -> None:
    """What a privacy officer asks for, and what the eraser does of it."""
    api = deployed.start("privacy_api")
    privacy = api.privacy
    holds = [
        CreateHold(subject="person-held", reason="a claim", until=until)
        for until in (None, deployed.clock.now() + 60_000)
    ]
    held = [privacy.holding.create(PLANNER, hold, f"hold {hold.until}") for hold in holds]
    privacy.holding.list(PLANNER, 10, None)
    privacy.erasing.ask(PLANNER, AskErasure(subject="person-held", reason="a letter"), None)
    privacy.holding.lift(PLANNER, held[0].hold_id)
    export = api.memory.exporting.ask(PLANNER, "customer-10", "export once")
    for message in deployed.queued(MEMORY):
        if message.get("export_id") == export.export_id:
            Dispatch(deployed.start("extractor")).consume(message)
    api = deployed.start("privacy_api")
    assert api.memory.exporting.page(PLANNER, export.export_id, None).text
    asked = [
        api.privacy.erasing.ask(PLANNER, AskErasure(subject=person, reason="a letter"), f"erase {person}")
        for person in ("person-1", "customer-9", "person-idle", "person-1")
    ]
    api.privacy.erasing.list(PLANNER, "person-1", 10, None)
    eraser = deployed.start("eraser").privacy
    for _ in range(8):
        deployed.clock.advance(25 * 3_600)
        eraser.holds.run_once()
        eraser.deadlines.run_once()
        while eraser.eraser.run_once():
            pass
    api = deployed.start("privacy_api")
    assert {api.privacy.erasing.get(PLANNER, each.erasure_id).state for each in asked} == {"RECEIPTED"}
    for wanted in (Wanted("closed", None, None, None), Wanted(None, "customer-10", None, None)):
        api.audit.reading.find(PLANNER, wanted, 10, None)
    api.privacy.proving.receipt(PLANNER, asked[0].erasure_id)


@pytest.fixture(scope="module")
def made() -> dict[str, set[Call]]:
    with deployment() as deployed:
        api = deployed.start("tasks_api")
        plan(api)
        work(api)
        credential, revoked = keep_keys(api)
        api.planning.delete(PLANNER, "whole", None)
        api.planning.create(PLANNER, graph("waited-for", task("big", input=LARGE), task("other")), None)
        wait(deployed.start("waiting"))
        api = deployed.start("tasks_api")
        api.planning.delete(PLANNER, "waited-for", None)
        leave_work_to_the_sweeper(api)
        # Another instance, which has to ask for the keys that this one made.
        deployed.start("tasks_api").steering.get(PLANNER, "parts", "a")
        keep_webhooks(deployed.start("tasks_api"))
        make_feeds(deployed.start("tasks_api"))
        deployed.follow(partial(lambda slate, event, _: feed(slate, event), deployed.start("events")))
        deliver(deployed.start("webhooks"), deployed.clock.now())
        authorizer = deployed.start("authorizer").recognising
        authorizer.authenticate(credential)
        with pytest.raises(Unauthenticated):
            authorizer.authenticate(revoked)
        remember(deployed)
        sweeper = deployed.start("sweeper").sweeping
        for _ in range(3):
            deployed.clock.advance(25 * 3_600)
            sweeper.run_once()
        answer_for(deployed)
        return deployed.calls


@pytest.mark.parametrize("function", ROLES)
def test_its_roles_allow_every_call_that_a_function_makes(stack, made, function):
    own, tenants = statements_of(stack, function)
    refused = {
        call for call in made[function] if not any(allows(s, call) for s in (tenants if for_a_tenant(call) else own))
    }
    assert refused == set()


@pytest.mark.parametrize("function", ROLES)
def test_its_roles_allow_nothing_that_a_function_never_does(stack, made, function):
    own, tenants = statements_of(stack, function)
    unused = []
    for statements, calls in (
        (own, [call for call in made[function] if not for_a_tenant(call)]),
        (tenants, [call for call in made[function] if for_a_tenant(call)]),
    ):
        for statement in statements:
            for action in statement[0].split():
                reads_the_stream = (function, action) == ("events", "kms:Decrypt")  # which Lambda does in its name
                if not action.startswith(NO_CALL_OF_OURS) and not reads_the_stream:
                    used = any(call.action == action and allows(statement, call) for call in calls)
                    unused += [] if used else [(action, statement[1])]
    assert unused == []


@pytest.mark.parametrize("function", ROLES)
def test_what_is_allowed_for_a_tenant_is_allowed_for_no_other(stack, made, function):
    _, tenants = statements_of(stack, function)
    for call in made[function]:
        if for_a_tenant(call) and call.through is None:
            stranger = call._replace(tenant="acme-corp" if call.tenant == "acme" else "acme")
            assert not any(allows(s, stranger) for s in tenants), call


def statements_of(stack, function):
    """What a function may do in its own name, and what in the role for a tenant."""
    return stack.statements(ROLES[function]), stack.statements(ROLES[function].removesuffix("Role") + "TenantRole")


def for_a_tenant(call: Call) -> bool:
    """Queues and the bus are asked in the function's own name; what holds a tenant's data is not."""
    return call.tenant is not None and call.action.startswith(("dynamodb:", "s3:", "kms:"))
