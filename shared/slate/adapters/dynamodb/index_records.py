"""Reads the table's stream for the index: which memory a record is about. What it says now is read from the table.

So a record that comes late, twice or out of order does no harm, and nothing of a record's images is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from slate.adapters.dynamodb.keys import DOCUMENT, EPISODE, LIVING_FACT, NOBODY, TURN
from slate.domain.indexed import Kind

_KINDS: Final = {
    ("S", TURN): Kind.TURN,
    ("U", LIVING_FACT): Kind.FACT,
    ("P", EPISODE): Kind.EPISODE,
    ("N", DOCUMENT): Kind.CHUNK,
}


class Changed(NamedTuple):
    """A memory that was made, changed, or is gone."""

    tenant: str
    kind: Kind
    owner: str | None
    """The session of a turn; the ref of whom a fact or an episode is about, if anybody."""
    id: str
    before: tuple[str, int] | None = None
    """Of a document: the writing that held before, and how many parts it had."""


def read_change(record: Mapping[str, Any]) -> Changed | None:
    """The memory that a record is about; None where it is about something else."""
    try:
        keys = record["dynamodb"]["Keys"]
        tenant, kind, owner = str(keys["pk"]["S"]).split("#", 2)
        sort, _, rest = str(keys["sk"]["S"]).partition("#")
    except (KeyError, TypeError, ValueError):
        return None
    what = _KINDS.get((kind, f"{sort}#"))
    if what is None or not rest or (what is Kind.FACT and _only_used(record["dynamodb"])):
        return None
    named = None if what is Kind.CHUNK or owner == NOBODY else owner
    return Changed(tenant, what, named, rest, _before(record) if what is Kind.CHUNK else None)


def _only_used(told: Mapping[str, Any]) -> bool:
    """A fact that was used is no new version: what it is found by is as it was."""
    before, after = ((told.get(name) or {}).get("version") for name in ("OldImage", "NewImage"))
    return before is not None and before == after


def _before(record: Mapping[str, Any]) -> tuple[str, int] | None:
    image = record["dynamodb"].get("OldImage") or {}
    if "generation" not in image or "parts" not in image:
        return None
    return str(image["generation"]["S"]), int(image["parts"]["N"])
