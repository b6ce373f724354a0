from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slate_infra.bytecode import Compiler, find_compiler


def script(folder: Path, line: str) -> Path:
    folder.mkdir(parents=True)
    path = folder / "python3.13"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path


def test_without_an_interpreter_of_the_runtimes_version_there_is_no_compiler(tmp_path):
    assert find_compiler({"PATH": str(tmp_path), "PYENV_ROOT": str(tmp_path)}) is None


def test_an_interpreter_that_does_not_run_or_is_of_another_version_is_passed_over(tmp_path):
    script(tmp_path / "refuses", "exit 127")
    script(tmp_path / "older", "echo 3.12.9")
    good = script(tmp_path / "good", "echo 3.13.7")
    path = os.pathsep.join(str(tmp_path / name) for name in ("refuses", "older", "good"))
    assert find_compiler({"PATH": path, "PYENV_ROOT": str(tmp_path)}) == Compiler(good, "3.13.7")


def test_a_version_that_pyenv_has_installed_and_not_selected_is_found(tmp_path):
    good = script(tmp_path / "versions" / "3.13.2" / "bin", "echo 3.13.2")
    assert find_compiler({"PATH": "", "PYENV_ROOT": str(tmp_path)}) == Compiler(good, "3.13.2")


def test_bytecode_does_not_say_where_or_when_it_was_compiled(tmp_path):
    source = "NAMES = frozenset({'a', 'b', 'c', 'd', 'e'})\ndef f(x):\n    return x in {'p', 'q', 'r', 's'}\n"
    compiled = []
    for folder, seconds in (("one", 1_000_000_000), ("another", 1_700_000_000)):
        module = tmp_path / folder / "package" / "module.py"
        module.parent.mkdir(parents=True)
        module.write_text(source)
        os.utime(module, (seconds, seconds))
        Compiler(Path(sys.executable), "any").compile(tmp_path / folder, "package")
        [bytecode] = module.parent.glob("__pycache__/*.pyc")
        compiled.append(bytecode.read_bytes())
    assert compiled[0] == compiled[1]
    assert b"/var/task/package/module.py" in compiled[0]


def test_a_module_that_is_not_python_fails_the_build(tmp_path):
    (tmp_path / "broken.py").write_text("def (")
    with pytest.raises(subprocess.CalledProcessError):
        Compiler(Path(sys.executable), "any").compile(tmp_path)
