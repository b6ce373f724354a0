from __future__ import annotations

import ast
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cold_start import cold_start
from slate_functions.http.packaged import PACKAGED
from slate_infra.bundling import AUTHORIZER, BUNDLES, SWEEPER, Bundler
from slate_infra.project import DOCUMENT

FUNCTIONS = [bundle.function for bundle in BUNDLES]
each_function = pytest.mark.parametrize("function", FUNCTIONS)
MEGABYTE = 1_000_000
FROM_A_LAYER = {"toktok"}
"""Who has no layer never counts, and estimates where it is asked to."""
ONLY_WITH_AN_EXTRA = {"numpy"}
"""Who has none compares in plain Python."""
ON_A_LAPTOP = {"build_local", "local_embedder"}
FROM_THE_RUNTIME = {"boto3", "botocore", "s3transfer", "jmespath", "urllib3", "dateutil", "six"}
"""Lambda's Python brings these."""
SHARED = {
    "http": {"tasks_api", "memory_api", "privacy_api"},
    "counting": {"memory_api", "extractor", "decay", "privacy_api", "eraser"},
    "scheduled": {"decay", "eraser"},
}
OWN = {"slate", "slate_functions"}


@each_function
def test_a_bundle_is_under_15_mb_zipped_with_its_bytecode(bundles, function, tmp_path):
    root = bundles[function]
    assert len(list(root.rglob("*.pyc"))) == len(list(root.rglob("*.py")))
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in root.rglob("*"):
            file.write(path, path.relative_to(root))
    assert archive.stat().st_size < 15 * MEGABYTE


@each_function
def test_a_bundle_leaves_out_what_the_runtime_brings_and_what_no_function_needs(bundles, function):
    there = {path.name.partition(".")[0] for path in bundles[function].iterdir()}
    assert there.isdisjoint(FROM_THE_RUNTIME)
    assert there.isdisjoint({"opensearchpy", "httpx", "moto", "aws_cdk", "slate_infra", "uvicorn", "pip"})


@each_function
def test_a_bundle_has_one_function_and_beside_it_only_what_it_shares(bundles, function):
    folders = {path.name for path in (bundles[function] / "slate_functions").iterdir() if path.is_dir()}
    shared = {folder for folder, functions in SHARED.items() if function in functions}
    assert folders - {"__pycache__"} == {function, *shared}


def test_the_document_of_all_apis_is_in_the_bundle_that_serves_it(bundles):
    assert (bundles["tasks_api"] / "slate_functions" / "http" / PACKAGED).read_bytes() == DOCUMENT.read_bytes()


@each_function
def test_native_code_in_a_bundle_is_for_arm64_and_python_3_13(bundles, function):
    libraries = [path.name for path in bundles[function].rglob("*.so")]
    assert libraries
    assert all("aarch64" in name or "abi3" in name for name in libraries)
    assert all("cpython-313" in name or "abi3" in name for name in libraries)
    for path in bundles[function].rglob("*.so"):
        # The ELF header's machine: 183 is AArch64.
        assert int.from_bytes(path.read_bytes()[18:20], "little") == 183


def test_the_tokenizer_is_a_layer_of_its_own_and_in_no_bundle(bundles, tokenizer):
    assert [path.name for path in tokenizer.iterdir()] == ["python"]
    assert (tokenizer / "python" / "toktok" / "__init__.py").is_file()
    assert not [root for root in bundles.values() if (root / "toktok").exists()]


@each_function
def test_everything_a_handler_imports_is_in_its_bundle(bundles, function):
    root = bundles[function]
    seen: set[str] = set()
    missing: set[str] = set()
    todo = [f"slate_functions.{function}.handler"]
    while todo:
        module = todo.pop()
        if module in seen:
            continue
        seen.add(module)
        path = _source(root, module)
        if path is None:
            missing.add(module)
            continue
        for name in _imports(path, module):
            if name.partition(".")[0] in OWN:
                todo.append(name)
            elif not _third_party_is_there(root, name.partition(".")[0]):
                missing.add(name)
    assert missing == set()
    assert len(seen) > 20


def _source(root: Path, module: str) -> Path | None:
    place = root.joinpath(*module.split("."))
    return next((p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()), None)


def _third_party_is_there(root: Path, top: str) -> bool:
    if top in sys.stdlib_module_names or top in FROM_THE_RUNTIME | FROM_A_LAYER | ONLY_WITH_AN_EXTRA:
        return True
    return (root / top).is_dir() or (root / f"{top}.py").is_file()


def _imports(path: Path, module: str) -> Iterator[str]:
    """What a module imports at run time, also late, but not what it imports for types or on a laptop."""
    root = path.parents[len(module.split(".")) - (0 if path.name == "__init__.py" else 1)]
    for node in _running(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, f"{module} imports by a relative name"
            yield node.module
            if node.module.partition(".")[0] in OWN:
                inside = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (name for name in inside if _source(root, name) is not None)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.FunctionDef) and child.name in ON_A_LAPTOP:
            continue
        yield child
        yield from _running(child)


@each_function
def test_a_handler_starts_with_nothing_of_ours_but_what_is_in_its_bundle(bundles, function, tmp_path):
    # Native wheels in it are for another machine: ours from the bundle, the rest from here.
    for package in OWN:
        (tmp_path / package).symlink_to(bundles[function] / package)
    start = cold_start(function, path=tmp_path)
    ours = {file for name, file in start.loaded.items() if name.partition(".")[0] in OWN and file is not None}
    assert len(ours) > 20
    assert all(file.startswith(str(tmp_path)) for file in ours)


def test_dependencies_are_installed_once_for_all_functions(bundles):
    inodes = {(root / "pydantic" / "__init__.py").stat().st_ino for root in bundles.values()}
    assert len(inodes) == 1


@pytest.fixture
def bare(tmp_path):
    """A bundler for this test alone, without dependencies and on a machine that cannot compile."""
    (tmp_path / "lock.txt").write_text("")
    return Bundler(tmp_path / "lock.txt", tmp_path / "build", None)


def test_the_same_input_is_the_same_folder_and_is_not_built_again(bare):
    first = bare.build(SWEEPER)
    made = first.stat().st_mtime_ns
    assert bare.build(SWEEPER) == first
    assert first.stat().st_mtime_ns == made


def test_another_function_is_another_folder_and_nothing_half_built_is_left(bare, tmp_path):
    assert bare.build(SWEEPER) != bare.build(AUTHORIZER)
    names = {path.name.rpartition("-")[0].partition("-")[0] for path in (tmp_path / "build").iterdir()}
    assert names == {"sweeper", "authorizer", "dependencies"}


def test_without_a_compiler_the_sources_go_alone(bare):
    root = bare.build(SWEEPER)
    assert (root / "slate" / "settings.py").is_file()
    assert not list(root.rglob("*.pyc"))
