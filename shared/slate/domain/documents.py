"""A document of the knowledge base, and how it is cut: along its headings, never through code, a table or a sentence.

A part carries the headings that it stands under, so that it says by itself what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.domain.instants import Instant
from slate.domain.names import Id
from slate.domain.words import sentences

DEFAULT_COLLECTION: Final = "default"
PART_CHARACTERS: Final = 1_200
"""About 300 tokens: small enough to be about one thing, large enough to say it."""
LARGEST_CHARACTERS: Final = 6_000
"""A piece of code or a table is cut only beyond it, between lines."""
MAX_PARTS: Final = 5_000

Title = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=500)]

_HEADING: Final = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*")
_FENCE: Final = re.compile(r"\s*(```+|~~~+)")
_TABLE: Final = re.compile(r"\s*\|.*\|\s*")


class Document(BaseModel):
    """A document's head."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    title: str
    collection: str = DEFAULT_COLLECTION
    readers: tuple[Id, ...] = Field(default=(), description="agents and roles that may read it; empty: all")
    parts: int = Field(description="what it was cut into")
    created_at: Instant
    updated_at: Instant
    version: int = 1


class Part(NamedTuple):
    """One part of a document."""

    number: int
    headings: tuple[str, ...]
    text: str

    @property
    def whole(self) -> str:
        """With the headings that it stands under."""
        return "\n".join(filter(None, [" > ".join(self.headings), self.text]))


class _Block(NamedTuple):
    headings: tuple[str, ...]
    text: str
    solid: bool
    """Code or a table."""


def cut(text: str) -> list[Part]:
    """The parts of a text, in their order: what stands under the same headings is joined as far as it fits."""
    parts: list[tuple[tuple[str, ...], str]] = []
    for block in _blocks(text):
        for piece in _pieces(block):
            fits = bool(parts) and parts[-1][0] == block.headings
            if fits and len(parts[-1][1]) + len(piece) + 2 <= PART_CHARACTERS:
                parts[-1] = (block.headings, f"{parts[-1][1]}\n\n{piece}")
            else:
                parts.append((block.headings, piece))
    return [Part(number, headings, piece) for number, (headings, piece) in enumerate(parts)]


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraphs, pieces of code and tables, each under its headings."""
    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    solid = False
    fence: str | None = None

    def block() -> Iterator[_Block]:
        content = "\n".join(lines).strip("\n")
        lines.clear()
        if content.strip():
            yield _Block(tuple(title for _, title in headings), content, solid)

    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence is not None:
            lines.append(line)
            if opened and line.strip() == fence:
                yield from block()
                fence, solid = None, False
        elif opened:
            yield from block()
            fence, solid = opened[1], True
            lines.append(line)
        elif (heading := _HEADING.fullmatch(line)) is not None:
            yield from block()
            solid = False
            headings = [each for each in headings if each[0] < len(heading[1])] + [(len(heading[1]), heading[2])]
        else:
            table = _TABLE.fullmatch(line) is not None
            if table is not solid or not line.strip():
                yield from block()
                solid = table
            lines.append(line)
    yield from block()


def _pieces(block: _Block) -> Iterator[str]:
    """A block, cut where it is too large: code and tables between lines, text between sentences, then anywhere."""
    most = LARGEST_CHARACTERS if block.solid else PART_CHARACTERS
    if len(block.text) <= most:
        yield block.text
        return
    units = block.text.splitlines() if block.solid else sentences(block.text)
    joint, piece = ("\n" if block.solid else " "), ""
    for unit in (part for each in units for part in _bounded(each, most)):
        if piece and len(piece) + len(joint) + len(unit) > most:
            yield piece
            piece = unit
        else:
            piece = f"{piece}{joint}{unit}" if piece else unit
    if piece:
        yield piece


def _bounded(unit: str, most: int) -> list[str]:
    return [unit[start : start + most] for start in range(0, len(unit), most)]
