"""A Slate whose time goes by itself: leases lapse and delays end without anybody asking."""

from __future__ import annotations

import time

import pytest

from slate_app import Api
from slate_functions.local.service import open_service


@pytest.fixture(scope="module")
def running():
    with open_service(manual=False) as service:
        yield Api(service, service.keys["acme"])


def test_its_time_cannot_be_moved(running):
    reply = running.ask("POST", "/_local/clock", {"advance_seconds": 1})
    assert (reply.status, reply.json["code"]) == (409, "conflict")


def test_a_lease_lapses_and_the_task_is_free_for_another_without_anybody_asking(running):
    task = {"task_id": "t", "title": "t", "role": "r", "lease_seconds": 1}
    running.post("/v1/graphs", {"graph_id": "g", "goal": "x", "tasks": [task]}, expect=201)
    [claim] = running.post("/v1/claims", {"roles": ["r"]})["claims"]
    deadline = time.monotonic() + 20
    while not (heirs := running.post("/v1/claims", {"roles": ["r"]})["claims"]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert heirs[0]["epoch"] > claim["epoch"]
