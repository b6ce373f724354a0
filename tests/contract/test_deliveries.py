"""Deliveries against the storage: each event reaches each webhook that wants it, whatever happens on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from contract.faults import Killed, reply_lost
from contract.world import TENANT, World, task
from slate.adapters.dynamodb.keys import deliveries_pk
from slate.adapters.dynamodb.webhook_store import DynamoWebhookStore
from slate.adapters.inprocess.event_bus import InProcessEventBus
from slate.adapters.inprocess.queues import InProcessQueues
from slate.adapters.inprocess.random_ids import RandomIds
from slate.contract.webhooks import CreatedWebhook, CreateWebhook
from slate.domain.errors import Conflict, Forbidden, Invalid, NotFound
from slate.domain.events import EventType, FeedEntry
from slate.domain.webhooks import MAX_ATTEMPTS, Delivery, DeliveryState
from slate.ports.webhooks import Answer
from slate.service.webhooks.delivering import Delivering
from slate.service.webhooks.keeping import MAX_WEBHOOKS

HOUR = 3_600


class Sent:
    """A sender that answers as it is told, and keeps what it sent."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.then = Answer(status=200)
        self.sent: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.during: Callable[[], None] = lambda: None

    def send(self, url: str, headers: Any, body: bytes) -> Answer:
        self.sent.append((url, dict(headers), json.loads(body)))
        self.during()
        return self.answers.pop(0) if self.answers else self.then


class Post:
    """A bus, its queue and a consumer over one world's storage."""

    def __init__(self, w: World) -> None:
        self.w = w
        self.sender = Sent()
        self.queues = InProcessQueues(w.clock, RandomIds())
        self.bus = InProcessEventBus("local")
        self.bus.add_rule(self.queues("webhooks"))
        self.store = DynamoWebhookStore(w.storage)
        self.delivering = Delivering(
            self.store,
            self.queues("webhooks"),
            self.sender,
            w.slate.operate,
            w.clock,
            w.slate.working._rng,
            lambda: 0.0,
        )
        self.queues.consume("webhooks", self.handle, batch=1, visibility_seconds=90)

    def handle(self, event: Any, _: Any) -> None:
        for record in event["Records"]:
            self.delivering.consume(json.loads(record["body"]))

    def drain(self) -> None:
        while self.queues.run_once():
            pass

    def pass_time(self, seconds: float) -> None:
        """Time goes by evenly, and whatever falls due on the way is done."""
        for _ in range(round(seconds / 60)):
            self.w.clock.advance(60)
            self.drain()

    def webhook(self, *events: str, url: str = "https://agents.example.com/slate") -> CreatedWebhook:
        body = CreateWebhook.model_validate({"url": url, "events": events or ("task.ready",)})
        return self.w.slate.webhooks.create(self.w.me, body, None)

    def publish(self, *types: EventType, graph_id: str = "g", seq: int = 1, tenant: str = TENANT) -> None:
        entries = [
            FeedEntry(
                seq=seq + i,
                at=self.w.clock.now(),
                type=type_,
                graph_id=graph_id,
                task_id=None if type_ == EventType.GRAPH_COMPLETED else "t",
                state="READY",
                epoch=1,
                role="r",
                queue="default",
                version=1,
            )
            for i, type_ in enumerate(types or (EventType.TASK_READY,))
        ]
        self.bus.publish(tenant, entries)

    def log(self, webhook: CreatedWebhook) -> tuple[Delivery, ...]:
        return self.w.slate.webhooks.deliveries(self.w.me, webhook.webhook_id, 50, None).items

    def delivery(self, webhook: CreatedWebhook) -> Delivery:
        (only,) = self.log(webhook)
        return only


@pytest.fixture
def post(w: World) -> Post:
    w.graph(task("t"))
    return Post(w)


def test_an_event_reaches_each_webhook_that_wants_it_and_no_other(post):
    both = [post.webhook(), post.webhook("task.ready", "task.failed", url="https://b.example.com/")]
    other = post.webhook("task.failed", url="https://c.example.com/")
    post.publish()
    post.drain()
    assert sorted(url for url, _, _ in post.sender.sent) == [
        "https://agents.example.com/slate",
        "https://b.example.com/",
    ]
    assert {post.delivery(webhook).state for webhook in both} == {DeliveryState.DELIVERED}
    assert post.log(other) == ()


def test_what_is_not_pushed_makes_no_message(post):
    post.webhook()
    post.publish(EventType.TASK_CLAIMED, EventType.GAP, EventType.GRAPH_CREATED)
    assert post.queues.waiting("webhooks") == []


def test_another_tenants_events_are_not_sent(post):
    post.webhook()
    post.w.graph(task("t"), by=post.w.principal(tenant="globex"))
    post.publish(tenant="globex")
    post.drain()
    assert post.sender.sent == []


