"""What a stage has that another has not is a matter of its settings."""

from __future__ import annotations

import json
import re

import pytest

from slate_infra.stages import REPLICATED, SMALL, Network, Stage

IN_A_NETWORK = {
    "SLATE_VPC_SUBNETS": "subnet-0a1b2c3d, subnet-0a1b2c3e",
    "SLATE_VPC_SECURITY_GROUPS": "sg-0a1b2c3d",
}
KEPT = (
    *("StorageMain", "StorageKeys", "StorageLedger", "StorageContent", "StorageKey"),
    *("SigningKey", "SearchDomain"),
)


def domain_of(stack):
    return stack.only("AWS::OpenSearchService::Domain")


def test_a_stage_is_a_stack_of_its_own(prod, stack):
    names = [path.name for s in (stack, prod) for path in s.outdir.glob("*.template.json")]
    assert names == ["slate-dev.template.json", "slate-prod.template.json"]


def test_stages_differ_in_nothing_but_what_their_settings_say(synthesize, prod):
    """The same settings, the same stack: a stage's name is in it as a name alone."""
    like_prod = synthesize({"SLATE_STAGE": "dev", "SLATE_PROTECTED": "true", "SLATE_SEARCH_DOMAIN": "replicated"})
    assert nameless(like_prod, "dev") == nameless(prod, "prod")


def nameless(stack, name):
    """Without the stage's name, and without the digests of names that CDK ends its own in."""
    text = re.sub(r"(?<=[A-Za-z])[0-9A-F]{8}", "", json.dumps(stack.resources))
    text = text.replace(f"slate-{name}", "slate").replace(f"slate{name}", "slate").replace(f': "{name}"', ': "name"')
    return json.loads(text)


def test_a_protected_stage_outlives_its_stack(prod):
    for table in prod.of_type("AWS::DynamoDB::GlobalTable").values():
        assert [replica["DeletionProtectionEnabled"] for replica in table["Replicas"]] == [True]
    for place in KEPT:
        assert prod.resources[place]["DeletionPolicy"] == prod.resources[place]["UpdateReplacePolicy"] == "Retain"
    assert terminates(prod) is False


def test_a_stage_to_try_things_in_goes_with_its_stack_but_for_its_objects(stack):
    for table in stack.of_type("AWS::DynamoDB::GlobalTable").values():
        assert [replica["DeletionProtectionEnabled"] for replica in table["Replicas"]] == [False]
    kept = {name for name, resource in stack.resources.items() if resource.get("DeletionPolicy") == "Retain"}
    assert kept == {"StorageContent"}
    assert terminates(stack) is True


def terminates(stack):
    artifacts = json.loads((stack.outdir / "manifest.json").read_text())["artifacts"].values()
    [stack_artifact] = [a for a in artifacts if a["type"] == "aws:cloudformation:stack"]
    return not stack_artifact["properties"].get("terminationProtection", False)


def test_the_domain_runs_the_version_that_is_tested_and_speaks_tls_to_known_roles_alone(stack, prod):
    for each, name in ((stack, "slate-dev"), (prod, "slate-prod")):
        domain = domain_of(each)
        assert (domain["DomainName"], domain["EngineVersion"]) == (name, "OpenSearch_2.19")
        assert domain["DomainEndpointOptions"]["EnforceHTTPS"] is True
        assert domain["NodeToNodeEncryptionOptions"] == {"Enabled": True}
        assert each.text(domain["EncryptionAtRestOptions"]["KmsKeyId"]) == "StorageKey"
        [statement] = domain["AccessPolicies"]["Statement"]
        admitted = [each.text(role) for role in statement["Principal"]["AWS"]]
        assert set(admitted) == {f"Functions{name}Role.Arn" for name in ("MemoryApi", "Indexer", "Eraser")}
        assert statement["Action"] == ["es:ESHttpGet", "es:ESHttpPost"]


def test_the_domain_keeps_no_log_of_what_is_searched(stack):
    assert domain_of(stack)["LogPublishingOptions"] == {}


def test_one_node_or_two_in_two_zones_with_three_that_keep_them_together(stack, prod):
    small, large = domain_of(stack)["ClusterConfig"], domain_of(prod)["ClusterConfig"]
    assert (small["InstanceCount"], small["InstanceType"]) == (1, "t3.small.search")
    assert (small["ZoneAwarenessEnabled"], small["DedicatedMasterEnabled"]) == (False, False)
    assert (large["InstanceCount"], large["InstanceType"]) == (2, "r6g.large.search")
    assert large["ZoneAwarenessConfig"] == {"AvailabilityZoneCount": 2}
    assert (large["DedicatedMasterEnabled"], large["DedicatedMasterCount"]) == (True, 3)


