from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import pytest

from slate_infra.app import make_app, wants_agent
from slate_infra.bundling import AGENT_BUNDLE, BUNDLES, TOKENIZER, Bundler
from slate_infra.bytecode import Compiler, find_compiler
from slate_infra.dependencies import installed_dependencies, installed_layer
from slate_infra.node import choose_node
from slate_infra.project import BUILD, LOCK, TOKENIZER_LOCK
from slate_infra.template import Template

# Before any test imports aws_cdk.
choose_node(os.environ)


@pytest.fixture(scope="session")
def app(tmp_path_factory):
    """Makes the app with stand-ins for the bundles: a template does not depend on what is in them."""
    stand_in = tmp_path_factory.mktemp("bundle")
    (stand_in / "module.py").write_text("")

    def make(environ: dict[str, str], outdir: Path):
        folders = {bundle.function: stand_in for bundle in BUNDLES} | {TOKENIZER: stand_in}
        if wants_agent(environ):
            folders[AGENT_BUNDLE.function] = stand_in
        return make_app(environ, folders, outdir)

    return make


@pytest.fixture(scope="session")
def synthesize(app, tmp_path_factory):
    def run(environ: dict[str, str]) -> Template:
        outdir = tmp_path_factory.mktemp("cdk")
        app(environ, outdir).synth()
        return Template.read(outdir)

    return run


@pytest.fixture(scope="session")
def stack(synthesize) -> Template:
    """The stack as it is without any setting."""
    return synthesize({})


@pytest.fixture(scope="session")
def prod(synthesize) -> Template:
    """The stage whose data is kept."""
    return synthesize({"SLATE_STAGE": "prod"})


@pytest.fixture(scope="session")
def bundles() -> dict[str, Path]:
    """The real bundles, with bytecode even where only another Python can write it: its size is about the same."""
    bundler = Bundler(LOCK, BUILD, _compiler())
    return {bundle.function: bundler.build(bundle) for bundle in BUNDLES}


@pytest.fixture(scope="session")
def shipped() -> list[Path]:
    """Where the packages of all bundles are installed."""
    return [installed_dependencies(lock, BUILD, _compiler()) for lock in (LOCK, TOKENIZER_LOCK)]


@pytest.fixture(scope="session")
def tokenizer() -> Path:
    """The real layer."""
    return installed_layer(TOKENIZER_LOCK, BUILD, _compiler())


def _compiler() -> Compiler:
    return find_compiler(os.environ) or Compiler(Path(sys.executable), platform.python_version())
