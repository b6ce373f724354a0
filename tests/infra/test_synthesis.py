from __future__ import annotations

import json

import pytest
from cfnlint.api import lint_by_config
from cfnlint.config import ManualArgs


@pytest.fixture(params=["stack", "prod"])
def stage(request):
    """Either stage, as it is without any other setting."""
    return request.getfixturevalue(request.param)


def test_cdk_nag_finds_nothing_that_is_not_accepted_with_a_reason(stage):
    [report] = json.loads((stage.outdir / "validation-report.json").read_text())["pluginReports"]
    assert report["pluginName"] == "AwsSolutions"
    assert report["violations"] == []
    assert all(len(accepted["reason"]) > 30 for accepted in report["suppressedViolations"])


def test_nothing_is_accepted_that_cdk_nag_does_not_find(stage):
    [report] = json.loads((stage.outdir / "validation-report.json").read_text())["pluginReports"]
    found = {(f["acknowledgedAt"], f["acknowledgedId"]) for f in report["suppressedViolations"]}
    [path] = stage.outdir.glob("*.metadata.json")
    accepted = {
        (construct.removeprefix("/"), rule)
        for construct, entries in json.loads(path.read_text()).items()
        for entry in entries
        if entry["type"] == "aws:cdk:acknowledged-rules"
        for rule in entry["data"]
    }
    assert accepted == found


def test_a_finding_that_is_not_accepted_fails_the_synthesis(app, tmp_path):
    from aws_cdk import aws_sqs as sqs

    unsynthesized = app({}, tmp_path)
    sqs.Queue(unsynthesized.node.find_child("slate-dev"), "Open")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        unsynthesized.synth()
    [report] = json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"]
    assert {violation["ruleName"] for violation in report["violations"]} == {"AwsSolutions-SQS3", "AwsSolutions-SQS4"}


def test_cloudformation_accepts_the_template(stage):
    [path] = stage.outdir.glob("*.template.json")
    # W3005: CDK writes a dependency out that a reference implies already.
    config = ManualArgs(templates=[str(path)], regions=["eu-central-1"], ignore_checks=["W3005"])
    assert [str(match) for match in lint_by_config(config)] == []


def test_the_same_source_is_the_same_template(synthesize, stack):
    [first] = stack.outdir.glob("*.template.json")
    [second] = synthesize({}).outdir.glob("*.template.json")
    assert first.read_bytes() == second.read_bytes()


def test_what_cdk_says_of_where_to_deploy_is_followed(synthesize):
    stack = synthesize({"CDK_DEFAULT_ACCOUNT": "123456789012", "CDK_DEFAULT_REGION": "eu-west-1"})
    [artifact] = [
        a
        for a in json.loads((stack.outdir / "manifest.json").read_text())["artifacts"].values()
        if a["type"] == "aws:cloudformation:stack"
    ]
    assert artifact["environment"] == "aws://123456789012/eu-west-1"
