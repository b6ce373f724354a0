"""A graph on a terminal: its counts, a table of what needs a look first, and the tasks as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from slate.domain.graphs import Graph, GraphState
from slate.domain.instants import format_instant
from slate.domain.tasks import Task, TaskState

ENDED: Final = frozenset({GraphState.DONE, GraphState.FAILED, GraphState.CANCELLED})
"""A graph in one of these is not looked at again."""
STYLES: Final[Mapping[str, str]] = {
    "BLOCKED": "dim",
    "READY": "cyan",
    "RUNNING": "bold yellow",
    "DELAYED": "yellow",
    "WAITING": "magenta",
    "DONE": "green",
    "FAILED": "bold red",
    "CANCELLED": "dim red",
}
_MARKS: Final[Mapping[TaskState, str]] = {
    TaskState.BLOCKED: "·",
    TaskState.READY: "○",
    TaskState.RUNNING: "▶",
    TaskState.DELAYED: "…",
    TaskState.WAITING: "?",
    TaskState.DONE: "✓",
    TaskState.FAILED: "✗",
    TaskState.CANCELLED: "-",
}
_FIRST: Final = (
    *(TaskState.RUNNING, TaskState.WAITING, TaskState.FAILED, TaskState.DELAYED),
    *(TaskState.READY, TaskState.BLOCKED, TaskState.CANCELLED, TaskState.DONE),
)
_LONGEST_TITLE = 60


def view_of(graph: Graph, tasks: Sequence[Task], limit: int = 40) -> RenderableType:
    """The graph as it stands; of many tasks, the table and the tree show ``limit`` each and say how many more."""
    return Group(head_of(graph), _table(tasks, limit), _tree(tasks, limit))


def list_of(graphs: Sequence[Graph]) -> RenderableType:
    """Graphs, one a row."""
    table = _plain_table("graph", "state", "done", "open", "failed", "created", "goal")
    for graph in graphs:
        counts = graph.counts
        numbers = (counts.done, counts.still_open, counts.failed + counts.cancelled)
        table.add_row(
            safe(graph.graph_id),
            _state(graph.state),
            *(str(number) for number in numbers),
            format_instant(graph.created_at),
            safe(_short(graph.goal)),
        )
    return table


def head_of(graph: Graph) -> Text:
    """Its id, state and goal, and how many tasks stand where."""
    counts = graph.counts
    line = Text.assemble(safe(graph.graph_id), "  ", _state(graph.state), "  ", safe(_short(graph.goal)), "\n")
    line.append(f"{counts.done} of {counts.total} done")
    for name, number in counts.model_dump().items():
        if number and name != "done":
            line.append(", ").append(f"{number} {name}", style=STYLES[name.upper()])
    return line


def _table(tasks: Sequence[Task], limit: int) -> Table:
    table = _plain_table("task", "role", "state", "agent", "attempt", "waits for, or says")
    first = sorted(tasks, key=lambda task: (_FIRST.index(task.state), task.task_id))
    for task in first[:limit]:
        table.add_row(
            safe(task.task_id),
            safe(task.role),
            _state(task.state),
            safe(task.agent or ""),
            f"{task.attempts}/{task.max_attempts}" if task.attempts else "",
            safe(_short(_says(task))),
        )
    if len(tasks) > limit:
        table.add_row(f"and {len(tasks) - limit} more", "", "", "", "", "")
    return table


def _says(task: Task) -> str:
    said = {
        TaskState.BLOCKED: ", ".join(task.waiting_on),
        TaskState.DELAYED: f"until {format_instant(task.due_at)}" if task.due_at is not None else "",
        TaskState.WAITING: str(task.question) if task.question is not None else ", ".join(task.waiting_on),
        TaskState.FAILED: str(task.error if task.error is not None else task.cause or ""),
        TaskState.CANCELLED: task.cause or "",
        TaskState.RUNNING: str(task.progress) if task.progress is not None else "",
    }
    return said.get(task.state, task.action or "")


def _tree(tasks: Sequence[Task], limit: int) -> Tree:
    """Each task under the first of its parents; the others are named beside it."""
    known = {task.task_id for task in tasks}
    children: dict[str | None, list[Task]] = {}
    for task in tasks:
        parent = next((parent for parent in task.parents() if parent in known), None)
        children.setdefault(parent, []).append(task)
    tree = Tree(Text("tasks", style="dim"), guide_style="dim")
    branches: dict[str | None, Tree] = {None: tree}
    for shown, (parent, task) in enumerate(_walk(children)):
        if shown == limit:
            tree.add(Text(f"and {len(tasks) - limit} more", style="dim"))
            break
        branches[task.task_id] = branches[parent].add(_leaf(task))
    return tree


def _walk(children: Mapping[str | None, Sequence[Task]]) -> Iterator[tuple[str | None, Task]]:
    # By hand, since a chain may be longer than Python's stack.
    ahead: list[tuple[str | None, Task]] = [(None, task) for task in reversed(children.get(None, ()))]
    while ahead:
        parent, task = ahead.pop()
        yield parent, task
        ahead += [(task.task_id, child) for child in reversed(children.get(task.task_id, ()))]


def _leaf(task: Task) -> Text:
    mark = Text(f"{_MARKS[task.state]} ", style=STYLES[task.state])
    others = list(task.parents())[1:]
    also = Text(f"  also after {', '.join(others)}" if others else "", style="dim")
    return Text.assemble(mark, safe(task.task_id), Text(f"  {_one_line(_short(task.title))}", style="dim"), also)


def _plain_table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        # An id is there to be copied, so it stays in one piece.
        table.add_column(title, overflow="fold", no_wrap=title in ("graph", "task"))
    return table


def _state(state: TaskState | GraphState) -> Text:
    return Text(state.value, style=STYLES.get(state.value, "bold"))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TITLE else text[: _LONGEST_TITLE - 1] + "…"


def safe(text: str) -> Text:
    """A caller's text on one line."""
    # Text takes no markup, and what is left of control characters cannot drive the terminal.
    return Text(_one_line(text))


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
