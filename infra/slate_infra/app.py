"""``python -m slate_infra.app`` writes the CloudFormation template and the functions' code into ``cdk.out``.

The CDK CLI runs the same through ``infra/cdk.json``. Which stage: ``-c stage=NAME`` or SLATE_STAGE, else ``dev``.
Where: the CLI's own CDK_DEFAULT_ACCOUNT and CDK_DEFAULT_REGION, else any account and the region of the settings.
Settings are read from the same SLATE_ variables that the functions read, and those of the stage (``stages.py``) beside
them. With ``-c example_agent=true`` or SLATE_EXAMPLE_AGENT=true the stack has the example agent too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from slate.settings import Settings
from slate_infra.bundling import AGENT_BUNDLE, BUNDLES, TOKENIZER, Bundler
from slate_infra.bytecode import RUNTIME_PYTHON, find_compiler
from slate_infra.dependencies import installed_layer
from slate_infra.node import choose_node
from slate_infra.project import AGENT_LOCK, ASSEMBLY, BUILD, CDK_JSON, LOCK, TOKENIZER_LOCK
from slate_infra.stages import Stage

if TYPE_CHECKING:
    from aws_cdk import App


def make_app(environ: Mapping[str, str], bundles: Mapping[str, Path], outdir: Path | str) -> App:
    """The app of one stage, checked by cdk-nag when it is synthesized: a finding that is not accepted fails it."""
    from aws_cdk import App, Environment, Tags, Validations
    from cdk_nag import AwsSolutionsChecks

    from slate_infra.stack import SlateStack

    # Without the CLI nobody else reads the feature flags, and they change the template.
    flags = json.loads(CDK_JSON.read_text())["context"]
    app = App(outdir=str(outdir), context=flags, analytics_reporting=False)
    stage = Stage.from_env(app.node.try_get_context("stage") or environ.get("SLATE_STAGE", "dev"), environ)
    settings = Settings.from_env(environ)
    region = environ.get("CDK_DEFAULT_REGION", settings.region)
    SlateStack(
        app,
        f"slate-{stage.name}",
        env=Environment(account=environ.get("CDK_DEFAULT_ACCOUNT"), region=region),
        stage=stage,
        settings=replace(settings, region=region),
        bundles=bundles,
    )
    Tags.of(app).add("service", "slate")
    Tags.of(app).add("stage", stage.name)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app


def build_bundles(environ: Mapping[str, str]) -> dict[str, Path]:
    """Every function's bundle, by the function's name; and the tokenizer's layer."""
    compiler = find_compiler(environ)
    if compiler is None:
        _say(f"no Python {RUNTIME_PYTHON} here: the bundles go without bytecode, cold starts take longer")
    bundler = Bundler(LOCK, BUILD, compiler)
    bundles = {bundle.function: bundler.build(bundle) for bundle in BUNDLES}
    bundles[TOKENIZER] = installed_layer(TOKENIZER_LOCK, BUILD, compiler)
    if wants_agent(environ):
        bundles[AGENT_BUNDLE.function] = Bundler(AGENT_LOCK, BUILD, compiler).build(AGENT_BUNDLE)
    return bundles


def wants_agent(environ: Mapping[str, str]) -> bool:
    """Whether the example agent is asked for: by the CLI's ``-c example_agent=true``, or by its variable."""
    # The code is bundled before there is an app to ask; the CLI hands its context on as JSON.
    context = json.loads(environ.get("CDK_CONTEXT_JSON", "{}"))
    asked = context.get("example_agent", environ.get("SLATE_EXAMPLE_AGENT", ""))
    return str(asked).lower() in {"1", "true"}


def main() -> None:
    """Synthesize."""
    # Before anything imports aws_cdk.
    choose_node(os.environ)
    outdir = os.environ.get("CDK_OUTDIR", str(ASSEMBLY))
    make_app(os.environ, build_bundles(os.environ), outdir).synth()
    _say(f"synthesized into {outdir}")


def _say(line: str) -> None:
    print(line)  # noqa: T201 (a command speaks)


if __name__ == "__main__":
    main()
