"""What a worker does with a task, and with everything that can happen to it."""

from __future__ import annotations

import json
import threading
from unittest.mock import Mock

import httpx
import pytest

from client_stub import answer, claim_json, client_over, problem, task_json
from slate.client import Ask, Done, Failed, Retries, SlateClient, Worker
from slate.domain.errors import RoleMissing

BEAT = {"lease_until": "2026-11-30T12:00:00.000Z", "cancel_requested": False}


class Service:
    """One task to claim; every step is written down; what a step answers can be replaced."""

    def __init__(self, **answers):
        self.answers = answers
        self.tasks = ["t"]
        self.steps = []
        self.beaten = threading.Event()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        step = request.url.path.rsplit("/", 1)[-1]
        body = json.loads(request.content)
        if step == "claims":
            prepared = self.answers.pop("claims", None)
            if prepared is not None:
                return prepared
            return answer({"claims": [claim_json(self.tasks.pop(), lease_seconds=30)] if self.tasks else []})
        self.steps.append((step, body))
        if step == "heartbeat":
            self.beaten.set()
            return self.answers.get(step) or answer(BEAT)
        prepared = self.answers.pop(step, None)
        return prepared or answer(task_json("t"))

    def did(self):
        return [step for step, _ in self.steps if step != "heartbeat"]


class Pauses:
    """Lets as many heartbeats happen as given, at once; after that a pause lasts until the work is finished."""

    def __init__(self, beats=0):
        self.beats = beats
        self.asked = []

    def __call__(self, event, seconds):
        self.asked.append(seconds)
        if self.beats:
            self.beats -= 1
            return event.is_set()
        return event.wait(10)


def work(service, handler, beats=0, **options):
    pauses = Pauses(beats)
    worker = Worker(client_over(service), ["writer"], handler, pause=pauses, **options)
    assert worker.run_once()
    return pauses


def test_what_the_handler_did_is_handed_in():
    service = Service()
    work(service, lambda c: Done("wrote", {"title": c.task.title, "epoch": c.epoch}, artifacts=["a"]))
    result = {"title": "t", "epoch": 1}
    assert service.steps == [
        ("complete", {"token": "token-t", "action": "wrote", "result": result, "artifacts": ["a"]})
    ]


@pytest.mark.parametrize(
    ("outcome", "step", "said"),
    [
        (Failed("no such order", retryable=False), "fail", {"error": "no such order", "retryable": False}),
        (Ask("refund 40 EUR?"), "wait", {"question": "refund 40 EUR?"}),
    ],
)
def test_a_failure_and_a_question_are_told(outcome, step, said):
    service = Service()
    work(service, lambda _: outcome)
    assert service.steps == [(step, {"token": "token-t", **said})]


def test_an_exception_of_the_handler_fails_the_task_and_the_worker_lives_on():
    service = Service()
    work(service, lambda _: {}["absent"])
    assert service.steps == [
        ("fail", {"token": "token-t", "error": {"type": "KeyError", "message": "'absent'"}, "retryable": True})
    ]


@pytest.mark.parametrize("result", [float("nan"), "\ud800"])
def test_a_result_that_cannot_be_stored_fails_the_task_for_good(result):
    service = Service()
    work(service, lambda _: Done("wrote", result))
    ((step, body),) = service.steps
    assert (step, body["retryable"], body["error"]["type"]) == ("fail", False, "Invalid")


def test_a_result_that_the_server_finds_too_large_fails_the_task_for_good():
    service = Service(complete=problem("too_large", "over 1 MB"))
    work(service, lambda _: Done("wrote", "x"))
    assert service.did() == ["complete", "fail"]


def test_a_long_task_is_kept_alive_at_a_third_of_its_lease_with_the_latest_progress():
    service = Service()

    def handler(context):
        context.report_progress({"pages": 3})
        started.set()
        assert service.beaten.wait(10)
        return Done("wrote")

    started = threading.Event()

    def pause(event, seconds):
        assert started.wait(10)
        asked.append(seconds)
        return event.is_set() if len(asked) == 1 else event.wait(10)

    asked = []
    Worker(client_over(service), ["writer"], handler, pause=pause).run_once()
    assert asked[0] == 10
    assert service.steps[0] == ("heartbeat", {"token": "token-t", "progress": {"pages": 3}})


def test_a_lease_of_the_workers_own_is_asked_for_and_kept():
    service = Service()
    pauses = work(
        service, lambda _: Done("ok") if service.beaten.wait(10) else Failed("no beat"), beats=1, lease_seconds=6
    )
    assert pauses.asked[0] == 2
    assert service.steps[0][1]["lease_seconds"] == 6
    assert service.did() == ["complete"]


