"""How a graph too large for one call is cut."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client_stub import Stub, answer, client_over, graph_json
from slate.client.parts import PART_BYTES, TASK_BYTES, cut, specs_of
from slate.domain.errors import Cycle, Invalid, TooLarge, Unavailable
from slate.domain.tasks import TaskSpec

SIZES = st.integers(1, 30) | st.sampled_from([999, 1_000, 1_001, 2_500])


@st.composite
def graphs(draw, counts=SIZES):
    """Up to 2,500 tasks, some of them large, with edges that run from lower to higher numbers."""
    count = draw(counts)
    rng = random.Random(draw(st.integers(0, 2**32)))  # noqa: S311  # test data
    large = draw(st.sampled_from([0, 20_000, 600_000]))
    names = [f"t{n}" for n in range(count)]
    rng.shuffle(names)
    specs = []
    for n, name in enumerate(names):
        parents = sorted({names[rng.randrange(n)] for _ in range(rng.randrange(4))}) if n else []
        size = rng.randrange(large) if large and rng.random() < 10_000 / large else 0
        specs.append(TaskSpec(task_id=name, title="é", role="r", depends_on=tuple(parents), input="ü" * (size // 2)))
    rng.shuffle(specs)
    return specs


def parents_of(task):
    return [parent["task_id"] for parent in task.get("depends_on", [])]


@given(graphs())
@settings(max_examples=25, deadline=None)
def test_each_task_travels_once_after_or_with_its_parents_and_below_the_limits(specs):
    seen: set[str] = set()
    for part in cut(specs):
        here = {task["task_id"] for task in part}
        assert len(here) == len(part) <= 1_000
        assert not here & seen
        seen |= here
        assert all(parent in seen for task in part for parent in parents_of(task))
        assert len(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()) <= PART_BYTES + 2
    assert seen == {spec.task_id for spec in specs}


@given(graphs(counts=st.integers(1_001, 2_500)), st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_same_tasks_give_the_same_parts_in_whatever_order_they_come(specs, rng):
    parts = cut(specs)
    again = list(specs)
    rng.shuffle(again)
    assert cut(again) == parts
    assert len(parts) > 1


@given(graphs())
@settings(max_examples=10, deadline=None)
def test_what_is_sent_means_what_was_given(specs):
    sent = {task["task_id"]: TaskSpec.model_validate(task) for part in cut(specs) for task in part}
    assert sent == {spec.task_id: spec for spec in specs}


def test_a_small_graph_is_one_part_in_the_order_given():
    specs = [TaskSpec(task_id=t, title="x", role="r") for t in "zay"]
    assert [[task["task_id"] for task in part] for part in cut(specs)] == [["z", "a", "y"]]


def test_no_tasks_are_one_empty_part():
    assert cut([]) == [[]]


def test_a_task_that_fits_in_no_body_is_named_and_one_just_below_travels_alone():
    huge = TaskSpec(task_id="huge", title="x", role="r", input="x" * TASK_BYTES)
    with pytest.raises(TooLarge, match="'huge'"):
        cut([huge])
    large = TaskSpec(task_id="large", title="x", role="r", input="x" * (TASK_BYTES - 100))
    small = TaskSpec(task_id="small", title="x", role="r", depends_on=("large",))
    assert [[task["task_id"] for task in part] for part in cut([small, large])] == [["large"], ["small"]]


def test_a_task_from_a_claim_is_sent_as_its_spec_alone():
    fields = {"task_id": "t", "title": "x", "role": "r", "priority": 7}
    assert cut(specs_of([fields])) == [[fields]]


def test_every_wrong_field_of_every_task_is_named():
    with pytest.raises(Invalid) as caught:
        specs_of([{"task_id": "a", "title": "x", "role": "r"}, {"task_id": "#", "role": "r", "hue": 1}])
    fields = {error["field"] for error in caught.value.data["errors"]}
    assert fields == {"tasks[1].task_id", "tasks[1].title", "tasks[1].hue"}


def many(count=2_500):
    return [
        {"task_id": f"t{n}", "title": "x", "role": "r", "depends_on": [f"t{n - 1}"] if n % 7 else []}
        for n in range(count)
    ]


class PartsServer:
    """Keeps a graph's tasks as a server does, and loses the answer of the n-th call for good."""

    def __init__(self, lose=None):
        self.tasks = {}
        self.state = None
        self.calls = 0
        self.lose = lose

    def __call__(self, request):
        self.calls += 1
        body = json.loads(request.content)
        for task in body["tasks"]:
            assert self.tasks.setdefault(task["task_id"], task) == task
            assert set(parents_of(task)) <= set(self.tasks)
        if not body.get("more"):
            self.state = "ACTIVE"
        if self.calls == self.lose:
            raise KeyboardInterrupt
        graph = graph_json("g", state=self.state or "CREATING")
        return answer({"graph": graph, "added": len(body["tasks"])} if request.url.path.endswith("/tasks") else graph)


