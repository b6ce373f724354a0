"""The demo: a planner and four workers answer customer tickets over HTTP, and one worker is killed midway.

It starts a server of its own, plans a graph a ticket, lets four processes work, kills one of them while it holds a
task, follows the graphs' change feeds until every one has ended, and proves from the histories that each task was
completed exactly once. The last task of each ticket is done by an agent that an event starts, through a webhook.
Exit codes: 0 proved, 1 not proved, 2 nothing to work on, 130 interrupted.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import planner
from book import Book
from fleet import Fleet, ProcessDied
from following import Followers
from planner import FILING, Plan
from proof import Stint, Takeover, fault_of, stints, takeovers
from reading import Ticket
from report import Answer, answer_of, table_of, write_answers
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tickets import NoTickets, load
from timeline import Kill, draw

from slate.client import SlateClient
from slate.domain.access import Scope
from slate.domain.errors import SlateError
from slate.domain.events import EventType, FeedEntry
from slate.domain.tasks import Task, TaskState

HERE = Path(__file__).parent
# Each role is had by two workers or more, so whichever is killed, the others can finish.
WORKERS: Final = {
    "ada": ("triage", "billing", "account", "review"),
    "ben": ("billing", "shipping", "refund", "reply"),
    "cleo": ("shipping", "refund", "account", "reply"),
    "dev": ("triage", "reply", "review"),
}
AGENT: Final = "woken"
"""The agent that does not ask for work: an event starts it."""
LEASE_SECONDS: Final = 3
MIDWAY: Final = 0.4
STALL_SECONDS: Final = 60
"""The longest time in which nothing may happen."""
_LOG_WIDTH = 132
_SETTLE_SECONDS = 0.1
"""A request that left before a process was frozen has arrived after this."""


class Stalled(Exception):
    """Nothing happened for too long."""


class Watch:
    """Shows what the feeds tell until every graph has ended, and kills a worker midway, while it holds a task."""

    def __init__(
        self, fleet: Fleet, client: SlateClient, plans: Sequence[Plan], progress: Progress, *, kill: bool
    ) -> None:
        self._fleet = fleet
        self._client = client
        self._graphs = [plan.graph_id for plan in plans]
        self._progress = progress
        self._bar = progress.add_task("tasks", total=sum(len(plan.tasks) for plan in plans))
        self._to_kill_from = MIDWAY * sum(len(plan.tasks) for plan in plans) if kill else float("inf")
        self._claimed = 0
        self._moved = time.monotonic()
        self.kill: Kill | None = None
        self.killed_with: Task | None = None

    def until_ended(self, followers: Followers) -> None:
        """Return once all of the graphs have ended, well or not."""
        while not followers.ended:
            self._fleet.check()
            for entry in followers.heard(0.2):
                self._moved = time.monotonic()
                self._take(entry)
            if time.monotonic() - self._moved > STALL_SECONDS:
                raise Stalled(f"nothing has happened for {STALL_SECONDS} seconds, and not every graph has ended")

    def _take(self, entry: FeedEntry) -> None:
        if entry.type is EventType.TASK_COMPLETED:
            self._progress.advance(self._bar)
        if entry.type is EventType.TASK_CLAIMED:
            self._claimed += 1
            if self.kill is None and self._claimed >= self._to_kill_from and entry.agent in WORKERS:
                self._kill_while_it_holds(entry.agent)

    def _kill_while_it_holds(self, worker: str) -> None:
        """Kill a worker, if it holds a task; it is frozen first, so that the answer stays true."""
        self._fleet.freeze(worker)
        time.sleep(_SETTLE_SECONDS)
        running = (task for graph in self._graphs for task in self._client.tasks(graph, state=TaskState.RUNNING))
        held = next((task for task in running if task.agent == worker), None)
        if held is None:
            self._fleet.thaw(worker)
            return
        self._fleet.kill(worker)
        self.kill, self.killed_with = Kill(worker, _now()), held
        self._progress.console.print(f"killed {worker} while it held {held.graph_id}/{held.task_id}", markup=False)


def run(fleet: Fleet, plans: Sequence[Plan], out: Path, console: Console, options: argparse.Namespace) -> int:
    """Let the workers answer all tickets; 0 when the histories prove that each task was completed exactly once."""
    started = time.monotonic()
    url, key = fleet.serve()
    with SlateClient(url, key) as admin:
        scopes = (Scope.TASKS_READ, Scope.TASKS_WRITE)
        for name, roles in WORKERS.items():
            made = admin.create_key(name, scopes, roles=roles)
            fleet.hire(name, roles, url=url, key=made.key, pace=options.pace)
        made = admin.create_key(AGENT, scopes, roles=[FILING])
        fleet.set_up_agent(AGENT, FILING, url=url, key=made.key, subscribe=partial(_subscribe, admin))
        planning_key = admin.create_key("planner", scopes).key
        with _progress(console) as progress, SlateClient(url, planning_key) as client:
            watch = Watch(fleet, client, plans, progress, kill=options.kill)
            for plan in plans:
                client.create_graph(plan.goal, plan.tasks, graph_id=plan.graph_id)
            with Followers(client, [plan.graph_id for plan in plans]) as followers:
                watch.until_ended(followers)
            tasks = {plan.graph_id: list(client.tasks(plan.graph_id)) for plan in plans}
            found = stints((row for plan in plans for row in client.timeline(plan.graph_id)), _now())
    seconds = time.monotonic() - started
    return conclude(plans, tasks, found, watch, out, console, expect_kill=options.kill, seconds=seconds)


def _subscribe(admin: SlateClient, address: str) -> str:
    """Have what becomes ready told to an address; answers the secret of the webhook."""
    return admin.webhooks.create(address, ["task.ready"]).secret


def answer(tickets: Sequence[Ticket], options: argparse.Namespace) -> int:
    """Plan the tickets and have them worked on by processes of this run; answers the exit code."""
    console = _console()
    as_of = Book.load().policy.as_of
    plans = [planner.plan(ticket, as_of, LEASE_SECONDS) for ticket in tickets]
    tasks = sum(len(plan.tasks) for plan in plans)
    console.print(f"{len(plans)} tickets, {tasks} tasks, {len(WORKERS)} workers", highlight=False)
    with Fleet() as fleet:
        return run(fleet, plans, options.out, console, options)


def conclude(
    plans: Sequence[Plan],
    tasks: dict[str, list[Task]],
    found: Sequence[Stint],
    watch: Watch,
    out: Path,
    console: Console,
    *,
    expect_kill: bool,
    seconds: float,
) -> int:
    """Write the files, show what came of it, and judge."""
    everything = [task for row in tasks.values() for task in row]
    taken = takeovers(found)
    answers = [answer_of(plan, tasks[plan.graph_id]) for plan in plans]
    write_answers(out / "results.jsonl", answers)
    (out / "timeline.html").write_text(draw(found, [*WORKERS, AGENT], taken, watch.kill), encoding="utf-8")
    console.print(table_of(answers))
    faults = _faults(plans, everything) + (_faults_of_kill(watch, taken) if expect_kill else [])
    for line in _summary(found, taken, watch, answers, seconds):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    written = f"written: {out / 'timeline.html'}, {out / 'results.jsonl'}"
    console.print(written, markup=False, highlight=False, soft_wrap=True)
    for fault in faults[:10]:
        console.print(f"NOT PROVED: {fault}", style="bold red", markup=False)
    if faults:
        return 1
    console.print(
        f"proved: each of {len(everything)} tasks was completed exactly once, under the epoch of its last claim",
        style="bold green",
        highlight=False,
    )
    return 0


def _summary(
    found: Sequence[Stint], taken: Sequence[Takeover], watch: Watch, answers: Sequence[Answer], seconds: float
) -> list[str]:
    done = [stint for stint in found if stint.ended_by == "completed"]
    each = ", ".join(f"{name} {sum(stint.agent == name for stint in done)}" for name in (*WORKERS, AGENT))
    approved = sum(bool(answer["review"].get("approved")) for answer in answers)
    lines = [
        f"{len(answers)} tickets answered, {approved} replies approved, in {seconds:.1f} s",
        f"{len(done)} tasks completed ({each}) from {len(found)} claims",
    ]
    for change in taken:
        lost, won = change.lost, change.won
        how = "was killed with" if watch.kill and watch.kill.worker == lost.agent else "lost"
        lines.append(
            f"{lost.agent} {how} {lost.graph_id}/{lost.task_id} under epoch {lost.epoch}; {won.agent} claimed it "
            f"under epoch {won.epoch}, {(won.start - lost.start) / 1000:.1f} s after the first: {won.ended_by}"
        )
    return lines


def _faults(plans: Sequence[Plan], everything: Sequence[Task]) -> list[str]:
    faults = [fault for task in everything if (fault := fault_of(task)) is not None]
    planned = sum(len(plan.tasks) for plan in plans)
    return faults if len(everything) == planned else [*faults, f"{len(everything)} tasks are there, not {planned}"]


def _faults_of_kill(watch: Watch, taken: Sequence[Takeover]) -> list[str]:
    held = watch.killed_with
    if held is None:
        return ["no worker was killed: none was caught while it held a task; a larger --pace helps"]
    finished = [
        change
        for change in taken
        if (change.lost.graph_id, change.lost.task_id, change.lost.epoch) == (held.graph_id, held.task_id, held.epoch)
        and change.won.agent != held.agent
    ]
    return [] if finished else [f"nobody took over {held.graph_id}/{held.task_id} from {held.agent}"]


def _console() -> Console:
    console = Console()
    # Where nobody can widen a window, such as in a log, the table takes the room it needs.
    return console if console.is_terminal else Console(width=_LOG_WIDTH)


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--input", type=Path, default=HERE / "tickets.jsonl", help="tickets, one JSON object a line")
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="where the files go")
    parser.add_argument("--pace", type=float, default=0.2, help="seconds a task takes at least, as with a model")
    parser.add_argument("--no-kill", dest="kill", action="store_false", help="let every worker live")
    return parser.parse_args(arguments)


def _leave(signum: int, _: object) -> NoReturn:
    sys.exit(128 + signum)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; answers the exit code."""
    options = _options(arguments)
    errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, _leave)  # so that the processes are ended then as well
    try:
        tickets, bad = load(options.input)
        options.out.mkdir(parents=True, exist_ok=True)
        for line in bad:
            errors.print(f"{options.input}:{line.number}: left out: {line.reason}")
        return answer(tickets, options)
    except KeyboardInterrupt:
        errors.print("interrupted; every process has been ended")
        return 130
    except (NoTickets, FileExistsError, PermissionError) as error:
        errors.print(f"error: {error}")
        return 2
    except (ProcessDied, Stalled, SlateError, OSError) as error:
        errors.print(f"error: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
