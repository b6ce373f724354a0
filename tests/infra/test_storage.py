from __future__ import annotations

import pytest

from slate.adapters.dynamodb.table import KEYS, LEDGER, MAIN, TABLES

PLACES = [("StorageMain", MAIN), ("StorageKeys", KEYS), ("StorageLedger", LEDGER)]
each_table = pytest.mark.parametrize(("place", "spec"), PLACES, ids=[spec.name for _, spec in PLACES])


def test_the_stack_has_exactly_the_defined_tables(stack):
    assert {spec for _, spec in PLACES} == set(TABLES)
    assert set(stack.of_type("AWS::DynamoDB::GlobalTable")) == {place for place, _ in PLACES}


@each_table
def test_a_table_has_the_shape_that_the_local_start_creates(stack, place, spec):
    deployed = stack.of_type("AWS::DynamoDB::GlobalTable")[place]
    local = spec.create_arguments("any")
    assert deployed["KeySchema"] == local["KeySchema"]
    assert deployed["BillingMode"] == local["BillingMode"]
    assert deployed.get("GlobalSecondaryIndexes") == local.get("GlobalSecondaryIndexes")
    assert _by_name(deployed["AttributeDefinitions"]) == _by_name(local["AttributeDefinitions"])
    stream = local.get("StreamSpecification", {}).get("StreamViewType")
    assert deployed.get("StreamSpecification", {}).get("StreamViewType") == stream


def _by_name(definitions):
    return sorted(definitions, key=lambda definition: definition["AttributeName"])


def test_the_main_tables_indexes_and_stream_are_those_of_the_design(stack):
    main = stack.of_type("AWS::DynamoDB::GlobalTable")["StorageMain"]
    keys = {
        index["IndexName"]: (
            index["Projection"]["ProjectionType"],
            *(f"{part['AttributeName']} {part['KeyType']}" for part in index["KeySchema"]),
        )
        for index in main["GlobalSecondaryIndexes"]
    }
    assert keys == {
        "ready": ("KEYS_ONLY", "ready_pk HASH", "ready_sk RANGE"),
        "timer": ("KEYS_ONLY", "timer_pk HASH", "timer_sk RANGE"),
        "subject": ("KEYS_ONLY", "subject_pk HASH", "pk RANGE"),
    }
    assert main["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert main["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


@each_table
def test_a_table_is_encrypted_and_recoverable(stack, place, spec):
    [replica] = stack.of_type("AWS::DynamoDB::GlobalTable")[place]["Replicas"]
    assert stack.text(replica["SSESpecification"]["KMSMasterKeyId"]) == "StorageKey.Arn"
    assert replica["PointInTimeRecoverySpecification"] == {
        "PointInTimeRecoveryEnabled": True,
        "RecoveryPeriodInDays": spec.recovery_days,
    }


def test_a_shredded_key_is_final_after_a_day_and_never_streamed(stack):
    keys = stack.of_type("AWS::DynamoDB::GlobalTable")["StorageKeys"]
    [replica] = keys["Replicas"]
    assert replica["PointInTimeRecoverySpecification"]["RecoveryPeriodInDays"] == 1
    assert "StreamSpecification" not in keys


def test_the_key_is_rotated(stack):
    assert stack.of_type("AWS::KMS::Key")["StorageKey"]["EnableKeyRotation"] is True


def test_receipts_are_signed_by_a_key_of_a_pair_that_never_leaves_kms(stack):
    key = stack.of_type("AWS::KMS::Key")["SigningKey"]
    assert (key["KeySpec"], key["KeyUsage"]) == ("ECC_NIST_EDWARDS25519", "SIGN_VERIFY")


def test_the_bucket_is_private_versioned_encrypted_and_outlives_the_stack(stack):
    bucket = stack.only("AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    [rule] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    assert stack.text(rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"]) == "StorageKey.Arn"
    assert stack.resources["StorageContent"]["DeletionPolicy"] == "Retain"


def test_the_bucket_refuses_plain_http(stack):
    [statement] = stack.only("AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Action"] == "s3:*"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_an_old_version_of_an_object_is_there_as_long_as_the_table_that_names_it_can_be_restored(stack):
    [rule] = stack.only("AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": MAIN.recovery_days}
