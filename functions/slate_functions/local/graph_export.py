"""A graph as text for other tools: Mermaid, Graphviz, JSON. Titles are a stranger's text and are escaped as such."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from slate.domain.graphs import Graph
from slate.domain.tasks import EdgeKind, Task, TaskState

_COLOURS: Final[Mapping[TaskState, str]] = {
    TaskState.BLOCKED: "#d9d9d9",
    TaskState.READY: "#9ecae1",
    TaskState.RUNNING: "#fdd835",
    TaskState.DELAYED: "#fdae6b",
    TaskState.WAITING: "#cbb4e3",
    TaskState.DONE: "#a1d99b",
    TaskState.FAILED: "#f4a09a",
    TaskState.CANCELLED: "#bdbdbd",
}
_SAFE_IN_MERMAID: Final = frozenset(" .,:_-/+()!?")


class Format(StrEnum):
    """What a graph can be written as."""

    MERMAID = "mermaid"
    DOT = "dot"
    JSON = "json"


def export(graph: Graph, tasks: Sequence[Task], form: Format) -> str:
    """Write a graph: solid edges are met by success, dashed ones by any end."""
    write: Callable[[Graph, Sequence[Task]], str] = {Format.MERMAID: _mermaid, Format.DOT: _dot, Format.JSON: _json}[
        form
    ]
    return write(graph, tasks)


def _mermaid(graph: Graph, tasks: Sequence[Task]) -> str:
    names = {task.task_id: f"t{n}" for n, task in enumerate(tasks)}
    lines = ["---", f"title: {json.dumps(_one_line(f'{graph.graph_id} {graph.state}'))}", "---", "flowchart TD"]
    lines += [
        f'  {names[task.task_id]}["{_mermaid_text(task.task_id)}<br/>{_mermaid_text(task.title)}<br/>{task.state}"]'
        f":::{task.state.lower()}"
        for task in tasks
    ]
    lines += [
        f"  {names[parent.task_id]} {'-->' if parent.kind is EdgeKind.SUCCESS else '-.->'} {names[task.task_id]}"
        for task in tasks
        for parent in task.depends_on
        if parent.task_id in names
    ]
    lines += [f"  classDef {state.lower()} fill:{colour},color:#111" for state, colour in _COLOURS.items()]
    return "\n".join(lines) + "\n"


def _dot(graph: Graph, tasks: Sequence[Task]) -> str:
    known = {task.task_id for task in tasks}
    lines = [
        f"digraph {_dot_text(graph.graph_id)} {{",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif"];',
    ]
    lines += [
        f"  {_dot_text(task.task_id)} [label={_dot_text(task.task_id, task.title, task.state)}, "
        f'fillcolor="{_COLOURS[task.state]}"];'
        for task in tasks
    ]
    lines += [
        f"  {_dot_text(parent.task_id)} -> {_dot_text(task.task_id)}"
        f"{'' if parent.kind is EdgeKind.SUCCESS else ' [style=dashed]'};"
        for task in tasks
        for parent in task.depends_on
        if parent.task_id in known
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _json(graph: Graph, tasks: Sequence[Task]) -> str:
    content = {
        "graph": graph.model_dump(mode="json", exclude={"tasks"}),
        "tasks": [task.model_dump(mode="json") for task in tasks],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _mermaid_text(text: str) -> str:
    # A code point as an entity is read by Mermaid as that character and never as syntax, markup or a link.
    return "".join(c if c.isalnum() or c in _SAFE_IN_MERMAID else f"#{ord(c)};" for c in _one_line(text))


def _dot_text(*lines: str) -> str:
    escaped = (_one_line(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
