"""What each role may do, in full: a permission more or less fails here and is changed here, in plain sight."""

from __future__ import annotations

from typing import Any

import pytest

THROUGH_DYNAMODB = (
    "kms:Decrypt",
    "StorageKey.Arn",
    {"StringEquals": {"kms:ViaService": "dynamodb.eu-central-1.amazonaws.com"}},
)
READS_A_STREAM = "dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator"
XRAY = ("xray:PutTelemetryRecords xray:PutTraceSegments", "*", None)
LISTS_STREAMS = (f"dynamodb:ListStreams {XRAY[0]}", "*", None)
"""Lambda lists streams before it reads one, and a list has no resource."""
ITEMS = (
    "dynamodb:BatchGetItem dynamodb:BatchWriteItem dynamodb:ConditionCheckItem dynamodb:DeleteItem "
    "dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem"
)
CONSUME = "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:GetQueueAttributes sqs:GetQueueUrl sqs:ReceiveMessage"
ITEMS_THAT_ARE_THERE = (
    "dynamodb:BatchWriteItem dynamodb:ConditionCheckItem dynamodb:DeleteItem "
    "dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem"
)
ITEMS_OF_A_WAIT = (
    "dynamodb:BatchGetItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem"
)

ITEMS_OF_DIGESTS = (
    "dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem "
    "dynamodb:Query dynamodb:UpdateItem"
)
ITEMS_OF_SESSIONS = (
    "dynamodb:BatchGetItem dynamodb:BatchWriteItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem "
    "dynamodb:Query dynamodb:UpdateItem"
)
RECEIVES_AND_SENDS = (
    "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:GetQueueAttributes sqs:GetQueueUrl sqs:ReceiveMessage "
    "sqs:SendMessage"
)
MODEL = "amazon.nova-micro-v1:0"
ASKED_ANYWHERE = f"arn:aws:bedrock:*::foundation-model/{MODEL}"
"""An inference profile asks the model in whichever of its regions is free."""
DOMAIN = "arn:aws:es:eu-central-1:AWS::AccountId:domain/slate-dev"


def own_log(function: str) -> tuple[str, str, None]:
    return ("logs:CreateLogStream logs:PutLogEvents", f"Functions{function}Log.Arn", None)


def only_partitions(*patterns: str) -> dict[str, Any]:
    return {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(patterns)},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }


