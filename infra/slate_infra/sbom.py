"""``python -m slate_infra.sbom FILE`` writes what the functions' bundles are made of, as a CycloneDX document.

It is read off the packages as they are installed for a bundle, with their licences and what each needs of the others;
Slate itself is the document's subject. The runtime's own packages, boto3's among them, are AWS's to tell of.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from slate_infra.bytecode import find_compiler
from slate_infra.dependencies import installed_dependencies
from slate_infra.project import BUILD, LOCK, ROOT, TOKENIZER_LOCK

SHIPPED: Final = (LOCK, TOKENIZER_LOCK)
SPECIFICATION: Final = "1.6"


def write(folders: Sequence[Path], out: Path) -> None:
    """The document of what is installed in these folders; the same for the same folders.

    Raises:
        CalledProcessError: it could not be made, or does not keep to CycloneDX's own schema.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        # The generator asks an interpreter what it would find: one that finds the bundles' packages and nothing else.
        venv.create(place, with_pip=False, symlinks=True)
        [packages] = Path(place).glob("lib/python*/site-packages")
        (packages / "bundles.pth").write_text("".join(f"{folder.resolve()}\n" for folder in folders))
        command = [sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", str(ROOT / "pyproject.toml")]
        command += ["--mc-type", "application", "--spec-version", SPECIFICATION, "--output-reproducible", "--validate"]
        subprocess.run([*command, "--output-file", str(out), place], check=True)  # noqa: S603 (our own arguments)


def main() -> None:
    """Write it for what is deployed."""
    compiler = find_compiler(os.environ)
    write([installed_dependencies(lock, BUILD, compiler) for lock in SHIPPED], Path(sys.argv[1]))


if __name__ == "__main__":
    main()
