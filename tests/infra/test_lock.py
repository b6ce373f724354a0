from __future__ import annotations

import re

from slate_infra.project import LOCK

PIN = re.compile(r"^([a-z0-9.-]+)==(\S+)", re.MULTILINE)


def test_a_lambda_carries_the_versions_that_the_tests_run_on():
    carried = dict(PIN.findall(LOCK.read_text()))
    tested = dict(PIN.findall((LOCK.parent / "dev.txt").read_text()))
    assert {"pydantic", "cryptography", "aws-lambda-powertools"} <= set(carried)
    assert {name: tested.get(name) for name in carried} == carried


def test_every_package_is_locked_by_hash_without_conditions():
    entries = re.split(r"\n(?=\S)", LOCK.read_text().strip())
    assert all("--hash=sha256:" in entry and ";" not in entry for entry in entries)
