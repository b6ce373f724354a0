"""What others made: told in full, looked up or said to be not, and pinned."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from slate_infra.project import ROOT
from slate_infra.sbom import SHIPPED, write

AUDIT = ROOT / ".ci" / "audit.py"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def locked(lock: Path) -> dict[str, str]:
    return {name.lower().replace("_", "-"): version for name, version in LOCKED.findall(lock.read_text())}


@pytest.fixture(scope="module")
def sbom(tmp_path_factory, shipped):
    out = tmp_path_factory.mktemp("sbom") / "slate.cdx.json"
    write(shipped, out)
    return json.loads(out.read_text())


def test_the_bill_of_materials_names_what_is_locked_for_the_bundles_and_nothing_else(sbom):
    told = {c["name"].lower().replace("_", "-"): c["version"] for c in sbom["components"]}
    assert told == {name: version for lock in SHIPPED for name, version in locked(lock).items()}


def test_it_says_under_which_licence_each_is_and_of_what_it_is_the_bill(sbom):
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.6")
    assert sbom["metadata"]["component"]["name"] == "agent-slate"
    assert [c["name"] for c in sbom["components"] if not c.get("licenses")] == []


FAKE = """#!{python}
import json, sys
report = {report!r}
if report is not None:
    open(sys.argv[sys.argv.index("--output") + 1], "w").write(json.dumps({{"dependencies": report, "fixes": []}}))
sys.exit({code})
"""
CLEAN = {"name": "left_pad", "version": "1.0", "vulns": []}


def audit(tmp_path, report, code, *locks: str) -> tuple[int, str]:
    """What the audit says where pip-audit leaves such a report, and such an exit code."""
    fake = tmp_path / "pip-audit"
    fake.write_text(FAKE.format(python=sys.executable, report=report, code=code))
    fake.chmod(0o755)
    (tmp_path / "lock.txt").write_text("left-pad==1.0 \\\n    --hash=sha256:00\nright-pad==2.0\n")
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, str(AUDIT), *(locks or ["lock.txt"])]
    run = subprocess.run(command, cwd=tmp_path, env=environ, check=False, capture_output=True, text=True)  # noqa: S603
    return run.returncode, run.stdout


def test_an_audit_passes_where_every_package_was_looked_up_and_none_is_weak(tmp_path):
    right = {"name": "right-pad", "version": "2.0", "vulns": []}
    assert audit(tmp_path, [CLEAN, right], 0) == (0, "audited: lock.txt\n")


def test_a_weak_package_fails_by_its_name_and_says_what_mends_it(tmp_path):
    weak = {"name": "right-pad", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
    assert audit(tmp_path, [CLEAN, weak], 1) == (1, "lock.txt: right-pad: PYSEC-1, fixed in 2.1\n")


@pytest.mark.parametrize("code", [0, 1])
def test_where_the_database_cannot_be_asked_nothing_is_audited_whatever_pip_audit_exits_with(tmp_path, code):
    assert audit(tmp_path, None, code) == (1, "not audited: lock.txt: the database could not be asked\n")


def test_a_package_that_was_passed_over_or_left_out_is_not_audited_though_pip_audit_passes(tmp_path):
    skipped = {"name": "right-pad", "skip_reason": "Dependency not found on PyPI and could not be audited"}
    assert audit(tmp_path, [CLEAN, skipped], 0) == (1, "not audited: lock.txt: right-pad\n")
    assert audit(tmp_path, [CLEAN], 0) == (1, "not audited: lock.txt: right-pad\n")


def test_the_workflow_audits_every_lock_that_is_installed_anywhere():
    [command] = re.findall(r"\.ci/audit\.py (.+)", "\n".join(path.read_text() for path in WORKFLOWS))
    assert set(command.split()) == {f"requirements/{p.name}" for p in (ROOT / "requirements").glob("*.txt")} - {
        "requirements/audit.txt"
    }


def test_every_action_is_pinned_by_its_commit_and_says_which_version_that_is():
    used = [line for path in WORKFLOWS for line in path.read_text().splitlines() if "uses:" in line]
    assert used
    for line in used:
        assert re.search(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_a_workflow_may_read_the_code_and_do_nothing_else():
    for path in WORKFLOWS:
        text = path.read_text()
        assert re.search(r"^permissions:\n  contents: read\n", text, re.MULTILINE)
        assert "secrets." not in text
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_every_locked_package_has_its_hashes():
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text()
        assert len(LOCKED.findall(text)) == len(re.findall(r"==\S+[^\n]* \\\n    --hash=sha256:", text)), path.name
