"""What each function may do, statement by statement: exactly the calls it makes, on exactly what it makes them on.

Writing in a transaction needs no action of its own: DynamoDB checks PutItem, UpdateItem, DeleteItem and
ConditionCheckItem for each of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aws_cdk import Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam

from slate.adapters.dynamodb.table import READY, SUBJECT, TIMER
from slate_infra.constructs.feed import Feed
from slate_infra.constructs.memory import Memory
from slate_infra.constructs.push import Push
from slate_infra.constructs.storage import Storage

_MOVE: Final = ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem")
"""Read items and change them."""
_WORK: Final = ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem", "dynamodb:PutItem")
"""Read items, change them, and write down that a call was made."""
_FEED: Final = (
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
"""Read a graph's feed and go on with it, as long as the graph is there."""
_KEEP: Final = (
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
"""Keep items, whatever becomes of them."""
_CLEAR: Final = ("dynamodb:DeleteItem", "dynamodb:BatchWriteItem")
"""Take items out."""
_MOVE_SESSIONS: Final = ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem")
"""Read sessions and change them."""
_AREAS: Final = ("us", "eu", "apac", "global")
"""What the id of a cross-region inference profile starts with."""
IN_PROCESS: Final = frozenset({"hashing", "local"})
"""Embedders that ask nobody."""
RULES_ONLY: Final = "rules"
"""Stands where a model would, and asks none."""
SEARCHED: Final = "slate-memories"
"""The alias of the index that is searched."""
KEPT: Final = "slate-memories-write"
"""The alias of those that are kept."""
_ERASURES: Final = "*#N#erasures"
"""How many erasures a table knows of, tenant by tenant."""
_ROOTS: Final = "*#A#roots"
"""What the days of the audit come to."""
_REMOVE: Final = ("s3:DeleteObjectVersion",)
"""Of a versioned bucket: to delete an object by its name alone would only hide it."""


def of_tasks_api(storage: Storage) -> list[iam.PolicyStatement]:
    """Reads and writes tasks and their content, finds what is ready, keeps API keys and data keys."""
    return [
        _allow((*_MOVE, *_CLEAR, "dynamodb:PutItem", "dynamodb:BatchGetItem"), storage.main.table_arn),
        _allow(("dynamodb:Query",), _index(storage.main, READY)),
        # A data key is written once and never changed here.
        _allow(("dynamodb:GetItem", "dynamodb:PutItem"), storage.keys.table_arn),
        _erasures_of(storage),
        # Decrypt and Encrypt for data keys and tables, GenerateDataKey for an object's own key.
        _allow(("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"), storage.key.key_arn),
        _allow(("s3:GetObject", "s3:PutObject", *_REMOVE), storage.content.arn_for_objects("*")),
        # Without ListBucket a missing object reads as forbidden, not as missing.
        _allow(("s3:ListBucket", "s3:ListBucketVersions"), storage.content.bucket_arn),
    ]


def of_waiting(storage: Storage) -> list[iam.PolicyStatement]:
    """Claims tasks and locks, follows the feed, knows a repeated call; it opens content and makes none."""
    return [
        _allow((*_WORK, "dynamodb:DeleteItem", "dynamodb:BatchGetItem"), storage.main.table_arn),
        _allow(("dynamodb:Query",), _index(storage.main, READY)),
        _allow(("dynamodb:GetItem", "dynamodb:PutItem"), storage.keys.table_arn),
        _erasures_of(storage),
        _allow(("kms:Decrypt", "kms:Encrypt"), storage.key.key_arn),
        _allow(("s3:GetObject",), storage.content.arn_for_objects("*")),
        _allow(("s3:ListBucket",), storage.content.bucket_arn),
    ]


def of_authorizer(storage: Storage) -> list[iam.PolicyStatement]:
    """Reads one API key; of the person that it is bound to the fence and the data key; and whether erasures are missed.

    Which tenant asks is known only once the key is read, so the tenant cannot be a condition here; the kind of
    record can: of no table anything but these partitions opens.
    """
    return [
        _allow(("dynamodb:GetItem",), storage.main.table_arn, _leading_keys("*#N#keys", "*#U#*", _ERASURES)),
        _erasures_of(storage),
        _allow(("dynamodb:GetItem",), storage.keys.table_arn, _leading_keys("*#K#*")),
        _allow(("kms:Decrypt",), storage.key.key_arn),
    ]


def of_sweeper(storage: Storage, push: Push, memory: Memory) -> list[iam.PolicyStatement]:
    """Moves tasks by their state and removes deleted graphs; what it makes is entries of a graph's feed.

    Of a graph's end it tells the bus, and those who work on memory.

    It opens nothing that is sealed.
    """
    return [
        _allow((*_MOVE, *_CLEAR), storage.main.table_arn),
        _allow(("dynamodb:BatchGetItem", "dynamodb:PutItem"), storage.main.table_arn, _leading_keys("*#G#*")),
        _allow(("events:PutEvents",), push.bus.event_bus_arn),
        _allow(("sqs:SendMessage",), memory.work.queue_arn),
        _allow(("dynamodb:Query",), _index(storage.main, TIMER)),
        _allow(("kms:Decrypt",), storage.key.key_arn, _through_dynamodb(storage)),
        _allow(_REMOVE, storage.content.arn_for_objects("*")),
        _allow(("s3:ListBucketVersions",), storage.content.bucket_arn),
    ]


def of_events(storage: Storage, feed: Feed, push: Push, memory: Memory) -> list[iam.PolicyStatement]:
    """Reads the stream, keeps the feeds in their graphs' partitions, tells the bus, and reports what it cannot read.

    Of a graph's end it tells those who work on memory, too.

    It opens nothing that is sealed.
    """
    stream = storage.main.table_stream_arn
    assert stream is not None  # noqa: S101  # the table is made with one
    return [
        _allow(_FEED, storage.main.table_arn, _leading_keys("*#G#*")),
        _allow(("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"), stream),
        _allow(("dynamodb:ListStreams",), "*"),
        _allow(("kms:Decrypt",), storage.key.key_arn, _through_dynamodb(storage)),
        _allow(("events:PutEvents",), push.bus.event_bus_arn),
        _allow(("sqs:SendMessage",), feed.failures.queue_arn),
        _allow(("sqs:SendMessage",), memory.work.queue_arn),
    ]


def of_webhooks(storage: Storage, push: Push) -> list[iam.PolicyStatement]:
    """Reads a tenant's webhooks and their secrets, keeps deliveries, and sends itself what is to be tried again.

    Of a graph it reads the head, which knows whom the graph is about; of data keys it opens the tenants' own alone.
    """
    main = storage.main.table_arn
    return [
        _allow(("dynamodb:GetItem", "dynamodb:Query"), main, _leading_keys("*#N#webhooks")),
        _allow(("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"), main, _leading_keys("*#W#*")),
        _allow(("dynamodb:GetItem",), main, _leading_keys("*#G#*")),
        _allow(("dynamodb:GetItem",), storage.keys.table_arn, _leading_keys("*#K#-")),
        _allow(("kms:Decrypt",), storage.key.key_arn),
        _allow(("sqs:SendMessage",), push.webhooks.queue_arn),
    ]


def of_memory_api(storage: Storage, memory: Memory) -> list[iam.PolicyStatement]:
    """Reads and writes sessions and their content, keeps data keys, and asks for work on what was said."""
    return [
        _allow((*_MOVE, *_CLEAR, "dynamodb:PutItem", "dynamodb:BatchGetItem"), storage.main.table_arn),
        _allow(("dynamodb:GetItem", "dynamodb:PutItem"), storage.keys.table_arn),
        _erasures_of(storage),
        _allow(("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"), storage.key.key_arn),
        _allow(("s3:GetObject", "s3:PutObject", *_REMOVE), storage.content.arn_for_objects("*")),
        _allow(("s3:ListBucket", "s3:ListBucketVersions"), storage.content.bucket_arn),
        _allow(("sqs:SendMessage",), memory.work.queue_arn),
    ]


def of_extractor(storage: Storage, memory: Memory, models: Sequence[str]) -> list[iam.PolicyStatement]:
    """Reads what was said, keeps digests of it and what is known by it, asks models, sends itself what is next.

    It writes out what is kept about a person, too. Of data keys it makes none: what it seals is about whom it has just
    read.
    """
    asks = [_allow(("bedrock:InvokeModel",), arn) for arn in models]
    return [
        _allow((*_MOVE, "dynamodb:PutItem", "dynamodb:BatchGetItem", "dynamodb:DeleteItem"), storage.main.table_arn),
        _allow(("dynamodb:Query",), _index(storage.main, SUBJECT)),
        _allow(("dynamodb:GetItem",), storage.keys.table_arn),
        _erasures_of(storage),
        _allow(("kms:Decrypt", "kms:GenerateDataKey"), storage.key.key_arn),
        # What it was given to read goes once it is read; what it writes out is kept for a while.
        _allow(("s3:GetObject", "s3:PutObject", *_REMOVE), storage.content.arn_for_objects("*")),
        _allow(("s3:ListBucket", "s3:ListBucketVersions"), storage.content.bucket_arn),
        _allow(("sqs:SendMessage",), memory.work.queue_arn),
        *asks,
    ]


def of_indexer(storage: Storage, feed: Feed) -> list[iam.PolicyStatement]:
    """Reads the stream, and what of memory changed; it writes nothing but the index, and reports what it gave up."""
    stream = storage.main.table_stream_arn
    assert stream is not None  # noqa: S101  # the table is made with one
    return [
        _allow(("dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"), storage.main.table_arn),
        _allow(("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"), stream),
        _allow(("dynamodb:ListStreams",), "*"),
        _allow(("dynamodb:GetItem",), storage.keys.table_arn),
        _erasures_of(storage),
        _allow(("kms:Decrypt",), storage.key.key_arn),
        _allow(("s3:GetObject",), storage.content.arn_for_objects("*")),
        _allow(("s3:ListBucket",), storage.content.bucket_arn),
        _allow(("sqs:SendMessage",), feed.failures.queue_arn),
    ]


def of_searching(domain: str) -> list[iam.PolicyStatement]:
    """Searches the index that is searched, and no other."""
    return [
        _allow(("es:ESHttpPost",), f"{domain}/_msearch"),
        _allow(("es:ESHttpPost",), f"{domain}/{SEARCHED}/_search"),
    ]


def of_indexing(domain: str) -> list[iam.PolicyStatement]:
    """Asks which indices are kept and what of an entry is there, writes those, and lists what one holds."""
    return [
        _allow(("es:ESHttpGet",), f"{domain}/_alias/{KEPT}"),
        _allow(("es:ESHttpPost",), f"{domain}/_mget"),
        _allow(("es:ESHttpPost",), f"{domain}/_bulk"),
        _allow(("es:ESHttpPost",), f"{domain}/{SEARCHED}/_search"),
    ]


def domains_of(stack: Stack) -> str:
    """Of a domain that is given, its address does not tell the name: those of this account and region."""
    return f"arn:aws:es:{stack.region}:{stack.account}:domain/*"


def embedders_of(stack: Stack, embedder: str) -> list[str]:
    """What asking an embedder takes: a model of Bedrock, unless it works in the process."""
    return [] if embedder in IN_PROCESS else models_of(stack, embedder)


def of_embedder(models: Sequence[str]) -> list[iam.PolicyStatement]:
    """Asks for vectors."""
    return [_allow(("bedrock:InvokeModel",), arn) for arn in models]


def of_previous_key(arn: str) -> iam.PolicyStatement:
    """Opens what was sealed before the key was changed for another."""
    return _allow(("kms:Decrypt",), arn)


def of_decay(storage: Storage, memory: Memory) -> list[iam.PolicyStatement]:
    """Closes idle sessions, removes those whose time is over, and asks for the work that follows a close.

    Of each day of the audit that is over it keeps the root.
    """
    keeps = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
    return [
        _allow(keeps, storage.ledger.table_arn, _leading_keys(_ROOTS)),
        _allow(("dynamodb:Query",), _index(storage.main, SUBJECT)),
        _allow((*_MOVE_SESSIONS, *_CLEAR, "dynamodb:PutItem", "dynamodb:BatchGetItem"), storage.main.table_arn),
        _allow(("dynamodb:Query",), _index(storage.main, TIMER)),
        _allow(("dynamodb:GetItem",), storage.keys.table_arn),
        _erasures_of(storage),
        _allow(("kms:Decrypt",), storage.key.key_arn),
        _allow(("s3:GetObject", *_REMOVE), storage.content.arn_for_objects("*")),
        _allow(("s3:ListBucketVersions",), storage.content.bucket_arn),
        _allow(("sqs:SendMessage",), memory.work.queue_arn),
    ]


def of_privacy_api(storage: Storage, memory: Memory, signing: str, eraser: str) -> list[iam.PolicyStatement]:
    """Keeps erasures and holds, closes fences, reads exports, receipts and the audit; asks for exports, and the eraser.

    It makes data keys: what is asked for is sealed under the person's own. It signs nothing.
    """
    return [
        _allow((*_KEEP, "dynamodb:BatchGetItem"), storage.main.table_arn),
        _allow(("dynamodb:Query",), _index(storage.main, SUBJECT)),
        _allow(("dynamodb:GetItem", "dynamodb:PutItem"), storage.keys.table_arn),
        _allow(_KEEP, storage.ledger.table_arn),
        _allow(("kms:Decrypt", "kms:Encrypt"), storage.key.key_arn),
        _allow(("kms:GetPublicKey",), signing),
        _allow(("s3:GetObject",), storage.content.arn_for_objects("*")),
        _allow(("s3:ListBucket",), storage.content.bucket_arn),
        _allow(("sqs:SendMessage",), memory.work.queue_arn),
        _allow(("lambda:InvokeFunction",), eraser),
    ]


def of_eraser(storage: Storage, signing: str) -> list[iam.PolicyStatement]:
    """Finds what is about a person and takes it out, with their keys; keeps erasures, ends holds, signs receipts.

    Of what is sealed it opens nothing but whose an erasure or a hold is.
    """
    return [
        _allow((*_KEEP, "dynamodb:BatchWriteItem", "dynamodb:BatchGetItem"), storage.main.table_arn),
        _allow(("dynamodb:Query",), _index(storage.main, TIMER)),
        _allow(("dynamodb:Query",), _index(storage.main, SUBJECT)),
        _allow(("dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchWriteItem"), storage.keys.table_arn),
        _allow([action for action in _KEEP if action != "dynamodb:Query"], storage.ledger.table_arn),
        _allow(("kms:Decrypt",), storage.key.key_arn),
        _allow(("kms:Sign", "kms:GetPublicKey"), signing),
        _allow(_REMOVE, storage.content.arn_for_objects("*")),
        _allow(("s3:ListBucketVersions",), storage.content.bucket_arn),
    ]


def of_expunging(domain: str) -> list[iam.PolicyStatement]:
    """Takes entries out of the indices that are kept, counts and lists what is left, and has their files rewritten."""
    return [
        *of_indexing(domain),
        _allow(("es:ESHttpPost",), f"{domain}/{KEPT}/_count"),
        _allow(("es:ESHttpPost",), f"{domain}/{KEPT}/_refresh"),
        _allow(("es:ESHttpPost",), f"{domain}/{KEPT}/_flush"),
        _allow(("es:ESHttpPost",), f"{domain}/{KEPT}/_forcemerge"),
        _allow(("es:ESHttpGet",), f"{domain}/{KEPT}/_stats/docs"),
        _allow(("es:ESHttpGet",), f"{domain}/_tasks/*"),
    ]


def models_of(stack: Stack, model: str) -> list[str]:
    """What asking a model takes: the model, or an inference profile and the model in whichever region it asks."""
    if model == RULES_ONLY:
        return []
    area, _, rest = model.partition(".")
    if area not in _AREAS:
        return [f"arn:aws:bedrock:{stack.region}::foundation-model/{model}"]
    return [
        f"arn:aws:bedrock:{stack.region}:{stack.account}:inference-profile/{model}",
        f"arn:aws:bedrock:*::foundation-model/{rest}",
    ]


def _allow(actions: Sequence[str], resource: str, conditions: Mapping[str, Any] | None = None) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=[resource], conditions=conditions)


def _through_dynamodb(storage: Storage) -> dict[str, Any]:
    return {"StringEquals": {"kms:ViaService": f"dynamodb.{Stack.of(storage).region}.amazonaws.com"}}


def _erasures_of(storage: Storage) -> iam.PolicyStatement:
    """Sees whether the main table misses erasures that the ledger knows of: then nothing of it is served."""
    return _allow(("dynamodb:GetItem",), storage.ledger.table_arn, _leading_keys(_ERASURES))


def _index(table: dynamodb.ITableV2, name: str) -> str:
    return f"{table.table_arn}/index/{name}"


def _leading_keys(*patterns: str) -> dict[str, Any]:
    # ForAllValues holds where the key is absent: Null refuses that.
    return {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(patterns)},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
