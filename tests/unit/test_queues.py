from __future__ import annotations

import json
from typing import Any

import pytest

from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.adapters.inprocess.queues import InProcessQueues
from slate.adapters.inprocess.random_ids import RandomIds
from slate.adapters.sqs.queues import SqsQueues


class Consumer:
    """Keeps what it got; fails the messages whose ``n`` is among ``bad``."""

    def __init__(self, *bad: int) -> None:
        self.bad = set(bad)
        self.batches: list[list[int]] = []
        self.receives: list[str] = []

    def __call__(self, event: Any, _: Any) -> dict[str, Any]:
        bodies = [(record["messageId"], json.loads(record["body"])["n"]) for record in event["Records"]]
        self.batches.append([n for _, n in bodies])
        self.receives += [record["attributes"]["ApproximateReceiveCount"] for record in event["Records"]]
        return {"batchItemFailures": [{"itemIdentifier": i} for i, n in bodies if n in self.bad]}


@pytest.fixture
def clock():
    return ManualClock(1_000_000)


@pytest.fixture
def queues(clock):
    return InProcessQueues(clock, RandomIds())


def drain(queues: InProcessQueues) -> int:
    done = 0
    while now := queues.run_once():
        done += now
    return done


def test_a_message_is_delivered_once_where_its_consumer_ends_well(queues):
    consumer = Consumer()
    queues.consume("work", consumer)
    queues("work").send({"n": 1})
    assert drain(queues) == 1
    assert consumer.batches == [[1]]
    assert queues.waiting("work") == []


def test_a_message_waits_for_a_consumer(queues):
    queues("work").send({"n": 1})
    assert queues.run_once() == 0
    assert queues.waiting("work") == [{"n": 1}]


def test_a_delayed_message_comes_when_its_delay_is_over_and_not_before(queues, clock):
    consumer = Consumer()
    queues.consume("work", consumer)
    queues("work").send({"n": 1}, delay_seconds=900)
    clock.advance(899.999)
    assert drain(queues) == 0
    clock.advance(0.001)
    assert drain(queues) == 1


def test_no_more_than_a_batch_is_handed_over_at_once(queues):
    consumer = Consumer()
    queues.consume("work", consumer, batch=2)
    for n in range(5):
        queues("work").send({"n": n})
    assert drain(queues) == 5
    assert [len(batch) for batch in consumer.batches] == [2, 2, 1]


def test_a_failed_message_comes_again_after_its_visibility_and_its_neighbours_do_not(queues, clock):
    consumer = Consumer(2)
    queues.consume("work", consumer, visibility_seconds=30)
    queues("work").send({"n": 1})
    queues("work").send({"n": 2})
    assert drain(queues) == 2
    clock.advance(29)
    assert drain(queues) == 0
    clock.advance(1)
    assert drain(queues) == 1
    assert consumer.batches == [[1, 2], [2]]
    assert consumer.receives == ["1", "1", "2"]


def test_a_consumer_that_raises_fails_its_whole_batch_and_the_log_has_no_content(queues, caplog):
    secret = "the secret"

    def broken(_: Any, __: Any) -> None:
        raise RuntimeError(f"{secret} content")

    queues.consume("work", broken, visibility_seconds=1)
    queues("work").send({"n": 1})
    assert drain(queues) == 1
    assert queues.waiting("work") == [{"n": 1}]
    assert "RuntimeError" in caplog.text
    assert "the secret content" not in caplog.text


def test_a_message_received_too_often_is_a_dead_letter_and_can_be_given_back(queues, clock):
    consumer = Consumer(1)
    queues.consume("work", consumer, visibility_seconds=10, max_receives=3)
    queues("work").send({"n": 1})
    for _ in range(5):
        drain(queues)
        clock.advance(10)
    assert consumer.batches == [[1]] * 3
    assert queues.dead_letters("work") == [{"n": 1}]
    assert queues.waiting("work") == []
    consumer.bad.clear()
    assert queues.redrive("work") == 1
    assert drain(queues) == 1
    assert queues.dead_letters("work") == queues.waiting("work") == []


def test_a_batch_of_a_lane_is_one_at_a_time_and_keeps_no_other_lane_waiting(queues):
    consumer = Consumer()
    queues.consume("work", consumer, batch=2, lane=lambda message: str(message["n"] % 2))
    for n in range(1, 6):
        queues("work").send({"n": n})
    odd, even = queues.next_of_lane("work"), queues.next_of_lane("work")
    assert queues.next_of_lane("work") is None, "both lanes are busy"
    even()
    odd()
    assert consumer.batches == [[2, 4], [1, 3]]
    queues.next_of_lane("work")()
    assert consumer.batches[2:] == [[5]]
    assert queues.next_of_lane("work") is None
    assert queues.waiting("work") == []


def test_a_lane_is_free_again_after_a_consumer_that_raised(queues, clock):
    def broken(_: Any, __: Any) -> None:
        raise RuntimeError

    queues.consume("work", broken, visibility_seconds=30)
    queues("work").send({"n": 1})
    queues.next_of_lane("work")()
    clock.advance(30)
    assert queues.next_of_lane("work") is not None


@pytest.mark.parametrize("seconds", [-1, 901])
def test_a_delay_that_sqs_would_refuse_is_refused_here_too(queues, seconds):
    with pytest.raises(ValueError, match="0 to 900"):
        queues("work").send({"n": 1}, delay_seconds=seconds)


def test_on_sqs_a_message_is_its_json_with_its_delay():
    with MotoEngine() as engine:
        sqs = engine.client("sqs")
        url = sqs.create_queue(QueueName="webhooks")["QueueUrl"]
        queue = SqsQueues(lambda: sqs, {"webhooks": url})("webhooks")
        queue.send({"n": 1, "name": "Zoë"})
        queue.send({"n": 2}, delay_seconds=900)
        with pytest.raises(ValueError, match="0 to 900"):
            queue.send({"n": 3}, delay_seconds=901)
        [message] = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
        assert json.loads(message["Body"]) == {"n": 1, "name": "Zoë"}
        counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessagesDelayed"])
        assert counts["Attributes"]["ApproximateNumberOfMessagesDelayed"] == "1"
