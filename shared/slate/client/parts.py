"""Cuts many tasks into calls that the server accepts: the same tasks always give the same parts."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from slate.client.calls import encode
from slate.contract.tasks import MAX_TASKS_A_CALL
from slate.domain.errors import FieldError, Invalid, TooLarge
from slate.domain.graphs import in_order
from slate.domain.tasks import TaskSpec

PART_BYTES: Final = 800_000
"""A part's tasks together, on the wire: below the 1 MB of a body, so that a goal of any length fits beside them."""
TASK_BYTES: Final = 900_000
"""One task alone: a larger one can stand in no body."""


def specs_of(tasks: Iterable[TaskSpec | Mapping[str, Any]]) -> list[TaskSpec]:
    """The tasks as specs, whichever way they were written.

    Raises:
        Invalid: lists every offending field of every task.
    """
    specs: list[TaskSpec] = []
    errors: list[FieldError] = []
    for i, task in enumerate(tasks):
        try:
            specs.append(task if isinstance(task, TaskSpec) else TaskSpec.model_validate(task))
        except ValidationError as error:
            errors += [
                {"field": ".".join([f"tasks[{i}]", *map(str, fault["loc"])]), "message": fault["msg"]}
                for fault in error.errors()
            ]
    if errors:
        raise Invalid(errors)
    return specs


def wire_form(spec: TaskSpec) -> dict[str, Any]:
    """A task as it is sent: what was not said is left to the server's defaults."""
    fields = set(TaskSpec.model_fields)
    return spec.model_dump(mode="json", include=fields, exclude_defaults=True)


def cut(specs: Sequence[TaskSpec]) -> list[list[dict[str, Any]]]:
    """The tasks in wire form, in parts: each task once, and its parents in the same or an earlier part.

    One part keeps the order given. Several are cut from an order of their own, which depends on the tasks alone and
    not on the order given, so that whoever makes the same graph again cuts the same parts. No tasks are one empty part.

    Raises:
        TooLarge: one task alone is over 900,000 bytes; it is named.
        Cycle: the dependencies run in a circle.
    """
    sizes = {spec.task_id: len(encode(wire_form(spec))) + 1 for spec in specs}  # and a comma each
    for task_id, size in sizes.items():
        if size > TASK_BYTES:
            raise TooLarge(
                f"the task {task_id!r} is {size:,} bytes, at most {TASK_BYTES:,}; "
                "put large content elsewhere and name it in the input"
            )
    if len(specs) <= MAX_TASKS_A_CALL and sum(sizes.values()) <= PART_BYTES:
        return [[wire_form(spec) for spec in specs]]
    parts: list[list[dict[str, Any]]] = []
    room = 0
    for spec in _canonical_order(specs):
        if not parts or len(parts[-1]) == MAX_TASKS_A_CALL or sizes[spec.task_id] > room:
            parts.append([])
            room = PART_BYTES
        parts[-1].append(wire_form(spec))
        room -= sizes[spec.task_id]
    return parts


def _canonical_order(specs: Sequence[TaskSpec]) -> list[TaskSpec]:
    """Parents before children, and by id among those that could come next."""
    in_order(specs)  # refuses a cycle by name
    by_id = {spec.task_id: spec for spec in specs}
    children: dict[str, list[str]] = defaultdict(list)
    missing: dict[str, int] = {}
    for spec in specs:
        here = [parent for parent in spec.parents() if parent in by_id]
        missing[spec.task_id] = len(here)
        for parent in here:
            children[parent].append(spec.task_id)
    free = [task_id for task_id, count in missing.items() if not count]
    heapq.heapify(free)
    ordered: list[TaskSpec] = []
    while free:
        task_id = heapq.heappop(free)
        ordered.append(by_id[task_id])
        for child in children[task_id]:
            missing[child] -= 1
            if not missing[child]:
                heapq.heappush(free, child)
    return ordered
