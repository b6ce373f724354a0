"""What a graph leaves as an episode each time its tasks have all ended: its goal, what was done, and how it ended.

A message may come twice, or late: the episode's id follows from the graph and the number that its end has in the feed,
and its content from what was done by then. A graph that is gone, or whose person is, leaves none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from pydantic import JsonValue

from slate.domain.episodes import MAX_STEPS, Episode, EpisodeStep
from slate.domain.errors import Conflict, NotFound, SubjectErased
from slate.domain.feed import SKEW_MS
from slate.domain.graphs import GraphHead
from slate.domain.tasks import Task, TaskState
from slate.ports.episode_store import EpisodeStore
from slate.ports.graph_store import GraphStore
from slate.ports.task_store import TaskStore
from slate.ports.view_store import ViewStore

MAX_TASKS: Final = 10_000
"""Of a graph that are looked through."""
SHORT: Final = 200
"""Characters of an action, and of a result."""
MAX_BYTES: Final = 60_000
"""Of all steps: an episode stays in its item."""


class Finished:
    """Keeps episodes of graphs."""

    def __init__(self, graphs: GraphStore, tasks: TaskStore, views: ViewStore, episodes: EpisodeStore) -> None:
        self._graphs = graphs
        self._tasks = tasks
        self._views = views
        self._episodes = episodes

    def ended(self, message: Mapping[str, Any]) -> None:
        """One episode for each end, however often its message comes."""
        tenant, graph_id, at = str(message["tenant"]), str(message["graph_id"]), int(message["at"])
        with suppress(NotFound, SubjectErased, Conflict):  # another content: kept at the first try
            head = self._graphs.head(tenant, graph_id)
            if head.created_at > at + SKEW_MS:
                return  # a later graph of this id
            self._episodes.put(
                tenant,
                Episode(
                    episode_id=_id(head, int(message["seq"])),
                    task=head.goal,
                    steps=_steps(self._done(tenant, graph_id, at)),
                    outcome=str(message["state"]),
                    subject=head.subject,
                    source=f"graph {graph_id}",
                    created_at=at,
                ),
            )

    def _done(self, tenant: str, graph_id: str, at: int) -> list[Task]:
        """The first that were completed by then, in this order."""
        outlines = islice(self._views.outlines(tenant, graph_id), MAX_TASKS)
        done = [(each.completed_at, each.task_id) for each in outlines if each.state is TaskState.DONE]
        by_then = sorted((when, task_id) for when, task_id in done if when is not None and when <= at + SKEW_MS)
        return self._tasks.many(tenant, graph_id, [task_id for _, task_id in by_then[:MAX_STEPS]])


def _id(head: GraphHead, seq: int) -> str:
    """Of this end of this graph: ids of graphs that are gone are free again."""
    return f"e-{sha256(f'{head.graph_id}#{head.created_at}#{seq}'.encode()).hexdigest()[:32]}"


def _steps(tasks: Sequence[Task]) -> tuple[EpisodeStep, ...]:
    """As many as there is room for."""
    steps: list[EpisodeStep] = []
    left = MAX_BYTES
    for task in tasks:
        action = (task.action or "").strip() or task.title
        step = EpisodeStep(action=_short(action), result=_short_result(task.result))
        left -= len(json.dumps(step.model_dump(mode="json")))
        if left < 0:
            break
        steps.append(step)
    return tuple(steps)


def _short_result(result: JsonValue) -> JsonValue:
    """A small one as it is; of another its beginning."""
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return result if len(text) <= SHORT else _short(text)


def _short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
