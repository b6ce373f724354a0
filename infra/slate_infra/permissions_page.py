"""``python -m slate_infra.permissions_page`` writes docs/permissions.md: what the template allows each role to do."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from slate_infra.app import make_app
from slate_infra.bundling import BUNDLES, TOKENIZER
from slate_infra.node import choose_node
from slate_infra.project import ROOT
from slate_infra.template import Accepted, Statement, Template

PAGE: Final = ROOT / "docs" / "permissions.md"
STATEMENTS: Final = ROOT / "docs" / "permissions.json"
"""The same for programs: by role its statements, each `[actions, resource, conditions]`."""
_HEAD: Final = """\
# What each function may do

Written by `make permissions` from the template of the stage `dev`, as it is without any setting; do not edit. A test
holds the page to the template. Names are those of the stack's resources; the code that allows it is
[permissions.py](../infra/slate_infra/constructs/permissions.py). Nothing is denied anywhere: what is not here is not
allowed. No role has a policy of AWS's own.
"""
_ACCEPTED: Final = """\
## What is stood by

Every synthesis is checked by cdk-nag's AwsSolutions rules, and a finding fails it unless its reason stands beside the
construct. These are all of them; `IAM5` are the wildcards: no other resource in a policy has one, and no action.

| rule | on | why |
|---|---|---|
"""


def page(template: Template) -> str:
    """The document."""
    parts = [_HEAD]
    for role, properties in sorted(template.of_type("AWS::IAM::Role").items()):
        parts.append(_section(role, _who(template, properties), template.statements(role)))
    return "\n".join([*parts, _ACCEPTED + "\n".join(_reasons(template.accepted())), ""])


def statements(template: Template) -> str:
    """The statements of every role, as JSON."""
    roles = sorted(template.of_type("AWS::IAM::Role"))
    return json.dumps({role: sorted(template.statements(role), key=str) for role in roles}, indent=1) + "\n"


def _section(role: str, who: str, statements: Sequence[Statement]) -> str:
    title = role.removesuffix("Role").removeprefix("Functions")
    head = ["| may | on | only |", "|---|---|---|"]
    return "\n".join([f"## {title}", "", f"For {who}.", "", *head, *sorted(map(_row, statements)), ""])


def _row(statement: Statement) -> str:
    actions = "<br>".join(f"`{action}`" for action in statement.actions.split())
    return f"| {actions} | `{statement.resource.replace('.Arn', '')}` | {_only(statement)} |"


def _who(template: Template, properties: Mapping[str, Any]) -> str:
    """Who may act in the role."""
    every: dict[str, None] = {}
    for statement in properties["AssumeRolePolicyDocument"]["Statement"]:
        [principals] = statement["Principal"].values()
        for principal in principals if isinstance(principals, list) else [principals]:
            name = str(template.text(principal)).replace(".Arn", "")
            here = " of this account" if "aws:SourceAccount" in str(statement.get("Condition")) else ""
            every[f"`{name}`{here}"] = None
    return ", ".join(every)


def _only(statement: Statement) -> str:
    """The condition in words."""
    match statement.condition:
        case None:
            return ""
        case {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": patterns}, "Null": _, **rest} if not rest:
            return "partitions " + ", ".join(f"`{pattern}`" for pattern in patterns)
        case {"StringEquals": {"kms:ViaService": services}}:
            return "through " + " or ".join(f"`{service}`" for service in services)
        case {"StringEquals": {"kms:EncryptionContext:tenant": tenant}}:
            return f"data keys of `{tenant}`"
        case {"StringLike": {"s3:prefix": prefix}}:
            return f"names that begin `{prefix}`"
        case other:
            return f"`{other}`"


def _reasons(accepted: Sequence[Accepted]) -> Iterator[str]:
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for each in accepted:
        places[each.rule, each.reason].append(each.where.removesuffix("/Role/DefaultPolicy"))
    for (rule, reason), where in sorted(places.items()):
        yield f"| `{rule}` | {', '.join(sorted(set(where)))} | {reason} |"


def main() -> None:
    """Write the page; a template does not depend on what is in the bundles."""
    choose_node(os.environ)
    with TemporaryDirectory() as name:
        code, outdir = Path(name, "code"), Path(name, "out")
        code.mkdir()
        (code / "module.py").touch()
        make_app({}, {bundle.function: code for bundle in BUNDLES} | {TOKENIZER: code}, outdir).synth()
        template = Template.read(outdir)
        PAGE.write_text(page(template))
        STATEMENTS.write_text(statements(template))


if __name__ == "__main__":
    main()
