"""Reads the table's stream: what a record says of a task or of a graph's head, as a step of the graph's feed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from slate.adapters.dynamodb.calls import Item, from_wire
from slate.adapters.dynamodb.keys import META, TASK, graph_pk
from slate.adapters.dynamodb.task_items import shown_state
from slate.domain.events import Step
from slate.domain.graphs import GraphState

TASK_NAMES: Final = (
    "state",
    "version",
    "need",
    "epoch",
    "role",
    "queue",
    "history",
    "created_at",
    "updated_at",
)
"""What a step is read from: nothing of it is sealed."""
_OF_SERVICE: Final = "slate"


class Record(NamedTuple):
    """A record of the stream, as far as the feed is concerned."""

    tenant: str
    graph_id: str
    step: Step


class Unreadable(Exception):  # not an error of ours: the record goes where somebody looks at it
    """A record of a task or a head that nobody can read; ``gap`` stands in its place where its version is known."""

    def __init__(self, gap: Record | None) -> None:
        super().__init__("a record of the stream cannot be read")
        self.gap = gap


def read_record(record: Mapping[str, Any]) -> Record | None:
    """The step that a record tells; None where it is about something else, or no version grew.

    Raises:
        Unreadable: it is about a task or a head, and cannot be understood.
    """
    try:
        keys: Mapping[str, Any] = record["dynamodb"]["Keys"]
        pk, sk = str(keys["pk"]["S"]), str(keys["sk"]["S"])
    except (KeyError, TypeError):
        raise Unreadable(None) from None
    tenant, _, rest = pk.partition("#")
    graph_id = rest.removeprefix("G#")
    if pk != graph_pk(tenant, graph_id) or not (sk == META or sk.startswith(TASK)):
        return None
    task_id = None if sk == META else sk.removeprefix(TASK)
    try:
        old, new = _image(record, "OldImage"), _image(record, "NewImage")
        if new is None or (old is not None and old["version"] == new["version"]):
            return None
        return Record(tenant, graph_id, step_of(task_id, old, new))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise Unreadable(_gap(tenant, graph_id, task_id, record)) from None


def _image(record: Mapping[str, Any], name: str) -> Item | None:
    image: Mapping[str, Any] = record["dynamodb"].get(name) or {}
    return from_wire({name: image[name] for name in TASK_NAMES if name in image})


def step_of(task_id: str | None, old: Item | None, new: Item) -> Step:
    """The step that an item stands at; what it was before tells who made it."""
    if task_id is None:
        state = GraphState(new["state"])
        return Step(
            task_id=None,
            version=int(new["version"]),
            state=state,
            at=int(new["updated_at"]),
            born=int(new["created_at"]),
            queue=str(new["queue"]),
        )
    return Step(
        task_id=task_id,
        version=int(new["version"]),
        state=shown_state(new),
        at=int(new["updated_at"]),
        born=int(new["created_at"]),
        agent=_who(old, new),
        epoch=int(new["epoch"]),
        role=str(new["role"]),
        queue=str(new["queue"]),
    )


def _who(old: Item | None, new: Item) -> str | None:
    """Who made the step: the history's new line says; where there is none, and where it is the service, nobody."""
    lines = new["history"]
    if old is not None and old["history"] == lines:
        return None
    _, _, agent = str(lines[-1]).split(" ", 2)
    return None if agent == _OF_SERVICE else agent


def _gap(tenant: str, graph_id: str, task_id: str | None, record: Mapping[str, Any]) -> Record | None:
    """The place of an unreadable record, if at least that can be read."""
    try:
        image = record["dynamodb"]["NewImage"]
        version, born = int(image["version"]["N"]), int(image["created_at"]["N"])
        at = round(float(record["dynamodb"]["ApproximateCreationDateTime"]) * 1000)
    except (KeyError, TypeError, ValueError):
        return None
    return Record(tenant, graph_id, Step(task_id=task_id, version=version, state=None, at=at, born=born))
