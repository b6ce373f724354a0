"""The node of a test session: started for the first test that asks for it, shared by every worker, gone with the last.

SLATE_TEST_OPENSEARCH is `required`, where its absence fails, or the address of a node that runs already.
"""

from __future__ import annotations

import json
import os
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from opensearch_node.node import NoNode, start

VARIABLE: Final = "SLATE_TEST_OPENSEARCH"
REQUIRED: Final = "required"
ABSENT: Final = "no OpenSearch node: "


class Node(NamedTuple):
    address: str
    files: Path | None
    """Where its data is; of a node that ran already nobody says."""


@pytest.fixture(scope="session")
def opensearch_node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", REQUIRED):
        return Node(asked, None)
    own = tmp_path_factory.getbasetemp()
    shared, owner = (own.parent, os.getppid()) if "PYTEST_XDIST_WORKER" in os.environ else (own, os.getpid())
    known = shared / "opensearch.json"
    with (shared / "opensearch.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not known.exists():
            known.write_text(json.dumps(_started(shared / "opensearch", owner)))
    found = json.loads(known.read_text())
    if found["absent"] is None:
        return Node(found["address"], shared / "opensearch")
    if asked == REQUIRED:
        pytest.fail(ABSENT + found["absent"], pytrace=False)
    pytest.skip(ABSENT + found["absent"])


def _started(home: Path, owner: int) -> dict[str, str | None]:
    try:
        return {"address": start(home, owner=owner)[1], "absent": None}
    except NoNode as error:
        return {"address": None, "absent": str(error)}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line where the tests on a node did not run."""
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()) if report.longrepr]
    absent = [reason.partition(ABSENT)[2] for reason in reasons if ABSENT in reason]
    if absent:
        terminalreporter.write_line(f"{ABSENT}{absent[0]}; {len(absent)} tests on one did not run (docs/opensearch.md)")
