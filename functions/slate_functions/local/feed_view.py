"""A graph's change feed on a terminal: a line for each change, and below them how the graph stands."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from slate.domain.events import EventType, FeedEntry
from slate.domain.instants import format_instant
from slate_functions.local.graph_view import STYLES, safe

ENDS: Final = frozenset({EventType.GRAPH_COMPLETED, EventType.GRAPH_CANCELLED})
"""After one of these a graph has ended, unless it is opened again."""
_TYPE_WIDTH: Final = 17
"""The longest, and a space."""


def line_of(entry: FeedEntry) -> Text:
    """One change: its number, when, what, of which task, by whom."""
    style = STYLES.get(entry.state or "", "bold")
    line = Text.assemble(
        (f"{entry.seq:>5}  {format_instant(entry.at)[11:23]}  ", "dim"),
        (f"{entry.type:<{_TYPE_WIDTH}}", style),
        safe(entry.task_id or entry.graph_id),
    )
    if entry.task_id is None and entry.state is not None:
        line.append(f"  {entry.state}", style=style)
    if entry.agent is not None:
        line.append_text(Text.assemble(("  by ", "dim"), safe(entry.agent)))
    return line