@pytest.mark.parametrize("lose", [1, 2, 3])
def test_the_same_call_after_a_crash_at_any_part_finishes_the_graph(lose):
    server = PartsServer(lose)
    with pytest.raises(KeyboardInterrupt):
        client_over(server).create_graph("goal", many(), graph_id="g")
    server.lose = None
    assert client_over(server).create_graph("goal", reversed(many()), graph_id="g").state == "ACTIVE"
    assert len(server.tasks) == 2_500


def test_progress_is_told_after_each_part():
    told = []
    client_over(PartsServer()).create_graph("goal", many(), graph_id="g", on_progress=lambda *now: told.append(now))
    assert told == [(1_000, 2_500), (2_000, 2_500), (2_500, 2_500)]


def test_only_the_last_part_says_that_nothing_follows():
    bodies = []
    server = PartsServer()

    def keep(request):
        bodies.append(json.loads(request.content))
        return server(request)

    client_over(keep).create_graph("goal", many(), graph_id="g")
    assert [body["more"] for body in bodies] == [True, True, False]
    assert [("goal" in body, body.get("graph_id")) for body in bodies] == [(True, "g"), (False, None), (False, None)]


def test_a_graph_gets_an_id_before_it_is_sent_so_that_a_repeat_makes_no_second():
    stub = Stub([503, answer(graph_json("id-1"))])
    stub.client().create_graph("goal", [])
    assert [body["graph_id"] for body in stub.bodies()] == ["id-1", "id-1"]


@pytest.mark.parametrize(
    ("tasks", "error"),
    [
        ([{"task_id": "a", "title": "x", "role": "r", "depends_on": ["nobody"]}], Invalid),
        ([{"task_id": "a", "title": "x", "role": "r"}] * 2, Invalid),
        ([{"task_id": t, "title": "x", "role": "r", "depends_on": [p]} for t, p in ("ab", "ba")], Cycle),
    ],
)
def test_tasks_that_make_no_graph_are_refused_before_any_call(tasks, error):
    stub = Stub([])
    with pytest.raises(error):
        stub.client().create_graph("goal", tasks)
    assert stub.requests == []


def test_added_tasks_may_hang_on_tasks_that_are_there_already():
    stub = Stub([answer({"graph": graph_json("g"), "added": 1})])
    stub.client().add_tasks("g", [{"task_id": "b", "title": "x", "role": "r", "depends_on": ["a"]}])
    assert stub.bodies() == [
        {"tasks": [{"task_id": "b", "title": "x", "role": "r", "depends_on": [{"task_id": "a"}]}], "more": False}
    ]


def test_a_part_that_is_given_up_leaves_the_error_to_the_caller():
    stub = Stub([answer(graph_json("g", state="CREATING")), *[503] * 9])
    with pytest.raises(Unavailable):
        stub.client().create_graph("goal", many(1_001), graph_id="g")