def test_an_event_published_again_is_delivered_once(post):
    webhook = post.webhook()
    for _ in range(3):
        post.publish()
    post.drain()
    post.publish()
    post.drain()
    assert len(post.sender.sent) == 1
    assert len(post.log(webhook)) == 1


def test_a_refused_delivery_is_tried_again_later_and_later_until_it_is_taken(post):
    webhook = post.webhook()
    post.sender.answers = [Answer(status=500), Answer(error="no answer within 15 s"), Answer(status=302)]
    post.publish()
    post.drain()
    first = post.delivery(webhook)
    assert first.state is DeliveryState.PENDING
    assert first.next_attempt_at is not None
    assert 4_000 <= first.next_attempt_at - post.w.clock.now() <= 6_000
    post.pass_time(300)
    last = post.delivery(webhook)
    assert (last.state, last.next_attempt_at) == (DeliveryState.DELIVERED, None)
    tries = [(attempt.number, attempt.status, attempt.error) for attempt in last.attempts]
    assert tries == [(1, 500, None), (2, None, "no answer within 15 s"), (3, 302, None), (4, 200, None)]
    ids = {headers["webhook-id"] for _, headers, _ in post.sender.sent}
    assert len(ids) == 1, "one event has one id, however often it is sent"
    stamps = [int(headers["webhook-timestamp"]) for _, headers, _ in post.sender.sent]
    assert stamps == sorted(set(stamps)), "each try has its own instant"


def test_a_delivery_that_is_never_taken_is_given_up_with_every_try_in_the_log(post):
    webhook = post.webhook()
    post.sender.then = Answer(error="the connection was closed before an answer")
    post.publish()
    post.drain()
    post.pass_time(10 * HOUR)
    delivery = post.delivery(webhook)
    assert (delivery.state, delivery.next_attempt_at) == (DeliveryState.GIVEN_UP, None)
    assert [attempt.number for attempt in delivery.attempts] == list(range(1, MAX_ATTEMPTS + 1))
    assert len(post.sender.sent) == MAX_ATTEMPTS
    pauses = [b.at - a.at for a, b in pairwise(delivery.attempts)]
    assert pauses[-1] > 4 * HOUR * 1000
    assert all(longer > shorter for shorter, longer in pairwise(pauses[1:]))
    assert post.queues.waiting("webhooks") == []
    assert post.queues.dead_letters("webhooks") == []


def test_a_receiver_that_is_gone_is_asked_no_more(post):
    webhook = post.webhook()
    post.sender.then = Answer(status=410)
    post.publish()
    post.drain()
    assert post.delivery(webhook).state is DeliveryState.GIVEN_UP
    post.pass_time(HOUR)
    assert len(post.sender.sent) == 1


@pytest.mark.parametrize(("asked", "seconds"), [(120, 120), (999_999, HOUR), (1, 4)])
def test_a_receiver_may_ask_for_a_longer_pause_within_bounds(post, asked, seconds):
    webhook = post.webhook()
    post.sender.answers = [Answer(status=429, retry_after=asked)]
    post.publish()
    post.drain()
    due = post.delivery(webhook).next_attempt_at
    assert due is not None
    assert seconds * 1000 <= due - post.w.clock.now() <= max(seconds, 6) * 1000


def test_after_a_delete_nothing_more_is_sent(post):
    webhook = post.webhook()
    post.sender.then = Answer(status=500)
    post.publish()
    post.drain()
    post.w.slate.webhooks.delete(post.w.me, webhook.webhook_id)
    post.pass_time(HOUR)
    assert len(post.sender.sent) == 1
    assert post.queues.waiting("webhooks") == []
    with pytest.raises(NotFound):
        post.log(webhook)


def test_of_two_tries_at_once_one_counts(post):
    webhook = post.webhook()
    post.sender.then = Answer(status=500)
    post.publish()
    post.queues.run_once()
    [message] = post.queues.waiting("webhooks")

    def twin() -> None:
        post.sender.during = lambda: None
        post.delivering.consume(message)

    post.sender.during = twin
    post.drain()
    assert len(post.sender.sent) == 2, "both were sent: at least once"
    delivery = post.delivery(webhook)
    assert [attempt.number for attempt in delivery.attempts] == [1]
    post.pass_time(60)
    assert len(post.delivery(webhook).attempts) <= 3


@pytest.mark.parametrize("writes", range(4))
def test_a_process_that_dies_between_any_two_steps_loses_no_delivery(post, writes):
    webhook = post.webhook()
    post.sender.answers = [Answer(status=500)]
    post.publish()
    post.w.faults.kill_after(writes)
    try:
        post.drain()
        post.w.clock.advance(5)
        post.drain()
    except Killed:
        pass
    post.w.faults.disarm()
    post.pass_time(300)
    delivery = post.delivery(webhook)
    assert delivery.state is DeliveryState.DELIVERED
    assert [attempt.number for attempt in delivery.attempts] == list(range(1, len(delivery.attempts) + 1))


