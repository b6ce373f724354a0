"""The routes that show a graph as a whole."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from pydantic import Field

from slate.contract.views import TimelinePage
from slate.domain.access import Principal, Scope
from slate.domain.critical_path import CriticalPath, PathBy
from slate.service.tasks.viewing import Viewing
from slate_functions.http.dependencies import Paging, PathId, Query
from slate_functions.http.routes import get

_SPAN: Final = {
    "agent": "billing-agent",
    "epoch": 1,
    "start": "2026-11-30T12:00:00.000Z",
    "end": "2026-11-30T12:00:41.500Z",
    "ended_by": "completed",
}
_TASK: Final = {"task_id": "refund", "role": "billing-specialist", "state": "DONE"}
_PAGE: Final[dict[str, Any]] = {
    "items": [{"graph_id": "ticket-1042", **_TASK, "spans": [_SPAN]}],
    "next_cursor": None,
}
_MEASURED: Final = {**_TASK, "worked_ms": 41_500, "remaining_ms": 0, "basis": "measured"}
_AHEAD: Final = {
    "task_id": "reply",
    "role": "writer",
    "state": "READY",
    "worked_ms": 0,
    "remaining_ms": 12_000,
    "basis": "estimated",
}
_PATH: Final[dict[str, Any]] = {
    "graph_id": "ticket-1042",
    "by": "total",
    "at": "2026-11-30T12:01:00.000Z",
    "worked_ms": 41_500,
    "remaining_ms": 12_000,
    "tasks": [_MEASURED, _AHEAD],
}


class PathQuery(Query):
    """What a chain is measured by."""

    by: PathBy = Field(default=PathBy.TOTAL, description="all that it takes, or what is still to be done")


class ViewRoutes:
    """Views of a graph: its critical path, and who worked on what."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing

    @get(
        "/v1/graphs/{graph_id}/critical-path",
        scope=Scope.TASKS_READ,
        refusals=(HTTPStatus.REQUEST_ENTITY_TOO_LARGE,),
        gives=_PATH,
    )
    def get_critical_path(self, principal: Principal, graph_id: PathId, query: PathQuery) -> CriticalPath:
        """Find the chain of tasks that takes longest.

        Ended tasks weigh what was worked on them, others what they are estimated to take. `by=remaining` weighs only
        what is still to be done.
        """
        return self._viewing.critical_path(principal, graph_id, query.by)

    @get("/v1/graphs/{graph_id}/timeline", scope=Scope.TASKS_READ, gives=_PAGE)
    def get_timeline(self, principal: Principal, graph_id: PathId, query: Paging) -> TimelinePage:
        """List who worked on what, and when: each task with its spans of work, from its history."""
        return self._viewing.timeline(principal, graph_id, query.limit, query.cursor)
