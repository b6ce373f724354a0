"""Stock moto, in a process of its own where no engine has replaced its methods."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import boto3
from moto import mock_aws


def on_stock_moto(*arguments: str | int) -> Callable[[], Any]:
    """Run this file with the arguments, beside the caller; calling the result waits for what it prints, as JSON."""
    command = [sys.executable, str(Path(__file__)), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603  # this very file

    def result() -> Any:
        output, _ = process.communicate()
        assert process.returncode == 0
        return json.loads(output)

    return result


def main(kind: str, *arguments: str) -> None:
    """Play operations or run a race, and print what came of it."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from integration.engine_operations import play
    from integration.engine_race import run_race

    with mock_aws():
        session = boto3.Session(aws_access_key_id="local", aws_secret_access_key="local", region_name="us-east-1")
        client = session.client("dynamodb")
        works: dict[str, Callable[..., Any]] = {"play": play, "race": lambda *a: asdict(run_race(*a))}
        print(json.dumps(works[kind](client, *map(int, arguments))))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
