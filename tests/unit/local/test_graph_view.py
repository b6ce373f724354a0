"""Graphs and keys on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from client_stub import AT, graph_json, task_json
from slate.domain.access import ApiKey
from slate.domain.graphs import Graph
from slate.domain.tasks import Task
from slate_functions.local.graph_view import list_of, view_of
from slate_functions.local.keys_view import keys_of


def task(task_id, *parents, **more):
    return Task.model_validate(task_json(task_id, depends_on=list(parents), **more))


def graph(**more):
    return Graph.model_validate(graph_json("g", **more))


def shown(view, width=140):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(view)
    return console.file.getvalue()


def line_with(text, view):
    return next(line for line in shown(view).splitlines() if text in line)


def test_the_head_says_how_much_is_done_and_what_is_not():
    text = shown(view_of(graph(goal="ship it", counts={"done": 2, "running": 1, "failed": 1}), []))
    assert "ship it" in text
    assert "2 of 4 done, 1 running, 1 failed" in text


def test_the_table_begins_with_what_needs_a_look():
    states = ["DONE", "BLOCKED", "FAILED", "READY", "RUNNING"]
    text = shown(view_of(graph(), [task(f"is-{state}", state=state) for state in states]))
    at = [text.index(f"is-{state}") for state in ("RUNNING", "FAILED", "READY", "BLOCKED", "DONE")]
    assert at == sorted(at)


def test_a_row_says_why_its_task_does_not_go_on():
    tasks = [
        task("blocked", state="BLOCKED", waiting_on=["a", "approval"]),
        task("waiting", state="WAITING", question="refund 40 EUR?"),
        task("failed", state="FAILED", error={"message": "no such order"}),
        task("delayed", state="DELAYED", due_at=AT),
    ]
    view = view_of(graph(), tasks)
    assert "a, approval" in line_with("blocked", view)
    assert "refund 40 EUR?" in line_with("waiting", view)
    assert "no such order" in line_with("failed", view)
    assert AT in line_with("delayed", view)


def test_the_tree_hangs_a_task_under_its_first_parent_and_names_the_others():
    text = shown(view_of(graph(), [task("a"), task("b"), task("c", "a", "b")]))
    tree = text[text.index("tasks") :].splitlines()
    (leaf,) = [line for line in tree if "c  " in line]
    assert "also after b" in leaf
    assert leaf.index("c  ") > next(line for line in tree if "a  " in line).index("a  ")


def test_of_many_tasks_as_many_as_fit_are_shown_and_the_rest_counted():
    text = shown(view_of(graph(), [task(f"t{n:05}") for n in range(5_000)], limit=10))
    assert text.count("and 4990 more") == 2
    assert len(text.splitlines()) < 40


def test_a_chain_longer_than_the_stack_can_be_shown():
    chain = [task("t0"), *(task(f"t{n}", f"t{n - 1}") for n in range(1, 3_000))]
    assert "t5" in shown(view_of(graph(), chain, limit=10))


def test_a_strangers_text_is_neither_markup_nor_a_command_to_the_terminal():
    text = shown(view_of(graph(goal="[bold]\x1b[2Jgoal"), [task("a", title="[red]x[/red]\x1b]0;t\x07", agent="[b]")]))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]x[/red]" in text
    assert "[bold]" in text
    assert "[b]" in text


def test_graphs_and_keys_are_listed_with_what_tells_them_apart():
    text = shown(list_of([graph(counts={"done": 3, "ready": 4, "cancelled": 1})]))
    assert all(word in text for word in ("g", "ACTIVE", "3", "4", "1", AT))
    key = {"key_id": "k1", "agent": "[i]ada", "scopes": ["tasks:read"], "created_at": AT, "created_by": "admin"}
    rows = shown(keys_of([ApiKey.model_validate({**key, "revoked_at": AT})]))
    assert all(word in rows for word in ("k1", "[i]ada", "tasks:read", "any", AT))
