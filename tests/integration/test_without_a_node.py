"""Where there can be no OpenSearch node, a line says so and all else runs; where one is required, that is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from opensearch_node.fixture import ABSENT, REQUIRED, VARIABLE

ROOT = Path(__file__).parents[2]
TEST = "tests/contract/test_memory_index.py::test_an_entry_is_found_by_its_words_and_by_its_vector"


@pytest.mark.parametrize(
    ("asked", "code", "closing"), [("", 0, "2 passed, 1 skipped"), (REQUIRED, 1, "2 passed, 1 error")]
)
def test_without_java(tmp_path: Path, asked: str, code: int, closing: str):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SLATE_"))}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", TEST]
    done = subprocess.run(  # noqa: S603  # our own tests
        command,
        cwd=ROOT,
        env={**env, "PATH": str(tmp_path), VARIABLE: asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    assert closing in done.stdout
    told = [line for line in done.stdout.splitlines() if line.startswith(f"{ABSENT}java is not on the PATH")]
    assert len(told) == 1, done.stdout
    assert ("did not run" in told[0]) == (asked != REQUIRED)
