"""What holds data: the key, the three tables and the bucket. Of a protected stage all of it outlives the stack."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from slate.adapters.dynamodb.table import KEYS, LEDGER, MAIN, TableSpec
from slate_infra.constructs.nag import accept
from slate_infra.stages import Restored, Stage


class Storage(Construct):
    """The key that everything rests under and that wraps data keys, the tables in ``table.py``'s shape, the bucket."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self._protected = stage.protected
        self.key = kms.Key(
            self,
            "Key",
            description="Slate: data at rest, and the wrapping of data keys",
            enable_key_rotation=True,
            removal_policy=_kept(self._protected),
        )
        main = self._table("Main", MAIN)
        self.main: dynamodb.ITableV2 = main if stage.restored is None else self._in_place(stage.restored)
        self.keys = self._table("Keys", KEYS)
        self.ledger = self._table("Ledger", LEDGER)
        self.content = self._bucket()

    def _table(self, construct_id: str, spec: TableSpec) -> dynamodb.TableV2:
        return dynamodb.TableV2(
            self,
            construct_id,
            partition_key=_key(spec.pk),
            sort_key=_key(spec.sk),
            billing=dynamodb.Billing.on_demand(),
            encryption=dynamodb.TableEncryptionV2.customer_managed_key(self.key),
            time_to_live_attribute=spec.ttl,
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES if spec.stream else None,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True, recovery_period_in_days=spec.recovery_days
            ),
            deletion_protection=spec.protected and self._protected,
            removal_policy=_kept(spec.protected and self._protected),
            global_secondary_indexes=[
                dynamodb.GlobalSecondaryIndexPropsV2(
                    index_name=index.name,
                    partition_key=_key(index.pk),
                    sort_key=_key(index.sk),
                    projection_type=dynamodb.ProjectionType.KEYS_ONLY,
                )
                for index in spec.indexes
            ],
        )

    def _in_place(self, restored: Restored) -> dynamodb.ITableV2:
        """What is read and written instead of the stack's own main table, which stays beside it as it is."""
        return dynamodb.TableV2.from_table_attributes(
            self, "Restored", table_name=restored.table, table_stream_arn=restored.stream, encryption_key=self.key
        )

    def _bucket(self) -> s3.Bucket:
        """Versioned, so that an object that a restored table names is there as long as the table can be restored.

        It stays when the stack goes, in either stage: CloudFormation removes an empty bucket alone.
        """
        bucket = s3.Bucket(
            self,
            "Content",
            versioned=True,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_key_enabled=True,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=RemovalPolicy.RETAIN,
            lifecycle_rules=[
                s3.LifecycleRule(
                    noncurrent_version_expiration=Duration.days(MAIN.recovery_days),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
            ],
        )
        accept(bucket, "S1", "Access logs would keep object keys, which carry tenants and ids, in clear.")
        return bucket


def _kept(protected: bool) -> RemovalPolicy:
    return RemovalPolicy.RETAIN if protected else RemovalPolicy.DESTROY


def _key(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