def test_a_domain_is_as_large_as_it_is_set(synthesize):
    size = {"SLATE_SEARCH_NODES": "4", "SLATE_SEARCH_NODE_TYPE": "r6g.xlarge.search", "SLATE_SEARCH_DISK_GB": "200"}
    domain = domain_of(synthesize({"SLATE_STAGE": "prod", **size}))
    assert domain["ClusterConfig"]["InstanceCount"] == 4
    assert domain["ClusterConfig"]["InstanceType"] == "r6g.xlarge.search"
    assert domain["EBSOptions"]["VolumeSize"] == 200


def test_in_a_network_every_function_and_the_domain_stand_in_it(synthesize):
    stack = synthesize({"SLATE_STAGE": "prod", **IN_A_NETWORK})
    subnets, groups = ["subnet-0a1b2c3d", "subnet-0a1b2c3e"], ["sg-0a1b2c3d"]
    for name, function in stack.of_type("AWS::Lambda::Function").items():
        assert function["VpcConfig"] == {"SubnetIds": subnets, "SecurityGroupIds": groups}
        role = name.replace("Function", "Role").replace("Roles", "Functions", 1)
        assert any("ec2:CreateNetworkInterface" in actions for actions, _, _ in stack.statements(role))
    assert domain_of(stack)["VPCOptions"] == {"SubnetIds": subnets, "SecurityGroupIds": groups}


def test_outside_a_network_nobody_may_make_interfaces(stack):
    assert "ec2:" not in json.dumps(stack.resources)


@pytest.mark.parametrize(
    ("env", "domain", "protected"),
    [
        ({}, SMALL, False),
        ({"SLATE_SEARCH_DOMAIN": "none"}, None, False),
        ({"SLATE_SEARCH_DOMAIN": "replicated"}, REPLICATED, False),
        ({"SLATE_SEARCH_ENDPOINT": "https://search.example"}, None, False),
        ({"SLATE_PROTECTED": "true"}, SMALL, True),
    ],
)
def test_a_setting_of_a_stage_is_read_from_the_environment(env, domain, protected):
    stage = Stage.from_env("dev", env)
    assert (stage.domain, stage.protected) == (domain, protected)


def test_a_table_out_of_a_backup_takes_the_main_ones_place_everywhere(synthesize):
    stream = "arn:aws:dynamodb:eu-central-1:123456789012:table/again/stream/2026-11-30T12:00:00.000"
    stack = synthesize(
        {
            "SLATE_RESTORED_TABLE": "again",
            "SLATE_RESTORED_STREAM": stream,
            "CDK_DEFAULT_ACCOUNT": "123456789012",
            "CDK_DEFAULT_REGION": "eu-central-1",
        }
    )
    assert {f["Environment"]["Variables"]["SLATE_TABLE"] for f in stack.of_type("AWS::Lambda::Function").values()} == {
        "again"
    }
    mappings = stack.of_type("AWS::Lambda::EventSourceMapping")
    assert {mappings[name]["EventSourceArn"] for name in ("FeedStream", "FeedIndex")} == {stream}
    assert "StorageMain" in stack.of_type("AWS::DynamoDB::GlobalTable")
    allowed = [s for role in stack.of_type("AWS::IAM::Role") for s in stack.statements(role)]
    assert not [s for s in allowed if "StorageMain" in s.resource]
    assert [s for s in allowed if s.resource == "arn:aws:dynamodb:eu-central-1:123456789012:table/again/index/timer"]


def test_any_other_stage_is_kept_and_replicated_unless_told_otherwise():
    stage = Stage.from_env("staging", {})
    assert (stage.protected, stage.domain, stage.network, stage.restored) == (True, REPLICATED, None, None)


def test_a_network_is_given_whole():
    network = Stage.from_env("prod", IN_A_NETWORK).network
    assert network == Network(subnets=("subnet-0a1b2c3d", "subnet-0a1b2c3e"), security_groups=("sg-0a1b2c3d",))


@pytest.mark.parametrize(
    ("name", "env", "said"),
    [
        ("Prod", {}, "a stage is named by"),
        ("a" * 22, {}, "a stage is named by"),
        ("dev", {"SLATE_SEARCH_DOMAIN": "huge"}, "SLATE_SEARCH_DOMAIN is one of none, small, replicated"),
        ("dev", {"SLATE_PROTECTED": "yes"}, "SLATE_PROTECTED is one of true, false"),
        ("dev", {"SLATE_SEARCH_NODES": "0"}, "SLATE_SEARCH_NODES must be a whole number"),
        ("dev", {"SLATE_SEARCH_NODES": "3"}, "SLATE_SEARCH_NODES is 1 or even"),
        ("dev", {"SLATE_VPC_SUBNETS": "subnet-1"}, "given together"),
        ("dev", {"SLATE_RESTORED_TABLE": "again"}, "given together"),
        (
            "dev",
            {"SLATE_SEARCH_DOMAIN": "replicated", **IN_A_NETWORK, "SLATE_VPC_SUBNETS": "subnet-1"},
            "a subnet for each",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(name, env, said):
    with pytest.raises(ValueError, match=said):
        Stage.from_env(name, env)
