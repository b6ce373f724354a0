"""A worker process: completes what it claims; one that holds says its first task's name and works on it for ever."""

import sys
import threading

from slate.client import Done, SlateClient, Worker


def main(url: str, key: str, queue: str, holds: str) -> None:
    def handle(context):
        print(context.task.task_id, flush=True)  # noqa: T201  # read by its parent
        if holds == "holds":
            threading.Event().wait()
        return Done("ran")

    with SlateClient(url, key) as client:
        Worker(client, ["runner"], handle, queue=queue, lease_seconds=2, poll_seconds=0.1).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
