"""What a blocked task waits for, as a set of small numbers: a slot once met is taken out and never comes back.

A set, not a count: taking a slot out twice changes nothing, so a repeated or delayed message cannot free a child early.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from slate.domain.tasks import TaskSpec

APPROVAL: Final = 0
"""A person's approval."""
HOLD_CREATE: Final = -1
"""On every root of a graph that is being created in parts: nothing starts before the graph is whole."""
HOLD_ADD: Final = -2
"""On a task that is being added or retried in parts: it does not start before its edges are there."""

HOLDS: Final = frozenset({HOLD_CREATE, HOLD_ADD})


def slot_of(index: int) -> int:
    """The slot of the parent at this place of ``depends_on``: 1, 2, ..."""
    return index + 1


def slots_of(spec: TaskSpec) -> dict[str, int]:
    """The slot of each parent."""
    return {parent: slot_of(i) for i, parent in enumerate(spec.parents())}


def first_need(spec: TaskSpec) -> frozenset[int]:
    """All that a new task waits for."""
    return frozenset(slots_of(spec).values()) | ({APPROVAL} if spec.needs_approval else set())


def waiting_on(parents: Sequence[str], need: Collection[int]) -> tuple[str, ...]:
    """The names behind unmet slots: parents in order, then ``approval``; holds are nobody's business."""
    unmet = tuple(parent for i, parent in enumerate(parents) if slot_of(i) in need)
    return (*unmet, "approval") if APPROVAL in need else unmet
