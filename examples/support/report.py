"""What the run came to: the replies as JSON Lines, and a table of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from planner import Plan
from rich import box
from rich.table import Table
from rich.text import Text

from slate.domain.tasks import Task

Answer = dict[str, Any]


def answer_of(plan: Plan, tasks: Iterable[Task]) -> Answer:
    """A ticket, what was found, and the reply; null where a task did not end well."""
    found = {task.task_id: task for task in tasks}
    by_role = {spec.task_id: found[spec.task_id] for spec in plan.tasks}
    results: Mapping[str, Any] = {role: task.result or {} for role, task in by_role.items()}
    reading, reply = results["triage"], results["reply"]
    return {
        "ticket_id": plan.ticket.ticket_id,
        "graph_id": plan.graph_id,
        "language": reading.get("language"),
        "mood": reading.get("mood"),
        "set_aside": reading.get("set_aside"),
        "findings": [f for result in results.values() for f in result.get("findings", [])],
        "outcome": reply.get("outcome"),
        "reply": {"subject": reply.get("subject"), "text": reply.get("text")},
        "review": results["review"],
        "workers": {role: task.agent for role, task in by_role.items()},
    }


def write_answers(path: Path, answers: Sequence[Answer]) -> None:
    """One line a ticket."""
    lines = [json.dumps(answer, ensure_ascii=False) for answer in answers]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def table_of(answers: Sequence[Answer], limit: int = 60) -> Table:
    """A row a ticket, up to a limit."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("ticket", "language", "mood", "what was found", "outcome", "facts", "review"):
        table.add_column(title, overflow="fold")
    for answer in answers[:limit]:
        table.add_row(*map(_plain, _row(answer)))
    if len(answers) > limit:
        table.add_row("...", "", "", f"and {len(answers) - limit} more", "", "", "")
    return table


def _row(answer: Answer) -> tuple[str, ...]:
    review = answer["review"]
    return (
        answer["ticket_id"],
        answer["language"] or "?",
        answer["mood"] or "?",
        _findings(answer),
        (answer["outcome"] or "none").replace("_", " "),
        str(review.get("facts_checked", "?")),
        "approved" if review.get("approved") else "held back",
    )


def _findings(answer: Answer) -> str:
    said = [
        finding["code"].replace("_", " ") + (f" {finding['amount']}" if "amount" in finding else "")
        for finding in answer["findings"]
    ]
    said += ["commands set aside"] if answer["set_aside"] else []
    return ", ".join(dict.fromkeys(said))


def _plain(text: str) -> Text:
    # A ticket's id is a stranger's text: no markup, and nothing that moves the cursor.
    return Text("".join(char if char.isprintable() else "\ufffd" for char in text))
