from __future__ import annotations

import json
import uuid

from http_support import ask, freely, gladly
from slate_functions.http.app import App
from slate_functions.http.routes import get
from slate_functions.http.telemetry import LambdaObserver
from slate_functions.tasks_api.health import Health


class BreakableRoutes:
    """Breakable."""

    @get("/fine", public=True)
    def fine(self) -> Health:
        """Fine."""
        return Health()

    @get("/broken", public=True)
    def broken(self) -> Health:
        """Broken."""
        raise KeyError("a customer's secret")


def reader(capsys):
    """Asks an app and reads what it logged; made within a test, since a logger keeps the output it was made with."""
    # Loggers of one name are one logger.
    app = App([BreakableRoutes()], LambdaObserver(f"test-{uuid.uuid4()}"), freely, gladly)

    def asked(path: str) -> list[dict]:
        ask(app, "GET", path, principal=None)
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return asked


def metrics(line):
    return {m["Name"]: line[m["Name"]] for m in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]}


def test_a_request_is_one_line_and_its_metrics_by_route(capsys):
    lines = reader(capsys)
    log, counted = lines("/fine")
    assert (log["message"], log["route"], log["status"], log["request_id"]) == ("served", "GET /fine", 200, "r-1")
    assert counted["route"] == "GET /fine"
    assert counted["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Slate"
    assert metrics(counted).items() >= {"Requests": [1.0], "Refusals": [0.0], "Faults": [0.0]}.items()


def test_a_refusal_is_counted_apart_from_a_fault(capsys):
    lines = reader(capsys)
    _, refused = lines("/nowhere")
    assert metrics(refused).items() >= {"Refusals": [1.0], "Faults": [0.0]}.items()
    *_, broken = lines("/broken")
    assert metrics(broken).items() >= {"Refusals": [0.0], "Faults": [1.0]}.items()


def test_the_metrics_of_one_request_do_not_run_into_the_next(capsys):
    lines = reader(capsys)
    lines("/broken")
    _, counted = lines("/fine")
    assert (counted["route"], metrics(counted)["Faults"]) == ("GET /fine", [0.0])


def test_a_fault_is_logged_with_where_it_happened_and_not_what_was_said(capsys):
    lines = reader(capsys)
    fault, *_ = logged = lines("/broken")
    assert fault["level"] == "ERROR"
    assert fault["kinds"] == ["builtins.KeyError"]
    assert any(frame.endswith(" broken") for frame in fault["frames"])
    assert "secret" not in json.dumps(logged)
