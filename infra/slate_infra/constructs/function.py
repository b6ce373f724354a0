"""One Lambda: its code, its role with nothing but what it needs, its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from slate.settings import Settings
from slate_infra.bundling import Bundle
from slate_infra.constructs.nag import accept, wildcard
from slate_infra.constructs.tenancy import Divided, TenantRole, divide
from slate_infra.stages import Network

_INTERFACES: Final = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
"""What Lambda does in the name of a function in a network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSpec:
    """What a function is, apart from what it may do."""

    bundle: Bundle
    memory_mb: int
    """Lambda gives CPU by memory: a whole core at 1,769 MB."""
    timeout_seconds: int
    counts_tokens: bool = False
    """It has the tokenizer's layer; the others never count, and need not carry it."""
    reserved: int | None = None
    """Kept free for it, and never exceeded: so many run at once."""

    @property
    def handler(self) -> str:
        """Where Lambda finds it."""
        return f"slate_functions.{self.bundle.function}.handler.handler"


class ServiceFunction(Construct):
    """A function on python3.13 and arm64, told its settings by its environment."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: FunctionSpec,
        code: Path,
        settings: Settings,
        statements: Sequence[iam.PolicyStatement],
        layers: Sequence[lambda_.ILayerVersion] = (),
        network: Network | None = None,
        tenants_apart: bool = True,
    ) -> None:
        """``tenants_apart``: it knows the tenant before it reaches any data; only what finds that out does not."""
        super().__init__(scope, construct_id)
        log_group = logs.LogGroup(
            self, "Log", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        own, tenants = divide(Stack.of(self), statements) if tenants_apart else Divided(list(statements), [])
        self.role = self._role(log_group, own)
        self.tenant_role: iam.Role | None = None
        """What it may do with a tenant's data, where that is apart from what it may do in its own name."""
        if tenants:
            self.tenant_role = TenantRole(self, "Tenant", function=self.role, statements=tenants).role
            settings = replace(settings, tenant_role=self.tenant_role.role_arn)
        self.function = lambda_.Function(
            self,
            "Function",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            code=lambda_.Code.from_asset(str(code)),
            handler=spec.handler,
            memory_size=spec.memory_mb,
            timeout=Duration.seconds(spec.timeout_seconds),
            role=self.role,
            reserved_concurrent_executions=spec.reserved,
            log_group=log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE,
            environment=settings.to_env(),
            layers=layers,
        )
        if network is not None:
            self._join(network)
        accept(self.function, "L1", "Python 3.13 is the newest version that the project supports and tests.")

    def _join(self, network: Network) -> None:
        """Stand in the network that is given, which Lambda does by interfaces of its own making."""
        resource = self.function.node.default_child
        assert isinstance(resource, lambda_.CfnFunction)  # noqa: S101  # what the construct is made around
        resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=list(network.subnets), security_group_ids=list(network.security_groups)
        )
        self.role.add_to_policy(iam.PolicyStatement(actions=list(_INTERFACES), resources=["*"]))

    def _role(self, log_group: logs.LogGroup, statements: Sequence[iam.PolicyStatement]) -> iam.Role:
        """Without AWS's managed policy, which would let it write every log group of the account."""
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(role)
        for statement in statements:
            role.add_to_policy(statement)
        accept(
            role, wildcard("*"), "X-Ray's actions know no resource, nor do a network's interfaces and a stream's list."
        )
        return role
