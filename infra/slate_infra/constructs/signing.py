"""The key that signs receipts of erasures: whoever has its public half can check one, offline, for ever."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from constructs import Construct

from slate_infra.stages import Stage


class Signing(Construct):
    """An Ed25519 key: its private half never leaves KMS, which signs up to 4,096 bytes at a time.

    It is not rotated, which KMS does to no key of a pair: a receipt names the key that signed it.
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description="Slate: signs receipts of erasures",
            key_spec=kms.KeySpec.ECC_NIST_EDWARDS25519,
            key_usage=kms.KeyUsage.SIGN_VERIFY,
            removal_policy=RemovalPolicy.RETAIN if stage.protected else RemovalPolicy.DESTROY,
        )
