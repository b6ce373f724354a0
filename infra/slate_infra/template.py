"""A synthesized stack as one reads it: what resources there are, what each role may do, what was accepted and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self


class Statement(NamedTuple):
    """What a policy allows: actions by name, one resource, and on what condition."""

    actions: str
    resource: str
    condition: Any


class Accepted(NamedTuple):
    """A finding of cdk-nag that is stood by."""

    rule: str
    where: str
    reason: str


@dataclass(frozen=True)
class Template:
    """Its logical ids without their digests: `StorageMain`, `FunctionsTasksApiFunction`."""

    outdir: Path
    resources: dict[str, Any]
    outputs: dict[str, Any]

    @classmethod
    def read(cls, outdir: Path) -> Self:
        """The one stack of an assembly."""
        [path] = outdir.glob("*.template.json")
        template = json.loads(path.read_text())
        resources = {_bare(name): resource for name, resource in template["Resources"].items()}
        return cls(outdir, resources, {name: output["Value"] for name, output in template["Outputs"].items()})

    def of_type(self, kind: str) -> dict[str, Any]:
        """The properties of all resources of a kind."""
        return {name: r["Properties"] for name, r in self.resources.items() if r["Type"] == kind}

    def only(self, kind: str) -> dict[str, Any]:
        """Those of the one resource of a kind."""
        [properties] = self.of_type(kind).values()
        return dict(properties)

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

    def statements(self, role: str) -> list[Statement]:
        """What a role's policies allow, a resource each.

        Raises:
            ValueError: a statement denies, which no page and no test here reads.
        """
        found: list[Statement] = []
        for policy in self.of_type("AWS::IAM::Policy").values():
            if role in [self.text(r) for r in policy["Roles"]]:
                found += self._allowed(policy["PolicyDocument"])
        return found

    def _allowed(self, document: Mapping[str, Any]) -> Iterator[Statement]:
        for s in document["Statement"]:
            if s["Effect"] != "Allow":
                raise ValueError(f"a statement that does not allow: {s}")
            for resource in _many(s["Resource"]):
                yield Statement(" ".join(_many(s["Action"])), self.text(resource), s.get("Condition"))

    def accepted(self) -> list[Accepted]:
        """What cdk-nag found and the constructs accept; that it found nothing else, synthesis has seen to."""
        [report] = json.loads((self.outdir / "validation-report.json").read_text())["pluginReports"]
        return [
            Accepted(
                rule=_bare(finding["ruleName"].removeprefix("AwsSolutions-")),
                where="/".join(_path(construct)),
                reason=finding["reason"],
            )
            for finding in report["suppressedViolations"]
            for construct in finding["violatingConstructs"]
        ]


def _path(construct: Mapping[str, Any]) -> list[str]:
    """Within the stack, without the resource's own name."""
    return str(construct["constructPath"]).split("/")[1:-1]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _bare(name: str) -> str:
    return re.sub(r"(?<=\w)[0-9A-F]{8}(?=$|\.Arn>)", "", name)
