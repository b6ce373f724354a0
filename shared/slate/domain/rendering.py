"""A context as plain text, and what every other form of it is made from.

Stable parts come first, so that two calls of a session share a prefix; what matters most stands at the two ends: who
the agent is and what is pinned at the beginning, the task and the last turns at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from slate.domain.context import STABLE, Context, Item, Section, SectionName
from slate.domain.sessions import Speaker
from slate.domain.tokens import MESSAGE_OVERHEAD, REPLY_OVERHEAD, Count, call_text

HEADINGS: Final[Mapping[SectionName, str]] = {
    SectionName.SYSTEM: "# System",
    SectionName.PINNED: "# Pinned state",
    SectionName.FIRST_MESSAGE: "# The user's first message",
    SectionName.SUMMARY: "# Summary of the conversation so far",
    SectionName.MARKED: "# Said earlier, word for word",
    SectionName.EPISODES: "# Earlier runs of such tasks",
    SectionName.RECALL: "# From earlier conversations",
    SectionName.KNOWLEDGE: "# Knowledge",
    SectionName.FACTS: "# Known about the user",
    SectionName.RECONFIRM: "# To be confirmed with the user before use",
    SectionName.NOTICES: "# To be mentioned to the user once",
    SectionName.TASK: "# Your task",
    SectionName.RECENT: "# The conversation",
}
SPOKEN: Final = (SectionName.FIRST_MESSAGE, SectionName.RECENT)
"""Sections whose items are messages; those of the others are lines under a heading."""
CHANGING: Final = tuple(name for name in SectionName if name not in (*STABLE, *SPOKEN))


def frames(count: Count) -> dict[SectionName, int]:
    """What each section costs beside its items: its heading, and what frames it."""
    return {name: count(heading) + MESSAGE_OVERHEAD + REPLY_OVERHEAD for name, heading in HEADINGS.items()}


def line_of(item: Item, section: SectionName) -> str:
    """An item as it stands under its section's heading."""
    if section is not SectionName.MARKED:
        return item.text
    why = "".join(f", {mark}" for mark in item.marks)
    calls = "".join(f"\n{call_text(call)}" for call in item.tool_calls)
    return f"[turn {item.seq}, {item.role}{'' if item.name is None else ' ' + item.name}{why}] {item.text}{calls}"


def line_tokens(count: Count, item: Item, section: SectionName) -> Item:
    """The item with what its line costs."""
    return item.model_copy(update={"tokens": count(line_of(item, section)) + 1})


class Parts(NamedTuple):
    """A context's text by its place; what is absent is empty."""

    system: str
    pinned: str
    before: tuple[Item, ...]
    """Turns of the window from before the user's first message."""
    first: tuple[Item, ...]
    summary: str
    changing: str
    recent: tuple[Item, ...]


def parts_of(context: Context) -> Parts:
    """Take a context apart for rendering."""
    sections = {section.name: section for section in context.sections}
    first = _items(sections.get(SectionName.FIRST_MESSAGE))
    recent = _items(sections.get(SectionName.RECENT))
    opened = first[0].seq if first else None
    before = tuple(item for item in recent if opened is not None and item.seq is not None and item.seq < opened)
    return Parts(
        system="\n\n".join(item.text for item in _items(sections.get(SectionName.SYSTEM))),
        pinned=_block(sections.get(SectionName.PINNED)),
        before=before,
        first=first,
        summary=_block(sections.get(SectionName.SUMMARY)),
        changing=_joined(_block(sections.get(name)) for name in CHANGING),
        recent=recent[len(before) :],
    )


def _items(section: Section | None) -> tuple[Item, ...]:
    return () if section is None else section.items


def _block(section: Section | None) -> str:
    if section is None:
        return ""
    return "\n".join([HEADINGS[section.name], *(line_of(item, section.name) for item in section.items)])


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(block for block in blocks if block)


def as_text(context: Context) -> str:
    """The whole context as one text."""
    parts = parts_of(context)
    return _joined([*_stable(parts), parts.changing, _spoken(SectionName.RECENT, parts.recent)])


def stable_text(context: Context) -> str:
    """What the text begins with, as long as nothing is pinned or digested."""
    return _joined(_stable(parts_of(context)))


def _stable(parts: Parts) -> list[str]:
    system = f"{HEADINGS[SectionName.SYSTEM]}\n{parts.system}" if parts.system else ""
    first = _spoken(SectionName.FIRST_MESSAGE, (*parts.before, *parts.first))
    return [system, parts.pinned, first, parts.summary]


def _spoken(section: SectionName, items: tuple[Item, ...]) -> str:
    return _joined([HEADINGS[section], *map(_said, items)]) if items else ""


def _said(item: Item) -> str:
    who = "" if item.name is None else f" {item.name}"
    which = "" if item.tool_call_id is None else f" ({item.tool_call_id})"
    calls = [f"calls {call_text(call)} ({call.id})" for call in item.tool_calls]
    said = [item.text] if item.text or not calls else []
    return f"{item.role or Speaker.USER}{who}{which}: " + "\n".join([*said, *calls])