ERASURES = ("dynamodb:GetItem", "StorageLedger.Arn", only_partitions("*#N#erasures"))
"""Whether the table misses any, as one out of a backup may."""
ALLOWED = {
    "FunctionsTasksApiRole": [
        own_log("TasksApi"),
        (ITEMS, "StorageMain.Arn", None),
        ("dynamodb:Query", "StorageMain.Arn/index/ready", None),
        ("dynamodb:GetItem dynamodb:PutItem", "StorageKeys.Arn", None),
        ERASURES,
        ("kms:Decrypt kms:Encrypt kms:GenerateDataKey", "StorageKey.Arn", None),
        ("s3:DeleteObjectVersion s3:GetObject s3:PutObject", "StorageContent.Arn/*", None),
        ("s3:ListBucket s3:ListBucketVersions", "StorageContent.Arn", None),
        XRAY,
    ],
    "FunctionsWaitingRole": [
        own_log("Waiting"),
        (ITEMS_OF_A_WAIT, "StorageMain.Arn", None),
        ("dynamodb:Query", "StorageMain.Arn/index/ready", None),
        ("dynamodb:GetItem dynamodb:PutItem", "StorageKeys.Arn", None),
        ERASURES,
        ("kms:Decrypt kms:Encrypt", "StorageKey.Arn", None),
        ("s3:GetObject", "StorageContent.Arn/*", None),
        ("s3:ListBucket", "StorageContent.Arn", None),
        XRAY,
    ],
    "FunctionsAuthorizerRole": [
        own_log("Authorizer"),
        ("dynamodb:GetItem", "StorageMain.Arn", only_partitions("*#N#keys", "*#U#*", "*#N#erasures")),
        ("dynamodb:GetItem", "StorageLedger.Arn", only_partitions("*#N#erasures")),
        ("dynamodb:GetItem", "StorageKeys.Arn", only_partitions("*#K#*")),
        ("kms:Decrypt", "StorageKey.Arn", None),
        XRAY,
    ],
    "FunctionsSweeperRole": [
        own_log("Sweeper"),
        (ITEMS_THAT_ARE_THERE, "StorageMain.Arn", None),
        ("dynamodb:BatchGetItem dynamodb:PutItem", "StorageMain.Arn", only_partitions("*#G#*")),
        ("events:PutEvents", "PushBus.Arn", None),
        ("sqs:SendMessage", "MemoryWork.Arn", None),
        ("dynamodb:Query", "StorageMain.Arn/index/timer", None),
        THROUGH_DYNAMODB,
        ("s3:DeleteObjectVersion", "StorageContent.Arn/*", None),
        ("s3:ListBucketVersions", "StorageContent.Arn", None),
        XRAY,
    ],
    "FunctionsEventsRole": [
        own_log("Events"),
        (
            "dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
            "StorageMain.Arn",
            only_partitions("*#G#*"),
        ),
        (READS_A_STREAM, "StorageMain.StreamArn", None),
        LISTS_STREAMS,
        THROUGH_DYNAMODB,
        ("events:PutEvents", "PushBus.Arn", None),
        ("sqs:SendMessage", "FeedFailures.Arn", None),
        ("sqs:SendMessage", "MemoryWork.Arn", None),
    ],
    "FunctionsWebhooksRole": [
        own_log("Webhooks"),
        ("dynamodb:GetItem dynamodb:Query", "StorageMain.Arn", only_partitions("*#N#webhooks")),
        ("dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem", "StorageMain.Arn", only_partitions("*#W#*")),
        ("dynamodb:GetItem", "StorageMain.Arn", only_partitions("*#G#*")),
        ("dynamodb:GetItem", "StorageKeys.Arn", only_partitions("*#K#-")),
        ("kms:Decrypt", "StorageKey.Arn", None),
        (f"{CONSUME} sqs:SendMessage", "PushWebhooks.Arn", None),
        XRAY,
    ],
    "FunctionsMemoryApiRole": [
        own_log("MemoryApi"),
        (ITEMS, "StorageMain.Arn", None),
        ("dynamodb:GetItem dynamodb:PutItem", "StorageKeys.Arn", None),
        ERASURES,
        ("kms:Decrypt kms:Encrypt kms:GenerateDataKey", "StorageKey.Arn", None),
        ("s3:DeleteObjectVersion s3:GetObject s3:PutObject", "StorageContent.Arn/*", None),
        ("s3:ListBucket s3:ListBucketVersions", "StorageContent.Arn", None),
        ("sqs:SendMessage", "MemoryWork.Arn", None),
        ("es:ESHttpPost", f"{DOMAIN}/_msearch", None),
        ("es:ESHttpPost", f"{DOMAIN}/slate-memories/_search", None),
        XRAY,
    ],
    "FunctionsIndexerRole": [
        own_log("Indexer"),
        ("dynamodb:BatchGetItem dynamodb:GetItem dynamodb:Query", "StorageMain.Arn", None),
        (READS_A_STREAM, "StorageMain.StreamArn", None),
        LISTS_STREAMS,
        ("dynamodb:GetItem", "StorageKeys.Arn", None),
        ERASURES,
        ("kms:Decrypt", "StorageKey.Arn", None),
        ("s3:GetObject", "StorageContent.Arn/*", None),
        ("s3:ListBucket", "StorageContent.Arn", None),
        ("sqs:SendMessage", "FeedFailures.Arn", None),
        ("es:ESHttpGet", f"{DOMAIN}/_alias/slate-memories-write", None),
        ("es:ESHttpPost", f"{DOMAIN}/_mget", None),
        ("es:ESHttpPost", f"{DOMAIN}/_bulk", None),
        ("es:ESHttpPost", f"{DOMAIN}/slate-memories/_search", None),
    ],
    "FunctionsExtractorRole": [
        own_log("Extractor"),
        (ITEMS_OF_DIGESTS, "StorageMain.Arn", None),
        ("dynamodb:Query", "StorageMain.Arn/index/subject", None),
        ("dynamodb:GetItem", "StorageKeys.Arn", None),
        ERASURES,
        ("kms:Decrypt kms:GenerateDataKey", "StorageKey.Arn", None),
        ("s3:DeleteObjectVersion s3:GetObject s3:PutObject", "StorageContent.Arn/*", None),
        ("s3:ListBucket s3:ListBucketVersions", "StorageContent.Arn", None),
        (RECEIVES_AND_SENDS, "MemoryWork.Arn", None),
        ("bedrock:InvokeModel", f"arn:aws:bedrock:eu-central-1:AWS::AccountId:inference-profile/eu.{MODEL}", None),
        ("bedrock:InvokeModel", ASKED_ANYWHERE, None),
        XRAY,
    ],
    "FunctionsDecayRole": [
        own_log("Decay"),
        (ITEMS_OF_SESSIONS, "StorageMain.Arn", None),
        ("dynamodb:Query", "StorageMain.Arn/index/timer", None),
        ("dynamodb:GetItem", "StorageKeys.Arn", None),
        ERASURES,
        ("kms:Decrypt", "StorageKey.Arn", None),
        ("s3:DeleteObjectVersion", "StorageContent.Arn/*", None),
        ("s3:ListBucketVersions", "StorageContent.Arn", None),
        ("sqs:SendMessage", "MemoryWork.Arn", None),
        XRAY,
    ],
    "DecayScheduleRole": [
        ("lambda:InvokeFunction", "FunctionsDecayFunction.Arn", None),
        ("sqs:SendMessage", "DecayScheduleDeadLetters.Arn", None),
    ],
    "SweepScheduleRole": [
        ("lambda:InvokeFunction", "FunctionsSweeperFunction.Arn", None),
        ("sqs:SendMessage", "SweepScheduleDeadLetters.Arn", None),
    ],
}


