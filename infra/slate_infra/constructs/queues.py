"""A queue of work with its dead letters: messages hold ids and states, never content."""

from __future__ import annotations

from typing import NamedTuple

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct


class WorkQueue(NamedTuple):
    """Work, and what could not be done of it."""

    work: sqs.Queue
    dead_letters: sqs.Queue


def work_queue(
    scope: Construct, name: str, dead_letters: str, *, visible_again_seconds: int, receives: int, kept_days: int
) -> WorkQueue:
    """SQS's own key is enough for both, so that the CMK stays with the data."""
    dead = sqs.Queue(
        scope,
        dead_letters,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(14),
    )
    work = sqs.Queue(
        scope,
        name,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(kept_days),
        visibility_timeout=Duration.seconds(visible_again_seconds),
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=receives),
    )
    return WorkQueue(work, dead)