@pytest.mark.parametrize(
    "said",
    [answer({**BEAT, "cancel_requested": True}), problem("lease_lost", "taken over"), problem("not_found", "deleted")],
    ids=["cancelled", "lease lost", "graph deleted"],
)
def test_a_handler_learns_that_it_should_stop(said):
    service = Service(heartbeat=said, complete=problem("already_terminal", "cancelled"))
    seen = []
    work(service, lambda c: seen.append((c.wait_for_cancel(10), c.cancel_requested)) or Done("stopped"), beats=1)
    assert seen == [(True, True)]


def test_a_heartbeat_that_goes_astray_stops_nobody():
    service = Service(heartbeat=problem("internal", "a fault"))
    work(service, lambda c: Done("ok", c.cancel_requested) if service.beaten.wait(10) else Failed("no beat"), beats=1)
    assert [body["result"] for step, body in service.steps if step == "complete"] == [False]


@pytest.mark.parametrize("code", ["lease_lost", "already_terminal", "not_found"])
def test_a_result_that_no_longer_counts_is_dropped_and_the_worker_lives_on(code):
    service = Service(complete=problem(code, "too late"))
    work(service, lambda _: Done("late"))
    assert service.did() == ["complete"]


def test_a_stopped_worker_finishes_the_task_at_hand_and_claims_no_more():
    service = Service()
    service.tasks = ["second", "first"]

    def handler(context):
        worker.stop()
        return Done(context.task.task_id)

    worker = Worker(client_over(service), ["writer"], handler)
    worker.run()
    assert [body["action"] for _, body in service.steps] == ["first"]
    assert service.tasks == ["second"]


def test_with_nothing_to_do_the_worker_asks_again():
    service = Service(claims=answer({"claims": []}))

    def handler(_):
        worker.stop()
        return Done("ok")

    worker = Worker(client_over(service), ["writer"], handler, poll_seconds=0.01)
    worker.run()
    assert service.did() == ["complete"]


def test_a_stop_ends_the_rest_of_an_idle_worker():
    service = Service()
    service.tasks = []
    worker = Worker(client_over(service), ["writer"], lambda _: Done("never"), poll_seconds=60)
    running = threading.Thread(target=worker.run)
    running.start()
    worker.stop()
    running.join(10)
    assert not running.is_alive()


@pytest.mark.parametrize("said", [problem("internal", "a fault"), answer(status=503)])
def test_a_service_at_fault_is_asked_again(said):
    service = Service(claims=said)

    def handler(_):
        worker.stop()
        return Done("ok")

    worker = Worker(client_over(service), ["writer"], handler, poll_seconds=0.01)
    worker.run()
    assert service.did() == ["complete"]


def test_a_key_that_may_not_work_for_the_role_ends_the_worker():
    service = Service(claims=problem("role_missing", "this key may not"))
    with pytest.raises(RoleMissing):
        Worker(client_over(service), ["writer"], lambda _: Done("never")).run()


def test_no_thread_is_left_behind():
    before = threading.active_count()
    work(Service(), lambda _: Done("ok"))
    assert threading.active_count() == before


def test_the_client_of_a_worker_may_be_shared_by_threads():
    service = Service()
    service.tasks = [f"t{n}" for n in range(40)]
    client: SlateClient = client_over(service)
    workers = [Worker(client, ["writer"], lambda c: Done(c.task.task_id)) for _ in range(4)]
    threads = [threading.Thread(target=lambda w=w: [None for _ in iter(w.run_once, False)]) for w in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(body["action"] for _, body in service.steps) == sorted(f"t{n}" for n in range(40))


class Waited:
    """Nothing to do at first, then a task, then the stop; keeps what each claim asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.worker = None

    def __call__(self, request):
        if not request.url.path.endswith("/claims"):
            return answer(task_json("t"))
        self.asked.append(json.loads(request.content).get("wait_seconds"))
        given = self.answers.pop(0)
        if not self.answers:
            self.worker.stop()
        return given


def test_a_worker_that_waits_asks_again_without_a_rest_and_rests_where_it_is_turned_away():
    nothing, work = answer({"claims": []}), answer({"claims": [claim_json("t")]})
    service = Waited(nothing, work, problem("retry", "too many wait", retryable=True), nothing, nothing)
    client = SlateClient(
        "https://slate.example.com",
        "slate_acme.k.s",
        transport=httpx.MockTransport(service),
        retries=Retries(attempts=1),
    )
    worker = service.worker = Worker(client, ["writer"], lambda _: Done("wrote"), wait_seconds=20, poll_seconds=0.01)
    worker._wake = Mock()
    worker.run()
    assert service.asked == [20] * 5
    assert [call.kwargs for call in worker._wake.get.call_args_list] == [{"timeout": 0.01}]
