"""The OpenAPI document of all groups of routes; ``python -m slate_functions.local.openapi`` prints it."""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any, Final

import slate
from slate_functions.http.openapi import document
from slate_functions.memory_api.app import GROUPS as MEMORY
from slate_functions.privacy_api.app import GROUPS as PRIVACY
from slate_functions.tasks_api.app import GROUPS as TASKS

GROUPS: Final = (*TASKS, *MEMORY, *PRIVACY)

DESCRIPTION: Final = (
    "Shared state and memory for teams of AI agents: one task graph that planners write, workers claim from and people "
    "steer; conversations that agents keep, and what is known from them. "
    "Send an API key as `Authorization: Bearer`. Times are RFC 3339 UTC with milliseconds. Errors are "
    "`application/problem+json` with a stable `code`. Lists are paged by `limit` and `cursor`. A body has at most "
    "1 MB; unknown fields are refused. Put no personal data into ids: they are stored in clear."
)


@cache
def whole_document() -> dict[str, Any]:
    """The document of every route."""
    return document(GROUPS, title="Slate", version=slate.__version__, description=DESCRIPTION)


def main() -> None:
    """Print it as it is checked in."""
    json.dump(whole_document(), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
