"""Graphs as text for other tools."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_stub import graph_json, task_json
from slate.domain.graphs import Graph
from slate.domain.tasks import Task
from slate_functions.local.graph_export import Format, export

GRAPH = Graph.model_validate(graph_json("g"))
HOSTILE = '"] --> x["<script>alert(1)</script>`#quot;\\\n%%{init: {}}%% click t0 "javascript:1" & é 日本'


def task(task_id, *parents, title="x", state="READY"):
    return Task.model_validate(task_json(task_id, title=title, state=state, depends_on=list(parents)))


def test_mermaid_draws_a_box_a_task_and_an_edge_a_dependency():
    tasks = [
        task("a", state="DONE"),
        task("b", "a", {"task_id": "gone"}),
        task("c", {"task_id": "a", "kind": "completion"}),
    ]
    lines = export(GRAPH, tasks, Format.MERMAID).splitlines()
    assert '  t0["a<br/>x<br/>DONE"]:::done' in lines
    assert [line.strip() for line in lines if "t0 " in line and ">" in line] == ["t0 --> t1", "t0 -.-> t2"]


@given(st.text(min_size=1, max_size=60) | st.just(HOSTILE))
def test_mermaid_reads_a_title_as_text_alone(title):
    tasks = [Task.model_construct(**{**dict(task("a")), "title": title})]
    lines = export(GRAPH, tasks, Format.MERMAID).splitlines()
    boxes = [line for line in lines if line.startswith("  t")]
    assert len(boxes) == 1
    label = re.fullmatch(r'  t0\["a<br/>(.*)<br/>READY"\]:::ready', boxes[0])
    assert label is not None
    assert not set(re.sub(r"#\d+;", "", label[1])) & set('"<>`#;&\\[]{}|%\n')


def test_mermaid_entities_give_the_title_back():
    text = export(GRAPH, [task("a", title=HOSTILE)], Format.MERMAID)
    label = re.search(r"a<br/>(.*)<br/>READY", text)[1]
    assert re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label) == " ".join(HOSTILE.split())


def test_dot_draws_dashed_what_any_end_meets():
    text = export(GRAPH, [task("a"), task("b", "a"), task("c", {"task_id": "a", "kind": "completion"})], Format.DOT)
    assert '  "a" -> "b";' in text.splitlines()
    assert '  "a" -> "c" [style=dashed];' in text.splitlines()


@given(st.text(min_size=1, max_size=60) | st.just(HOSTILE))
def test_dot_reads_a_title_as_text_alone(title):
    tasks = [Task.model_construct(**{**dict(task("a")), "title": title})]
    (line,) = [line for line in export(GRAPH, tasks, Format.DOT).splitlines() if "label=" in line]
    quoted = re.fullmatch(r'  "a" \[label="((?:[^"\\]|\\.)*)", fillcolor="#[0-9a-f]{6}"\];', line)
    assert quoted is not None
    assert re.sub(r"\\\\|\\\"", "", quoted[1]).count("\\") == 2, "only the two breaks between id, title and state"


def test_json_is_the_graph_and_its_tasks_as_the_api_answers_them():
    content = json.loads(export(GRAPH, [task("a"), task("b", "a")], Format.JSON))
    assert content["graph"]["created_at"] == "2026-11-30T12:00:00.000Z"
    assert [Task.model_validate(t) for t in content["tasks"]] == [task("a"), task("b", "a")]


@pytest.mark.parametrize("form", Format)
def test_a_graph_without_tasks_can_be_written(form):
    assert "g" in export(GRAPH, [], form)
