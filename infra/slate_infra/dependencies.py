"""The third-party packages of a bundle: installed once for each state of the lock file, for Lambda's platform.

``python -m slate_infra.dependencies`` fetches them ahead, so that a later synth needs no network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from slate_infra import bytecode
from slate_infra.bytecode import RUNTIME_PYTHON, Compiler, find_compiler
from slate_infra.project import BUILD, LOCK, TOKENIZER_LOCK

_PLATFORMS: Final = ("manylinux2014_aarch64", "manylinux_2_28_aarch64", "manylinux_2_34_aarch64")
"""What the runtime's Amazon Linux 2023 (glibc 2.34) runs on arm64."""
_RECIPE: Final = (Path(__file__), Path(bytecode.__file__))
"""How they are installed; another way of doing it is another folder."""


def installed_dependencies(lock: Path, build: Path, compiler: Compiler | None) -> Path:
    """The folder of what the lock file names, wheels of exactly the locked hashes; made if it is not there.

    It is never changed once it is there, so bundles may share its files.

    Raises:
        CalledProcessError: pip could not fetch or verify a wheel; its own message stands on stderr.
    """
    version = compiler.version if compiler else "source"
    digest = sha256(b"".join(path.read_bytes() for path in (lock, *_RECIPE))).hexdigest()
    place = build / f"dependencies-{digest[:16]}-{version}"
    if place.is_dir():
        return place
    build.mkdir(parents=True, exist_ok=True)
    staging = Path(mkdtemp(prefix="dependencies-", dir=build))
    try:
        _install(lock, staging)
        if compiler:
            compiler.compile(staging)
        publish(staging, place)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return place


def installed_layer(lock: Path, build: Path, compiler: Compiler | None) -> Path:
    """The same as a Lambda layer, whose packages Python looks for in its folder `python`."""
    dependencies = installed_dependencies(lock, build, compiler)
    place = build / f"layer-{dependencies.name}"
    if not place.is_dir():
        staging = Path(mkdtemp(prefix="layer-", dir=build))
        try:
            shutil.copytree(dependencies, staging / "python", copy_function=os.link)
            publish(staging, place)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return place


def publish(staging: Path, place: Path) -> None:
    """Make a finished folder appear whole at its place; one that another process made meanwhile is as good."""
    staging.chmod(0o755)
    try:
        staging.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def _install(lock: Path, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    # The lock is complete for this platform; pip would judge markers by the Python that runs it.
    command += ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
    command += ["--implementation", "cp", "--python-version", RUNTIME_PYTHON]
    for platform in _PLATFORMS:
        command += ["--platform", platform]
    command += ["--target", str(target), "--requirement", str(lock)]
    subprocess.run(command, check=True)  # noqa: S603 (our own arguments)
    shutil.rmtree(target / "bin", ignore_errors=True)


if __name__ == "__main__":
    installed_dependencies(LOCK, BUILD, find_compiler(os.environ))
    installed_dependencies(TOKENIZER_LOCK, BUILD, find_compiler(os.environ))
