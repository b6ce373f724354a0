"""``make opensearch``: a node in the foreground, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import signal
import sys
from threading import Event

from opensearch_node.node import NoNode, running, version


def main() -> int:
    """Run one; 1 where there can be none."""
    asked = argparse.ArgumentParser(prog="make opensearch")
    asked.add_argument("--port", type=int, default=0, help="0 takes a free one")
    port = asked.parse_args().port
    stopped = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        with running(port=port) as address:
            sys.stdout.write(
                f"OpenSearch {version()} with k-NN answers at {address}; its data is gone when it stops.\n"
                f"To use it: slate serve --opensearch {address}\n"
            )
            sys.stdout.flush()
            stopped.wait()
    except NoNode as error:
        sys.stderr.write(f"no OpenSearch node: {error}\n")
        return 1
    return 0


sys.exit(main())
