"""Bytecode for the Lambda runtime's Python: without it a cold start compiles every module first.

Bytecode has a format of its own in each minor version, so only that version's interpreter can write it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RUNTIME_PYTHON: Final = "3.13"
_DEPLOYED_AT: Final = "/var/task"
"""Where Lambda unpacks a bundle: the file names that a traceback shows."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """An interpreter of the runtime's minor version."""

    python: Path
    version: str

    def compile(self, root: Path, *folders: str) -> None:
        """Write the bytecode of all modules under ``root``, or under these folders of it, beside their sources.

        It is never checked against a source (Lambda unpacks read-only files whose times mean nothing) and is the
        same whenever the sources are: no times in it, no path of this machine, sets in one order.

        Raises:
            CalledProcessError: a module has a syntax error.
        """
        where = [str(root / folder) for folder in folders] or [str(root)]
        command = [str(self.python), "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
        command += ["-s", str(root), "-p", _DEPLOYED_AT, *where]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        subprocess.run(command, check=True, env=environment)  # noqa: S603 (our own arguments)


def find_compiler(environ: Mapping[str, str]) -> Compiler | None:
    """The first interpreter of the runtime's version on PATH or among pyenv's that really runs."""
    for python in _candidates(environ):
        version = _version(python)
        if version is not None and version.startswith(f"{RUNTIME_PYTHON}."):
            return Compiler(python, version)
    return None


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    name = f"python{RUNTIME_PYTHON}"
    for folder in environ.get("PATH", "").split(os.pathsep):
        yield Path(folder) / name
    # pyenv's shims on PATH refuse a version that is installed and not selected.
    pyenv = Path(environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{RUNTIME_PYTHON}.*/bin/{name}"), reverse=True)


def _version(python: Path) -> str | None:
    if not python.is_file():
        return None
    command = [str(python), "-c", "import platform; print(platform.python_version())"]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 (our own arguments)
    return answer.stdout.strip() if answer.returncode == 0 else None
