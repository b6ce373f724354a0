"""The command and the client against a server that the command started."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from slate.client import Ask, Done, SlateClient, Worker
from slate.domain.errors import (
    AlreadyTerminal,
    Conflict,
    LeaseLost,
    NotFound,
    RoleMissing,
    ScopeMissing,
    Unauthenticated,
)
from slate.domain.tasks import TaskState
from slate_functions.local.cli import main


@pytest.fixture(scope="module")
def keys_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    path = folder / "keys.json"
    command = [sys.executable, "-m", "slate_functions.local.cli", "serve", "--port", "0", "--write-keys", str(path)]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603  # our own command
    try:
        deadline = time.monotonic() + 60
        while not path.exists():
            assert server.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield path
    finally:
        server.terminate()
        assert server.wait(20) == 0


@pytest.fixture
def client(keys_file):
    written = json.loads(keys_file.read_text())
    with SlateClient(written["url"], written["keys"]["acme"]) as client:
        yield client


@pytest.fixture
def slate(keys_file):
    return lambda *arguments: CliRunner().invoke(main, [*arguments, "--keys-file", str(keys_file)])


def chain(*names, role="writer"):
    return [
        {"task_id": name, "title": f"Write {name}", "role": role, "depends_on": list(names[max(n - 1, 0) : n])}
        for n, name in enumerate(names)
    ]


def test_a_key_made_by_the_command_opens_what_it_was_made_for(slate, keys_file):
    made = slate("keys", "create", "ada", "--scope", "tasks:read", "--scope", "tasks:write", "--role", "writer")
    key = made.stdout.strip()
    assert (made.exit_code, key in made.stderr) == (0, False)
    with SlateClient(json.loads(keys_file.read_text())["url"], key) as ada:
        assert ada.claim(["writer"], queue="nobodys") == ()
        with pytest.raises(RoleMissing):
            ada.claim(["painter"])
        with pytest.raises(ScopeMissing):
            ada.create_key("eve", ["admin"])


def test_a_revoked_key_opens_nothing(slate, client, keys_file):
    key = slate("keys", "create", "bea", "--scope", "tasks:read").stdout.strip()
    (key_id,) = [known.key_id for known in client.keys() if known.agent == "bea"]  # noqa: SIM118  # no dict
    assert key_id in slate("keys", "list").stdout
    # Not used before it is revoked, since a server may honour a key that it has just seen for a minute more.
    assert slate("keys", "revoke", key_id).exit_code == 0
    url = json.loads(keys_file.read_text())["url"]
    with SlateClient(url, key) as bea, pytest.raises(Unauthenticated):
        bea.graph("any")
    refused = CliRunner().invoke(main, ["graph", "list", "--url", url, "--key", key])
    assert (refused.exit_code, "slate keys create" in refused.stderr) == (1, True)


def test_a_graph_is_shown_until_it_has_ended_and_exported_in_every_format(slate, client, tmp_path):
    client.create_graph("show me", chain("first", "second"), graph_id="shown", queue="shown")
    before = slate("graph", "show", "shown", "--once").stdout
    assert all(word in before for word in ("show me", "0 of 2 done", "first", "READY", "second", "BLOCKED"))
    Worker(client, ["writer"], lambda _: Done("wrote it"), queue="shown").run_once()
    Worker(client, ["writer"], lambda _: Done("wrote it"), queue="shown").run_once()
    after = slate("graph", "show", "shown")
    assert (after.exit_code, "2 of 2 done" in after.stdout, "wrote it" in after.stdout) == (0, True, True)
    assert "t0 --> t1" in slate("graph", "export", "shown", "--format", "mermaid").stdout
    assert '"first" -> "second";' in slate("graph", "export", "shown", "--format", "dot").stdout
    out = tmp_path / "shown.json"
    assert slate("graph", "export", "shown", "--format", "json", "--out", str(out)).stdout == ""
    assert [task["state"] for task in json.loads(out.read_text())["tasks"]] == ["DONE", "DONE"]
    assert "show me" in slate("graph", "list").stdout


def test_what_is_refused_is_one_line_and_exit_code_1(slate, tmp_path):
    absent = slate("graph", "show", "absent")
    assert (absent.exit_code, len(absent.stderr.strip().splitlines())) == (1, 1)
    assert "slate graph list" in absent.stderr
    assert slate("keys", "revoke", "absent").exit_code == 1
    nowhere = slate("graph", "export", "shown", "--format", "dot", "--out", str(tmp_path / "no" / "where"))
    assert (nowhere.exit_code, len(nowhere.stderr.strip().splitlines())) == (1, 1)


def test_every_step_of_a_task_can_be_taken_by_the_client(client):
    client.create_graph("all steps", chain("a", "b", "c"), graph_id="steps", queue="steps")
    (claim,) = client.claim(["writer"], queue="steps", lease_seconds=30)
    assert client.heartbeat(claim, progress={"pages": 1}).cancel_requested is False
    assert client.wait(claim, "how long?").state is TaskState.WAITING
    with pytest.raises(LeaseLost):
        client.complete(claim, "too late")
    asked = client.task("steps", "a")
    assert client.resume("steps", "a", "two pages", epoch=asked.epoch).answer == "two pages"
    (claim,) = client.claim(["writer"], queue="steps")
    assert client.release(claim).state is TaskState.READY
    (claim,) = client.claim(["writer"], queue="steps")
    assert client.complete(claim, "wrote it", {"pages": 2}, artifacts=["a.txt"]).unlocked == ("b",)
    (claim,) = client.claim(["writer"], queue="steps")
    assert client.fail(claim, "no ink", retryable=False).state is TaskState.FAILED
    assert client.retry("steps", "b", cascade=True).state is TaskState.READY
    assert client.cancel_task("steps", "b").state is TaskState.CANCELLED
    assert client.cancel_task("steps", "b").state is TaskState.CANCELLED, "its own repeat is answered the same"
    with pytest.raises(AlreadyTerminal):
        client.cancel_task("steps", "a")
    client.add_tasks("steps", [{"task_id": "d", "title": "d", "role": "writer", "depends_on": ["a"]}])
    assert {task.task_id for task in client.tasks("steps", state=TaskState.READY)} == {"d"}
    assert client.cancel_graph("steps").graph_id == "steps"
    client.delete_graph("steps")
    with pytest.raises(NotFound):
        client.graph("steps")
    assert client.health()


def test_a_graph_is_watched_until_it_has_ended(slate, client, monkeypatch):
    client.create_graph("watched", chain("a", "b"), graph_id="watched", queue="watched")
    worker = Worker(client, ["writer"], lambda _: Done("wrote it"), queue="watched")
    assert [worker.run_once() for _ in range(3)] == [True, True, False]
    shown = slate("graph", "watch", "watched")
    lines = shown.stdout.splitlines()
    assert (shown.exit_code, [line.split()[0] for line in lines]) == (0, [str(n) for n in range(1, 10)])
    assert [line.split()[2:4] for line in lines[-2:]] == [["task.completed", "b"], ["graph.completed", "watched"]]
    told = slate("graph", "watch", "watched", "--json", "--after", "7").stdout.splitlines()
    assert [json.loads(line)["state"] for line in told] == ["DONE", "DONE"]
    monkeypatch.setattr("slate_functions.local.cli.FOLLOW_SECONDS", 0.05)
    after_the_end = slate("graph", "watch", "watched", "--after", "9")
    assert (after_the_end.exit_code, after_the_end.stdout) == (0, "")
    assert slate("graph", "watch", "nowhere").exit_code == 1


def test_a_follower_is_told_of_a_change_as_it_happens(client):
    client.create_graph("live", chain("a"), graph_id="live", queue="live")
    after = 0
    while (page := client.events("live", after=after, wait_seconds=10)).next_after != 2:
        after = page.next_after
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(client.events, "live", after=2, wait_seconds=10)
        client.claim(["writer"], queue="live")
        (claimed,) = coming.result(10).items
    assert (claimed.seq, claimed.task_id, claimed.state) == (3, "a", "RUNNING")


def test_a_question_of_a_worker_comes_back_with_its_answer(client):
    client.create_graph("ask", chain("a"), graph_id="ask", queue="ask")
    worker = Worker(
        client, ["writer"], lambda c: Done("heard", c.task.answer) if c.task.answer else Ask("which?"), queue="ask"
    )
    worker.run_once()
    client.resume("ask", "a", "the blue one")
    worker.run_once()
    assert client.task("ask", "a").result == "the blue one"


def test_a_graph_in_parts_is_whole_and_the_same_call_again_changes_nothing(client):
    tasks = chain(*(f"t{n}" for n in range(1_100)))
    told = []
    made = client.create_graph("long", tasks, graph_id="long", queue="long", on_progress=lambda *now: told.append(now))
    assert told == [(1_000, 1_100), (1_100, 1_100)]
    again = client.create_graph("long", reversed(tasks), graph_id="long", queue="long")
    assert made.state == again.state == "ACTIVE"
    assert len(list(client.tasks("long"))) == 1_100
    with pytest.raises(Conflict):
        client.create_graph("another goal", tasks, graph_id="long", queue="long")


def test_decay_shows_what_would_go_and_why_and_changes_nothing(client, slate):
    fact = client.facts.state("customer-5", "Once saw a blue heron", "other").fact_id
    rows = [json.loads(line) for line in slate("decay", "--dry-run", "--within", "61", "--json").stdout.splitlines()]
    (row,) = [row for row in rows if row["fact_id"] == fact]
    assert (row["state"], row["rule"], row["numbers"]["half_life_days"]) == ("limbo", "decay", 60)
    shown = slate("decay", "--dry-run", "--within", "61").stdout
    assert fact in shown
    assert "heron" not in shown
    assert [fact.statement for fact in client.facts.list("customer-5")] == ["Once saw a blue heron"]


def test_a_person_is_exported_as_lines_and_as_a_page(slate, client, tmp_path):
    client.facts.state("u-export", "Plays the cello", "other")
    html, out = tmp_path / "report.html", tmp_path / "lines.ndjson"
    made = slate("export", "u-export", "--html", str(html), "--out", str(out))
    assert (made.exit_code, made.stdout) == (0, "")
    assert "1 fact" in made.stderr
    assert "Plays the cello" in html.read_text()
    assert [json.loads(line)["kind"] for line in out.read_text().splitlines()] == ["export", "fact", "end"]
    assert out.read_text().splitlines()[1] in slate("export", "u-export").stdout


def test_what_was_done_is_shown_and_a_day_of_it_verified(slate, client):
    client.facts.state("u-audit", "Plays the cello", "other")
    shown = slate("audit", "show", "--subject", "u-audit")
    assert (shown.exit_code, "cello" in shown.stdout) == (0, False)
    assert "POST /v1/subjects/{subject}/facts" in shown.stdout
    whole = slate("audit", "verify", next(client.audit.entries(subject="u-audit")).day)
    assert whole.exit_code == 0
    assert "is whole" in whole.stderr
    assert slate("audit", "show", "--from", "yesterday").exit_code == 2
