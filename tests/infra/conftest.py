from __future__ import annotations

import json
import os
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slate_infra.app import make_app, wants_agent
from slate_infra.bundling import AGENT_BUNDLE, BUNDLES, TOKENIZER, Bundler
from slate_infra.bytecode import Compiler, find_compiler
from slate_infra.dependencies import installed_layer
from slate_infra.node import choose_node
from slate_infra.project import BUILD, LOCK, TOKENIZER_LOCK

# Before any test imports aws_cdk.
choose_node(os.environ)


@dataclass(frozen=True)
class Synthesis:
    """A synthesized stack, its logical ids without their hashes: `StorageMain`, `FunctionsTasksApiFunction`."""

    outdir: Path
    resources: dict[str, Any]
    outputs: dict[str, Any]

    def of_type(self, kind: str) -> dict[str, Any]:
        return {name: r["Properties"] for name, r in self.resources.items() if r["Type"] == kind}

    def only(self, kind: str) -> dict[str, Any]:
        [properties] = self.of_type(kind).values()
        return properties

    def text(self, value: Any) -> Any:
        """A value with its intrinsic functions written out: `StorageMain.Arn/index/ready`."""
        match value:
            case {"Ref": name}:
                return _bare(name)
            case {"Fn::GetAtt": [name, attribute]}:
                return f"{_bare(name)}.{attribute}"
            case {"Fn::Join": [separator, parts]}:
                return separator.join(self.text(part) for part in parts)
            case _:
                return value

    def statements(self, role: str) -> list[tuple[str, str, Any]]:
        """What a role's policies allow: actions, resource, conditions."""
        found = []
        for policy in self.of_type("AWS::IAM::Policy").values():
            if role in [self.text(r) for r in policy["Roles"]]:
                found += policy["PolicyDocument"]["Statement"]
        assert all(statement["Effect"] == "Allow" for statement in found)
        return [
            (" ".join(_many(s["Action"])), self.text(resource), s.get("Condition"))
            for s in found
            for resource in _many(s["Resource"])
        ]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _bare(name: str) -> str:
    return re.sub(r"[0-9A-F]{8}$", "", name)


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
    def run(environ: dict[str, str]) -> Synthesis:
        outdir = tmp_path_factory.mktemp("cdk")
        app(environ, outdir).synth()
        [path] = outdir.glob("*.template.json")
        template = json.loads(path.read_text())
        resources = {_bare(name): resource for name, resource in template["Resources"].items()}
        return Synthesis(outdir, resources, {name: output["Value"] for name, output in template["Outputs"].items()})

    return run


@pytest.fixture(scope="session")
def stack(synthesize) -> Synthesis:
    """The stack as it is without any setting."""
    return synthesize({})


@pytest.fixture(scope="session")
def prod(synthesize) -> Synthesis:
    """The stage whose data is kept."""
    return synthesize({"SLATE_STAGE": "prod"})


@pytest.fixture(scope="session")
def bundles() -> dict[str, Path]:
    """The real bundles, with bytecode even where only another Python can write it: its size is about the same."""
    bundler = Bundler(LOCK, BUILD, _compiler())
    return {bundle.function: bundler.build(bundle) for bundle in BUNDLES}


@pytest.fixture(scope="session")
def tokenizer() -> Path:
    """The real layer."""
    return installed_layer(TOKENIZER_LOCK, BUILD, _compiler())


def _compiler() -> Compiler:
    return find_compiler(os.environ) or Compiler(Path(sys.executable), platform.python_version())