def test_a_queue_that_refuses_the_next_try_loses_no_delivery(post, monkeypatch):
    webhook = post.webhook()
    post.sender.answers = [Answer(status=500)]
    post.publish()
    post.queues.run_once()
    put = post.queues.put

    def refuse(*_: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(post.queues, "put", refuse)
    post.queues.run_once()
    assert len(post.delivery(webhook).attempts) == 1
    monkeypatch.setattr(post.queues, "put", put)
    post.pass_time(180)
    assert post.delivery(webhook).state is DeliveryState.DELIVERED


def test_a_lost_reply_is_ones_own_success(post):
    webhook = post.webhook()
    post.publish()
    post.w.faults.arm_every(reply_lost)
    post.drain()
    post.w.faults.disarm()
    assert post.delivery(webhook).state is DeliveryState.DELIVERED
    assert len(post.sender.sent) == 1


def test_a_delivery_about_a_person_says_so_and_holds_no_content(post):
    post.w.graph(task("t", title="xyzzy"), graph_id="anns", subject="ann", goal="xyzzy")
    webhook = post.webhook()
    post.publish(graph_id="anns")
    post.drain()
    ref = post.w.storage.codec.keyring.ref(TENANT, "ann")
    [item] = [i for key, i in post.w.items().items() if key.pk == deliveries_pk(TENANT, webhook.webhook_id)]
    assert item["subject_pk"] == f"{TENANT}#{ref}"
    assert "xyzzy" not in str(item)
    assert "ann" not in json.dumps(post.sender.sent[0][2]).replace("anns", "")


def test_an_event_of_a_graph_that_is_gone_is_not_delivered(post):
    webhook = post.webhook()
    post.publish()
    post.w.delete_graph()
    post.drain()
    assert post.sender.sent == []
    assert post.log(webhook) == ()


def test_the_log_is_paged_from_the_newest_and_forgets_after_seven_days(post):
    webhook = post.webhook()
    for seq in range(1, 6):
        post.publish(seq=seq)
        post.w.clock.advance(1)
        post.drain()
    seen: list[int] = []
    cursor = None
    while True:
        page = post.w.slate.webhooks.deliveries(post.w.me, webhook.webhook_id, 2, cursor)
        seen += [delivery.event_at for delivery in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 5
    post.w.clock.advance(7 * 24 * HOUR + 1)
    assert post.log(webhook) == ()


def test_url_and_secret_are_sealed(post):
    webhook = post.webhook(url="https://agents.example.com/?token=xyzzy")
    [item] = [item for key, item in post.w.items().items() if key.sk == webhook.webhook_id]
    assert "xyzzy" not in str(item)
    assert webhook.secret not in str(item)


def test_a_secret_is_shown_once_and_under_one_idempotency_key_it_is_the_same(post):
    body = CreateWebhook(url="https://example.com/", events=("task.ready",))
    made = post.w.slate.webhooks.create(post.w.me, body, "key")
    assert post.w.slate.webhooks.create(post.w.me, body, "key") == made
    assert not hasattr(post.w.slate.webhooks.get(post.w.me, made.webhook_id), "secret")
    assert len(post.w.slate.webhooks.list(post.w.me, 50, None).items) == 1


def test_a_key_bound_to_a_person_has_no_say_over_webhooks(post):
    webhook = post.webhook()
    ann, keeping = post.w.principal("console", subject="ann"), post.w.slate.webhooks
    body = CreateWebhook(url="https://example.com/", events=("task.ready",))
    for call in (
        lambda: keeping.create(ann, body, None),
        lambda: keeping.list(ann, 50, None),
        lambda: keeping.get(ann, webhook.webhook_id),
        lambda: keeping.deliveries(ann, webhook.webhook_id, 10, None),
        lambda: keeping.delete(ann, webhook.webhook_id),
    ):
        with pytest.raises(Forbidden):
            call()


def test_another_tenants_webhook_reads_as_missing(post):
    webhook = post.webhook()
    other = post.w.principal(tenant="globex")
    for call in (post.w.slate.webhooks.get, post.w.slate.webhooks.delete):
        with pytest.raises(NotFound):
            call(other, webhook.webhook_id)


@pytest.mark.parametrize("url", ["http://example.com/", "https://169.254.169.254/", "http://127.0.0.1:9/"])
def test_a_webhook_to_a_private_address_is_refused_by_its_field(post, url):
    with pytest.raises(Invalid) as refused:
        post.webhook(url=url)
    assert refused.value.data["errors"][0]["field"] == "url"


def test_a_tenant_has_a_bounded_number_of_webhooks(post):
    for _ in range(MAX_WEBHOOKS):
        post.webhook()
    with pytest.raises(Conflict, match="delete one first"):
        post.webhook()
    first = post.w.slate.webhooks.list(post.w.me, 15, None)
    rest = post.w.slate.webhooks.list(post.w.me, 15, first.next_cursor)
    assert len({webhook.webhook_id for webhook in (*first.items, *rest.items)}) == MAX_WEBHOOKS
    assert rest.next_cursor is None
