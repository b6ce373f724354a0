"""Asks whether the locked packages have known weaknesses: ``python .ci/audit.py LOCK...``, with pip-audit on the PATH.

It passes only where each package was looked up and none is known to be weak. pip-audit itself passes where it could
look none up; here that is `not audited`, and a failure. The public workflow alone runs it: what is known of a package
changes while the package does not, so that it belongs to no build.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NOT_AUDITED = "not audited"


def asked(lock: Path) -> list[dict[str, Any]] | None:
    """What pip-audit found of each package of a lock file; None where it wrote no report."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = ["pip-audit", "--requirement", str(lock), "--disable-pip", "--require-hashes"]
        command += ["--format", "json", "--output", str(report), "--progress-spinner", "off"]
        # Its exit code is the same for a weakness and for a database that did not answer: the report tells them apart.
        subprocess.run(command, check=False)  # noqa: S603  # our own arguments; found on the PATH, as said
        if not report.is_file():
            return None
        dependencies: list[dict[str, Any]] = json.loads(report.read_text())["dependencies"]
        return dependencies


def wrong(lock: Path) -> Iterator[str]:
    """A line for each package that is weak, or of which nothing is known."""
    found = asked(lock)
    if found is None:
        yield f"{NOT_AUDITED}: {lock}: the database could not be asked"
        return
    looked_up = {_name(each["name"]): each for each in found if "skip_reason" not in each}
    for name in map(_name, re.findall(r"^([A-Za-z0-9._-]+)==", lock.read_text(), re.MULTILINE)):
        if name not in looked_up:
            yield f"{NOT_AUDITED}: {lock}: {name}"
            continue
        for weakness in looked_up[name]["vulns"]:
            fixed = ", ".join(weakness.get("fix_versions") or ["no version yet"])
            yield f"{lock}: {name}: {weakness['id']}, fixed in {fixed}"


def _name(given: str) -> str:
    """As PEP 503 writes it: one package has one name."""
    return re.sub(r"[-_.]+", "-", given).lower()


def main(locks: list[str]) -> int:
    """Say what is wrong; 1 where anything is, or where nothing was asked."""
    lines = (
        [line for lock in locks for line in wrong(Path(lock))] if locks else [f"{NOT_AUDITED}: no lock file was named"]
    )
    for line in lines or [f"audited: {', '.join(locks)}"]:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
