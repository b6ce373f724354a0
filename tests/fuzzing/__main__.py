"""Fuzz a fresh server until so many cases have passed: no fault of ours, no answer that the document does not describe.

Run: ``make fuzz``, or ``python -m fuzzing --cases 20000 --seed 7``.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import typer

from serving import serving

CHECKS: Final = (
    "no_fault",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)
HOOKS: Final = Path(__file__).with_name("hooks.py")
PHASES: Final = ("examples,coverage,stateful", "fuzzing,stateful")
"""First what the document itself says, then whatever may be said, again and again."""


def fuzz(cases: int = 20_000, seed: int = 0, workers: int = 2) -> None:
    """Run rounds until there were so many cases; end with an error at the first round that found something."""
    seed = seed or random.SystemRandom().randrange(1, 2**31)
    made, rounds = 0, 0
    with serving() as served:
        while made < cases:
            phases, examples = PHASES[min(rounds, 1)], 5 if rounds == 0 else max(1, (cases - made) // 150)
            made += _round(served.url, served.key, phases, examples, seed + rounds, workers)
            rounds += 1
            print(f"{made:,} of {cases:,} cases, {rounds} rounds, seed {seed}", flush=True)  # noqa: T201  # it is a command


def _round(url: str, key: str, phases: str, examples: int, seed: int, workers: int) -> int:
    program = shutil.which("schemathesis", path=str(Path(sys.executable).parent)) or "schemathesis"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            *(program, "run", f"{url}/openapi.json", "--header", f"Authorization: Bearer {key}", "--no-color"),
            *("--checks", ",".join(CHECKS), "--phases", phases, "--max-examples", str(examples)),
            *("--seed", str(seed), "--workers", str(workers), "--continue-on-failure", "--warnings", "off"),
            *("--request-timeout", "30", "--generation-database", "none"),
            *("--report", "json", "--report-json-path", str(report)),
        ]
        environ = {**os.environ, "SCHEMATHESIS_HOOKS": str(HOOKS)}
        done = subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\n{done.stderr}\nThe fuzzer found something; the seed was {seed}.")
        return int(json.loads(report.read_text())["test_cases"]["generated"])


if __name__ == "__main__":
    typer.run(fuzz)
