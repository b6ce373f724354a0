"""What cdk-nag's AwsSolutions rules find and we stand by, each with its reason beside the construct it is about."""

from __future__ import annotations

from aws_cdk import Acknowledgment, CfnElement, Stack, Token, Validations
from constructs import IConstruct


def accept(construct: IConstruct, rule: str, reason: str) -> None:
    """The rule's finding on this construct, and on those within it, no longer fails a synth."""
    Validations.of(construct).acknowledge(Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason))


def wildcard(resource: str) -> str:
    """The finding of one wildcard resource in a policy; another one in the same policy is still found."""
    return f"IAM5[Resource::{resource}]"


def arn_of(construct: IConstruct) -> str:
    """How a finding writes the ARN of a construct's resource."""
    element = construct.node.default_child
    assert isinstance(element, CfnElement)  # noqa: S101  # every construct that has an ARN wraps one
    stack = Stack.of(construct)
    return f"<{stack.resolve(stack.get_logical_id(element))}.Arn>"


def account_of(stack: Stack) -> str:
    """How a finding writes the account, known at synthesis or not."""
    return "<AWS::AccountId>" if Token.is_unresolved(stack.account) else stack.account
