"""The example agent on a laptop: a webhook's receiver that starts it for an event, as a rule on the bus does on AWS.

The url and the key come from SLATE_URL and SLATE_KEY, the webhook's secret from WEBHOOK_SECRET. It answers once the
agent is done, so that an event whose work failed is sent again. It stops once its standard input ends.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "agent"))
from handler import Agent, count_words

from slate.client import SlateClient
from slate.client.webhooks import is_genuine

_LONGEST = 100_000


def receiver_of(agent: Agent, role: str, secret: str) -> type[BaseHTTPRequestHandler]:
    """A receiver of deliveries that starts the agent where there is work of its role."""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that the library calls
            body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), _LONGEST))
            if not is_genuine(secret, dict(self.headers), body):
                return self._answer(HTTPStatus.UNAUTHORIZED)
            event: dict[str, Any] = json.loads(body)
            try:
                if event["type"] == "task.ready" and event["role"] == role:
                    agent({"source": "slate", "detail-type": event["type"], "detail": event}, None)
            except Exception as error:  # noqa: BLE001  # whatever it was, the event is sent again
                print(f"the agent failed: {error!r}", file=sys.stderr, flush=True)
                return self._answer(HTTPStatus.INTERNAL_SERVER_ERROR)
            return self._answer(HTTPStatus.NO_CONTENT)

        def _answer(self, status: HTTPStatus) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing: each request is one of hundreds."""

    return Receiver


def main() -> None:
    """Receive until standard input ends."""
    parser = argparse.ArgumentParser(description="Start the example agent for events.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--role", required=True, help="the agent's")
    options = parser.parse_args()
    url, key, secret = (os.environ[name] for name in ("SLATE_URL", "SLATE_KEY", "WEBHOOK_SECRET"))
    receiver = receiver_of(Agent(lambda: SlateClient(url, key), count_words), options.role, secret)
    with ThreadingHTTPServer(("127.0.0.1", options.port), receiver) as server:
        threading.Thread(target=_stop_at_end_of_input, args=(server,), daemon=True).start()
        server.serve_forever(poll_interval=0.1)


def _stop_at_end_of_input(server: ThreadingHTTPServer) -> None:
    while os.read(sys.stdin.fileno(), 1_024):
        pass
    server.shutdown()


if __name__ == "__main__":
    main()
