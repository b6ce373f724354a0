"""A line of an export: one thing that is kept about a person, whole, with where it comes from.

An export is NDJSON: a JSON object a line, in UTF-8. Its first line says what it is, its last how many lines of each
kind stand between them, so that a copy that was cut off is known for one::

    {"kind": "export", "id": "export-...", "provenance": {...}, "data": {"subject": "u-1", ...}}
    {"kind": "fact", "id": "f-...", "provenance": {"store": "facts", "session": "s-1", "seq": 3, ...}, "data": {...}}
    {"kind": "end", "id": "export-...", "provenance": {...}, "data": {"lines": {"fact": 1}, "left_out": {...}}}

The kinds are those of ``subject_kinds``; ``data`` is the entity as its own route answers it. GDPR, article 15(1)(g)
asks for the source, article 20(1) for a form that machines read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from slate.domain.exporting.export import Export
from slate.domain.instants import Instant, format_instant

OPENING: Final = "export"
ENDING: Final = "end"
LEFT_OUT: Final[Mapping[str, str]] = {
    "vectors and search terms": "derived from the facts, turns and episodes in this export",
    "copies": "the first message, marked turns and slots stand in their turns and facts",
    "counters and dates of use": "how often a fact was served, how far a feed was read: they say nothing of anybody",
    "audit entries": "they name no person and hold no content; GET /v1/audit lists them",
}
"""What no line has, and why: said in the last one."""

_ENDS_OF_LINES: Final = {ord(each): f"\\u{ord(each):04x}" for each in "\x85\u2028\u2029"}
"""JSON takes them as they are, and some readers of lines for the end of one."""


class Provenance(BaseModel):
    """Where something comes from, as far as it is known."""

    model_config = ConfigDict(frozen=True)

    store: str = Field(description="where it is kept, as receipts of erasures count it")
    at: Instant | None = Field(default=None, description="when it was written")
    agent: str | None = Field(default=None, description="whose key wrote it")
    session: str | None = Field(default=None, description="the conversation that it is of, or was learned from")
    seq: int | None = Field(default=None, description="the turn of that conversation")
    graph: str | None = Field(default=None, description="the graph that it belongs to")
    source: str | None = Field(default=None, description="the document or the form that it was taken from")
    rule: str | None = Field(default=None, description="the rule, or the model, that made it")
    version: int | None = None


class Record(BaseModel):
    """One line."""

    model_config = ConfigDict(frozen=True)

    kind: str
    id: str
    provenance: Provenance
    data: dict[str, JsonValue] = Field(description="the thing itself, as its own route answers it")

    def line(self) -> str:
        """The line, without its end; what is not known is left out of the provenance."""
        return json.dumps(
            {
                "kind": self.kind,
                "id": self.id,
                "provenance": self.provenance.model_dump(mode="json", exclude_none=True),
                "data": self.data,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        ).translate(_ENDS_OF_LINES)


def read(line: str) -> Record:
    """A line again.

    Raises:
        ValueError: it is not one.
    """
    return Record.model_validate_json(line)


def opening(export: Export) -> Record:
    """The first line."""
    return _about(export, OPENING, {"subject": export.subject, "as_of": format_instant(export.created_at)})


def ending(export: Export, lines: Mapping[str, int]) -> Record:
    """The last line."""
    return _about(export, ENDING, {"lines": dict(lines), "left_out": dict(LEFT_OUT)})


def _about(export: Export, kind: str, data: dict[str, JsonValue]) -> Record:
    made = Provenance(store="exports", at=export.created_at, agent=export.agent)
    return Record(kind=kind, id=export.export_id, provenance=made, data=data)
