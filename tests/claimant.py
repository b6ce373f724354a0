"""A process that claims until there is nothing left, and prints what it got: run by the race."""

import json
import sys

from slate.client import SlateClient


def claim_all(url: str, key: str, queue: str) -> list[tuple[str, int]]:
    """Task and epoch of every claim."""
    claimed: list[tuple[str, int]] = []
    with SlateClient(url, key) as client:
        while claims := client.claim(["runner"], queue=queue, lease_seconds=3_600):
            claimed += [(claim.task.task_id, claim.epoch) for claim in claims]
    return claimed


if __name__ == "__main__":
    print(json.dumps(claim_all(*sys.argv[1:])))  # noqa: T201  # read by its parent
