"""Turns a ticket into a task graph: triage, the specialists that its text needs, the reply, the review, the filing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date

from reading import Reading, Ticket, read, roles_for

from slate.domain.names import is_id
from slate.domain.tasks import TaskSpec

FILING = "filing"
"""The last task of a ticket, which no worker waits for: an agent is started for it."""
_URGENT, _USUAL, _IDLE = 8, 5, 2
_BUILDS_ON = {"refund": ("billing", "shipping")}
"""A refund rests on what was found about the charges and the parcel."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A ticket, and the graph that answers it."""

    ticket: Ticket
    graph_id: str
    goal: str
    tasks: tuple[TaskSpec, ...]


def plan(ticket: Ticket, as_of: date, lease_seconds: int) -> Plan:
    """The graph of a ticket; the same ticket gives the same graph.

    A task's id is its role. An edge is also the way of the data: a task reads the results of its parents.
    """
    reading = read(ticket, as_of)
    specialists = roles_for(reading)
    edges = {"triage": ()} | {
        role: ("triage", *(other for other in _BUILDS_ON.get(role, ()) if other in specialists)) for role in specialists
    }
    edges["reply"] = ("triage", *specialists)
    edges["review"] = ("triage", *specialists, "reply")
    edges[FILING] = ("review",)
    tasks = tuple(
        TaskSpec(
            task_id=role,
            title=f"{role.capitalize()} {ticket.ticket_id}"[:200],
            role=role,
            input={"text": ticket.text} if role == FILING else {"ticket": ticket.model_dump()},
            depends_on=parents,
            priority=_priority(reading),
            lease_seconds=lease_seconds,
            backoff_seconds=1,
        )
        for role, parents in edges.items()
    )
    return Plan(ticket, graph_id(ticket.ticket_id), f"Answer ticket {ticket.ticket_id}", tasks)


def graph_id(ticket_id: str) -> str:
    """The ticket's own id where that may be an id; a digest of it otherwise."""
    if is_id(ticket_id):
        return ticket_id
    return "ticket-" + hashlib.sha256(ticket_id.encode()).hexdigest()[:24]


def _priority(reading: Reading) -> int:
    if reading.spam:
        return _IDLE
    return _URGENT if reading.mood == "angry" else _USUAL
