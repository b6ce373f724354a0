"""A cold start in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from slate.settings import Settings

_IMPORT: Final = """
import importlib, json, sys, time
before = set(sys.modules)
started = time.process_time()
importlib.import_module(sys.argv[1])
milliseconds = (time.process_time() - started) * 1000
loaded = {name: getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before}
print(json.dumps({"milliseconds": milliseconds, "loaded": loaded}))
"""

DEPLOYED: Final = Settings(kms_key_id="key")


class ColdStart(NamedTuple):
    milliseconds: float
    """Of processor time, so that what else the machine does hardly counts."""
    loaded: dict[str, str | None]
    """Each module that the import loaded, and its file."""

    def loads(self, package: str) -> bool:
        return any(name == package or name.startswith(f"{package}.") for name in self.loaded)


def cold_start(function: str, *, path: Path | None = None, settings: Settings = DEPLOYED) -> ColdStart:
    """Import a function's handler with the environment that it has in Lambda, from ``path`` first if one is given."""
    environ = {
        **settings.to_env(),
        "PATH": os.environ["PATH"],
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    if path is not None:
        # What is there is looked at, and not added to.
        environ |= {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", "-c", _IMPORT, f"slate_functions.{function}.handler"]
    run = subprocess.run(command, env=environ, check=False, capture_output=True, text=True)  # noqa: S603
    assert run.returncode == 0, run.stderr
    answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return ColdStart(answer["milliseconds"], answer["loaded"])
