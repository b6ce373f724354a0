"""One worker process: claims tasks of its roles over HTTP, and does them; with none to do it waits.

The url and the key come from SLATE_URL and SLATE_KEY. It stops, after the task at hand, once its standard input ends:
so it never outlives the process that started it.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading

from book import Book
from pydantic import TypeAdapter
from reading import Ticket
from work import ROLES, Result

from slate.client import Context, Done, Handler, Outcome, SlateClient, Worker

WAIT_SECONDS = 5
_INPUT = TypeAdapter(dict[str, Ticket])
_RESULT = TypeAdapter(Result)


def handler_of(client: SlateClient, book: Book, pace: float) -> Handler:
    """Do a task from its ticket and its parents' results."""

    def handle(context: Context) -> Outcome:
        task = context.task
        ticket = _INPUT.validate_python(task.input)["ticket"]
        results = {p: _RESULT.validate_python(client.task(task.graph_id, p).result) for p in task.parents()}
        action, do = ROLES[task.role]
        result = do(ticket, results, book)
        context.wait_for_cancel(pace)
        return Done(action, result)

    return handle


def main() -> None:
    """Work until standard input ends."""
    parser = argparse.ArgumentParser(description="Work on support tickets.")
    parser.add_argument("--roles", required=True, help="separated by commas")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds a task takes at least, as a model would")
    options = parser.parse_args()
    with SlateClient(os.environ["SLATE_URL"], os.environ["SLATE_KEY"]) as client:
        handler = handler_of(client, Book.load(), options.pace)
        worker = Worker(client, options.roles.split(","), handler, wait_seconds=WAIT_SECONDS)
        threading.Thread(target=_stop_at_end_of_input, args=(worker,), daemon=True).start()
        worker.run()


def _stop_at_end_of_input(worker: Worker) -> None:
    while os.read(sys.stdin.fileno(), 1_024):  # unbuffered: a thread in here holds no lock when the process ends
        pass
    worker.stop()


if __name__ == "__main__":
    main()
