"""What an agent sees of the graph that it works in: enough that it never needs a copy of shared state of its own.

The goal and how far it is; its own task; the results of the tasks that it waited for, in full; the shared values that
its task names; then a line for each other task: those still open, and what the finished ones did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from slate.domain.budget import Ranked
from slate.domain.context import Item, SectionName
from slate.domain.graphs import Graph
from slate.domain.tasks import Task, TaskState
from slate.domain.tokens import Count
from slate.domain.transcript import shorten_text
from slate.domain.values import Value

LONGEST_SHARE: Final = 3
"""A result, an input or a value takes at most a third of the total; beyond that it says where all of it is."""
_ENDED_WELL: Final = (TaskState.DONE,)


@dataclass(frozen=True, slots=True)
class TaskView:
    """What was read of a graph."""

    graph: Graph
    task: Task | None
    parents: Sequence[Task]
    others: Sequence[Task]
    """The other tasks, as far as they were read."""
    values: Sequence[Value]


def draft_of(view: TaskView, total: int, count: Count) -> Ranked:
    """The section, what matters most first."""
    longest = max(total // LONGEST_SHARE, 1)
    head = [_item(f"graph:{view.graph.graph_id}", "graph", _goal(view.graph), view.graph.version)]
    if view.task is not None:
        head.append(_task_item(view.task, longest, count))
    parents = [_result_item(task, longest, count) for task in view.parents]
    values = [_value_item(view.graph.graph_id, value, longest, count) for value in view.values]
    lines = [_item(f"task:{task.task_id}", "task", _line(task), task.version) for task in _open_first(view.others)]
    items = [
        item.model_copy(update={"tokens": count(item.text) + 1})
        for item in (*lines, *values, *parents, *reversed(head))
    ]
    needed = frozenset(item.id for item in (*head, *parents, *values))
    # Shown last what matters most, so that it stands next to the conversation; chosen first.
    order = (*range(len(items) - 1, len(lines) - 1, -1), *range(len(lines)))
    return Ranked(SectionName.TASK, tuple(items), order=order, need=needed)


def named_in(task: Task | None, graph: Graph, keys: Iterable[str]) -> list[str]:
    """The keys of shared values that a task names: in its title, its input, or its graph's goal."""
    said = graph.goal if task is None else f"{graph.goal}\n{task.title}\n{_json(task.input)}"
    return [key for key in keys if re.search(rf"(?<![\w.:@-]){re.escape(key)}(?![\w:@-])", said)]


def _item(item_id: str, kind: str, text: str, version: int) -> Item:
    return Item(id=item_id, kind=kind, text=text, tokens=0, version=version)


def _goal(graph: Graph) -> str:
    counts = ((name, number) for name, number in graph.counts.model_dump().items() if number)
    return f"Goal of {graph.graph_id}: {graph.goal}\nTasks: " + ", ".join(f"{number} {name}" for name, number in counts)


def _task_item(task: Task, longest: int, count: Count) -> Item:
    text = "\n".join(_told(task))
    return _item(f"task:{task.task_id}", "task", _cut(task, text, longest, count), task.version)


def _told(task: Task) -> Iterator[str]:
    yield f"Task {task.task_id}: {task.title}"
    yield f"Role {task.role}; {task.state}, attempt {task.attempts} of {task.max_attempts}"
    for name in ("input", "progress", "question", "answer", "error"):
        if (value := getattr(task, name)) is not None:
            yield f"{name.capitalize()}: {_json(value)}"
    if task.waiting_on:
        yield f"Waits for: {', '.join(task.waiting_on)}"


def _result_item(task: Task, longest: int, count: Count) -> Item:
    said = [f"{task.state} {task.task_id} ({task.title})" + (f": {task.action}" if task.action else "")]
    if task.state in _ENDED_WELL:
        said.append(f"Result: {_json(task.result)}")
        said += [f"Artifact: {_json(artifact)}" for artifact in task.artifacts]
    elif task.error is not None:
        said.append(f"Error: {_json(task.error)}")
    return _item(f"task:{task.task_id}", "result", _cut(task, "\n".join(said), longest, count), task.version)


def _cut(task: Task, text: str, longest: int, count: Count) -> str:
    note = f"\n[... shortened here; all of it: GET /v1/graphs/{task.graph_id}/tasks/{task.task_id} ...]\n"
    return shorten_text(text, longest, count, note)


def _value_item(graph_id: str, value: Value, longest: int, count: Count) -> Item:
    note = f"\n[... shortened here; all of it: GET /v1/graphs/{graph_id}/values/{value.key} ...]\n"
    text = shorten_text(f"Shared value {value.key}: {_json(value.value)}", longest, count, note)
    return _item(f"value:{value.key}", "value", text, value.version)


def _open_first(tasks: Sequence[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (task.state.terminal, task.updated_at, task.task_id))


def _line(task: Task) -> str:
    did = f": {task.action}" if task.action else ""
    by = f", by {task.agent}" if task.agent else ""
    return f"{task.state} {task.task_id} ({task.title}), {task.role}{by}{did}"


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
