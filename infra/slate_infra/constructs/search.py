"""The OpenSearch domain: what can be searched, in a form that is derived, and can be made anew from the tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_opensearchservice as opensearch
from constructs import Construct

from slate_infra.constructs.nag import accept
from slate_infra.stages import Network, Nodes, Stage

VERSION: Final = opensearch.EngineVersion.OPENSEARCH_2_19
"""The version that the tests run a node of."""
_HTTP: Final = ("es:ESHttpGet", "es:ESHttpPost")


class SearchDomain(Construct):
    """A domain with k-NN, reached over TLS by signed requests alone.

    It keeps no logs: slow searches and errors are logged with what was searched, and who was spoken of. AWS takes a
    snapshot of it each hour and keeps it for 14 days, in either stage.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, nodes: Nodes, key: kms.IKey, name: str
    ) -> None:
        super().__init__(scope, construct_id)
        stack = Stack.of(self)
        # By its name, not by its attribute: roles are allowed what the domain's own policy then names them for.
        self.arn = f"arn:{stack.partition}:es:{stack.region}:{stack.account}:domain/{name}"
        self.domain = opensearch.Domain(
            self,
            "Domain",
            domain_name=name,
            version=VERSION,
            capacity=_capacity(nodes),
            zone_awareness=_zones(nodes),
            ebs=opensearch.EbsOptions(volume_size=nodes.disk_gb, volume_type=ec2.EbsDeviceVolumeType.GP3),
            encryption_at_rest=opensearch.EncryptionAtRestOptions(enabled=True, kms_key=key),
            node_to_node_encryption=True,
            enforce_https=True,
            tls_security_policy=opensearch.TLSSecurityPolicy.TLS_1_2_PFS,
            enable_version_upgrade=True,
            enable_auto_software_update=True,
            removal_policy=RemovalPolicy.RETAIN if stage.protected else RemovalPolicy.DESTROY,
        )
        resource = self.domain.node.default_child
        assert isinstance(resource, opensearch.CfnDomain)  # noqa: S101  # what the construct is made around
        self._resource = resource
        if stage.network is not None:
            resource.vpc_options = _place(stage.network, nodes)
        self._accept(stage, nodes)

    @property
    def endpoint(self) -> str:
        """Where functions reach it."""
        return f"https://{self.domain.domain_endpoint}"

    def admit(self, roles: Sequence[iam.Role]) -> None:
        """Let these in, and of the account whoever its policies allow: an operator makes the index anew."""
        # The plain property: the construct's own way is a function that sets the policy after the deployment.
        statement: dict[str, Any] = {
            "Effect": "Allow",
            "Principal": {"AWS": [role.role_arn for role in roles]},
            "Action": list(_HTTP),
            "Resource": f"{self.arn}/*",
        }
        self._resource.access_policies = {"Version": "2012-10-17", "Statement": [statement]}

    def _accept(self, stage: Stage, nodes: Nodes) -> None:
        if stage.network is None:
            accept(
                self.domain, "OS1", "Its address is public, its data is not: each request is signed by a known role."
            )
        accept(self.domain, "OS3", "Functions have no addresses of their own; roles are told apart, not addresses.")
        for log in ("SEARCH", "INDEX"):
            rule = f"OS9[LogExport::{log}_SLOW_LOGS]"
            accept(self.domain, rule, "A slow log would keep what was searched, in clear: content is never logged.")
        if not nodes.masters:
            accept(self.domain, "OS4", "What it holds is derived, and made anew if its nodes lose it.")
        if nodes.zones == 1:
            accept(self.domain, "OS7", "One node is in one zone: what it holds is derived, and made anew if it goes.")


def _capacity(nodes: Nodes) -> opensearch.CapacityConfig:
    return opensearch.CapacityConfig(
        data_nodes=nodes.data,
        data_node_instance_type=nodes.type,
        master_nodes=nodes.masters or None,
        master_node_instance_type=nodes.master_type if nodes.masters else None,
        # With a standby every entry would lie in three zones.
        multi_az_with_standby_enabled=False,
    )


def _zones(nodes: Nodes) -> opensearch.ZoneAwarenessConfig:
    if nodes.zones == 1:
        return opensearch.ZoneAwarenessConfig(enabled=False)
    return opensearch.ZoneAwarenessConfig(enabled=True, availability_zone_count=nodes.zones)


def _place(network: Network, nodes: Nodes) -> opensearch.CfnDomain.VPCOptionsProperty:
    """One subnet for each zone: the first ones."""
    return opensearch.CfnDomain.VPCOptionsProperty(
        subnet_ids=list(network.subnets[: nodes.zones]), security_group_ids=list(network.security_groups)
    )