def test_who_opens_what_is_sealed_opens_it_by_the_keys_before_too(synthesize):
    before = "arn:aws:kms:eu-central-1:123456789012:key/00000000-0000-0000-0000-000000000000"
    stack = synthesize({"SLATE_PREVIOUS_KMS_KEY_IDS": before})
    opening = {role for role in ALLOWED if ("kms:Decrypt", before, None) in stack.statements(role)}
    sealed = {role for role in ALLOWED if any(s[1] == "StorageKey.Arn" and s[2] is None for s in ALLOWED[role])}
    assert opening == sealed


def test_there_are_these_roles_and_none_has_a_policy_of_another_kind(stack):
    roles = stack.of_type("AWS::IAM::Role")
    assert set(roles) == set(ALLOWED)
    for role in roles.values():
        assert "ManagedPolicyArns" not in role
        assert "Policies" not in role
    assert not stack.of_type("AWS::IAM::ManagedPolicy")


@pytest.mark.parametrize("role", ALLOWED)
def test_a_role_may_do_exactly_this(stack, role):
    assert sorted(stack.statements(role), key=str) == sorted(ALLOWED[role], key=str)


@pytest.mark.parametrize("role", ALLOWED)
def test_no_action_is_a_wildcard_and_no_resource_but_xrays_and_the_buckets_objects(stack, role):
    for actions, resource, _ in stack.statements(role):
        assert "*" not in actions
        if (actions, resource) not in (XRAY[:2], LISTS_STREAMS[:2], ("bedrock:InvokeModel", ASKED_ANYWHERE)):
            assert "*" not in resource.removesuffix("StorageContent.Arn/*")


def test_a_role_is_assumed_by_its_service_alone(stack):
    services = {}
    for name, role in stack.of_type("AWS::IAM::Role").items():
        [statement] = role["AssumeRolePolicyDocument"]["Statement"]
        services[name] = (statement["Principal"]["Service"], stack.text(statement.get("Condition")))
    in_this_account = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert services == {
        "FunctionsTasksApiRole": ("lambda.amazonaws.com", None),
        "FunctionsWaitingRole": ("lambda.amazonaws.com", None),
        "FunctionsAuthorizerRole": ("lambda.amazonaws.com", None),
        "FunctionsSweeperRole": ("lambda.amazonaws.com", None),
        "FunctionsEventsRole": ("lambda.amazonaws.com", None),
        "FunctionsWebhooksRole": ("lambda.amazonaws.com", None),
        "FunctionsMemoryApiRole": ("lambda.amazonaws.com", None),
        "FunctionsExtractorRole": ("lambda.amazonaws.com", None),
        "FunctionsDecayRole": ("lambda.amazonaws.com", None),
        "FunctionsIndexerRole": ("lambda.amazonaws.com", None),
        "DecayScheduleRole": ("scheduler.amazonaws.com", in_this_account),
        "SweepScheduleRole": ("scheduler.amazonaws.com", in_this_account),
    }


@pytest.mark.parametrize("key", ["StorageKey", "SigningKey"])
def test_a_keys_own_policy_only_hands_it_to_the_accounts_policies(stack, key):
    [statement] = stack.of_type("AWS::KMS::Key")[key]["KeyPolicy"]["Statement"]
    assert stack.text(statement["Principal"]["AWS"]) == "arn:aws:iam::AWS::AccountId:root"
