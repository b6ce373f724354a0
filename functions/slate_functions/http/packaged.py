"""The OpenAPI document that a bundle carries: all groups of routes, whichever function serves them.

It is the one that is checked in (``docs/openapi.json``): a function knows its own routes alone.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

PACKAGED: Final = "openapi.json"
"""Its name in a bundle, beside this module."""


@cache
def packaged_document() -> dict[str, Any]:
    """The document, read when it is first asked for."""
    return cast("dict[str, Any]", json.loads(Path(__file__).with_name(PACKAGED).read_text(encoding="utf-8")))
