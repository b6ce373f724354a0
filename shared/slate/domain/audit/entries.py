"""An entry of the audit: who did what to which items, at which versions; never what they say, nor whom they name.

A deed that reads has one entry, appended before its answer leaves: what was served stands in the chain. A deed that
writes has two: ``begun``, appended before the first item changes, and ``done`` before the answer leaves, with exactly
what changed. So a process that is killed in between leaves a deed that has begun and is not done, and never a change
that nobody is named for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant

NAMED: Final = 1_000
"""Items that an entry names; more are counted."""
_UNKNOWN: Final = "-"
_GONE: Final = "gone"


_PASSING: Final = frozenset({"woken_at", "wakes", "score", "why", "kind"})
"""What changes without a new version, or is not the thing's own: left out of a digest."""


def said(data: Mapping[str, Any]) -> dict[str, Any]:
    """What of an entity a digest is made of."""
    return {name: value for name, value in data.items() if name not in _PASSING}


class Verb(StrEnum):
    """What a deed does."""

    READ = "read"
    """Something was named, and answered."""
    SERVE = "serve"
    """Slate chose what to answer: a context, a search."""
    WRITE = "write"
    DELETE = "delete"


class Phase(StrEnum):
    """How far the deed was when the entry was appended."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"


class Touched(NamedTuple):
    """An item that a deed read or changed."""

    kind: str
    """As an export calls it."""
    id: str
    version: int | None = None
    digest: str | None = None
    """An HMAC of what it said, under the person's own key: it tells nothing once the key is gone."""
    gone: bool = False
    """It was removed."""

    @property
    def text(self) -> str:
        """As it stands in an entry: four words, of which no id holds a space."""
        version = _GONE if self.gone else _UNKNOWN if self.version is None else str(self.version)
        return f"{self.kind} {self.id} {version} {self.digest or _UNKNOWN}"

    @classmethod
    def of(cls, text: str) -> Self:
        """One again."""
        kind, name, version, digest = text.split(" ")
        known = None if version in (_UNKNOWN, _GONE) else int(version)
        return cls(kind, name, known, None if digest == _UNKNOWN else digest, version == _GONE)


class Entry(BaseModel):
    """One entry."""

    model_config = ConfigDict(frozen=True)

    at: Instant
    deed: str = Field(description="the request's id, or the job's: what the entries of one deed have in common")
    phase: Phase
    verb: Verb
    act: str = Field(description="the route, or the job")
    agent: str
    key_id: str | None = Field(default=None, description="the credential; none: Slate itself")
    ref: str | None = Field(default=None, description="whom it is about, as keys name them")
    session: str | None = None
    code: str | None = Field(default=None, description="of one that failed: why")
    items: tuple[Touched, ...] = ()
    more: int = Field(default=0, description="items beyond those that are named")

    @property
    def text(self) -> str:
        """The one form that is kept and hashed: JSON, names sorted, what is empty left out."""
        told: dict[str, Any] = self.model_dump(exclude={"items"}, exclude_none=True)
        told["items"] = [item.text for item in self.items]
        shown = {name: value for name, value in told.items() if value not in ([], 0) or name == "at"}
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    @classmethod
    def of(cls, text: str) -> Self:
        """One again.

        Raises:
            ValueError: it is not one.
        """
        told = json.loads(text)
        return cls.model_validate({**told, "items": [Touched.of(item) for item in told.get("items", ())]})
