from __future__ import annotations

import re

import pytest

from slate_infra.project import AGENT_LOCK, LOCK

PIN = re.compile(r"^([a-z0-9.-]+)==(\S+)", re.MULTILINE)


each_lock = pytest.mark.parametrize(
    ("lock", "needs"),
    [(LOCK, {"pydantic", "cryptography", "aws-lambda-powertools"}), (AGENT_LOCK, {"pydantic", "httpx"})],
    ids=["functions", "agent"],
)


@each_lock
def test_a_lambda_carries_the_versions_that_the_tests_run_on(lock, needs):
    carried = dict(PIN.findall(lock.read_text()))
    tested = dict(PIN.findall((LOCK.parent / "dev.txt").read_text()))
    assert needs <= set(carried)
    assert not carried.keys() & {"boto3", "botocore", "moto"}
    assert {name: tested.get(name) for name in carried} == carried


@each_lock
def test_every_package_is_locked_by_hash_without_conditions(lock, needs):
    entries = re.split(r"\n(?=\S)", lock.read_text().strip())
    assert len(entries) >= len(needs)
    assert all("--hash=sha256:" in entry and ";" not in entry for entry in entries)
