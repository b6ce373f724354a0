"""What a call does when the network or the server is in a bad way."""

from __future__ import annotations

import json

import httpx
import pytest

from client_stub import CLAIM, Stub, answer, claims, graph_json, problem, task_json
from slate.client import Retries
from slate.contract.problems import STATUS
from slate.domain.errors import (
    AlreadyTerminal,
    Conflict,
    Forbidden,
    Invalid,
    LeaseLost,
    NotFound,
    SlateError,
    Throttled,
    Unauthenticated,
    Unavailable,
    VersionMismatch,
    error_classes,
)

BUSY = {"retry", "throttled"}


@pytest.mark.parametrize("setback", [httpx.ReadTimeout("slow"), httpx.ConnectError("refused"), 502, 503, 504, 429])
def test_a_read_is_repeated_until_it_is_answered(setback):
    stub = Stub([setback, setback, answer(graph_json("g"))])
    assert stub.client().graph("g").graph_id == "g"
    assert len(stub.requests) == 3


@pytest.mark.parametrize("setback", [httpx.ReadTimeout("slow"), httpx.ConnectError("refused"), 503, 429])
def test_a_call_given_up_is_unavailable_and_says_how_often_it_was_tried(setback):
    stub = Stub([setback] * 9)
    with pytest.raises(Unavailable) as caught:
        stub.client(retries=Retries(attempts=4)).graph("g")
    assert len(stub.requests) == caught.value.data["attempts"] == 4
    assert caught.value.retryable


def test_rests_double_up_to_the_cap_and_lie_between_half_and_all_of_it():
    for jitter, share in ((0.0, 0.5), (0.999_999, 1.0)):
        stub = Stub([503] * 6)
        client = stub.client(retries=Retries(attempts=6, base_seconds=1, cap_seconds=5), jitter=lambda j=jitter: j)
        with pytest.raises(Unavailable):
            client.graph("g")
        assert stub.slept == pytest.approx([share * rest for rest in (1, 2, 4, 5, 5)], rel=1e-3)


def test_the_server_is_never_asked_again_before_its_retry_after():
    date = {"Date": "Mon, 30 Nov 2026 12:00:00 GMT", "Retry-After": "Mon, 30 Nov 2026 12:00:09 GMT"}
    stub = Stub(
        [answer(status=429, headers={"Retry-After": "7"}), answer(status=503, headers=date), answer(graph_json("g"))]
    )
    stub.client(retries=Retries(base_seconds=0.2)).graph("g")
    assert [7 <= stub.slept[0] <= 7.2, 9 <= stub.slept[1] <= 9.2] == [True, True]


def test_a_retry_after_beyond_patience_is_given_up_at_once():
    stub = Stub([answer(status=429, headers={"Retry-After": "3600"})])
    with pytest.raises(Unavailable):
        stub.client().graph("g")
    assert stub.slept == []


UNSAFE = {
    "a key": lambda c: c.create_key("a", ["tasks:read"]),
    "an answer to whatever is asked now": lambda c: c.resume("g", "t", "yes"),
    "a retry": lambda c: c.retry("g", "t"),
}


@pytest.mark.parametrize("name", UNSAFE)
@pytest.mark.parametrize("setback", [httpx.ReadTimeout("lost"), httpx.RemoteProtocolError("gone"), 503])
def test_what_may_have_taken_effect_is_not_sent_twice_where_twice_is_not_once(name, setback):
    stub = Stub([setback, answer(task_json("t"))])
    with pytest.raises(Unavailable):
        UNSAFE[name](stub.client())
    assert len(stub.requests) == 1


@pytest.mark.parametrize("setback", [httpx.ConnectError("refused"), 429])
def test_what_cannot_have_taken_effect_is_sent_again_even_so(setback):
    stub = Stub([setback, answer(task_json("t"))])
    assert stub.client().resume("g", "t", "yes").task_id == "t"


SAFE = {
    "complete": lambda c: c.complete(CLAIM, "did it"),
    "fail": lambda c: c.fail(CLAIM, "broken"),
    "wait": lambda c: c.wait(CLAIM, "sure?"),
    "release": lambda c: c.release(CLAIM),
    "cancel_task": lambda c: c.cancel_task("g", "t"),
    "resume": lambda c: c.resume("g", "t", "yes", epoch=3),
    "retry": lambda c: c.retry("g", "t", cascade=True),
}


@pytest.mark.parametrize("name", SAFE)
def test_calls_that_are_one_when_sent_twice_are_repeated_unchanged(name):
    stub = Stub([httpx.ReadTimeout("lost"), answer(task_json("t"))])
    assert SAFE[name](stub.client()).task_id == "t"
    first, second = stub.requests
    assert (first.url, first.content) == (second.url, second.content)


def test_a_repeated_claim_carries_the_same_idempotency_key_and_the_next_claim_another():
    stub = Stub([503, answer(claims()), answer(claims())])
    client = stub.client()
    client.claim(["writer"])
    client.claim(["writer"])
    keys = [request.headers["Idempotency-Key"] for request in stub.requests]
    assert keys[0] == keys[1] != keys[2]


def test_a_delete_whose_first_answer_was_lost_is_done_when_nothing_is_left():
    stub = Stub([httpx.ReadTimeout("lost"), problem("not_found", "there is no graph g")])
    stub.client().delete_graph("g")
    with pytest.raises(NotFound):
        Stub([problem("not_found", "there is no graph g")]).client().delete_graph("g")


def test_a_cancel_whose_first_answer_was_lost_is_done_when_the_task_is_cancelled():
    cancelled = problem("already_terminal", "it has ended", state="CANCELLED")
    stub = Stub([httpx.ReadTimeout("lost"), cancelled, answer(task_json("t", state="CANCELLED"))])
    assert stub.client().cancel_task("g", "t").state == "CANCELLED"
    for replies in (
        [cancelled],
        [httpx.ReadTimeout("lost"), problem("already_terminal", "it has ended", state="DONE")],
    ):
        with pytest.raises(AlreadyTerminal):
            Stub(replies).client().cancel_task("g", "t")


def test_a_retryable_conflict_is_repeated_and_raised_as_itself_when_it_stays():
    moved = problem("conflict", "a parent moved", retryable=True)
    stub = Stub([moved, answer(task_json("t"))])
    assert stub.client().retry("g", "t").task_id == "t"
    with pytest.raises(Conflict):
        Stub([moved] * 9).client().retry("g", "t")


@pytest.mark.parametrize("cls", [c for c in error_classes() if c.code not in BUSY], ids=lambda c: c.__name__)
def test_a_refusal_is_raised_as_the_class_of_its_code_with_its_data(cls):
    stub = Stub([problem(cls.code, "no", winner="w-2")])
    with pytest.raises(SlateError) as caught:
        stub.client().graph("g")
    assert caught.value.code == cls.code
    assert isinstance(caught.value, cls) or cls.__mro__[1].code == cls.code
    assert (caught.value.detail, caught.value.data["winner"]) == ("no", "w-2")
    assert len(stub.requests) == 1


def test_the_data_of_a_refusal_can_be_used():
    stub = Stub([problem("version_mismatch", "older", current={"version": 4})])
    with pytest.raises(VersionMismatch) as caught:
        stub.client().graph("g")
    assert caught.value.data["current"] == {"version": 4}


@pytest.mark.parametrize(
    ("status", "cls"), [(401, Unauthenticated), (403, Forbidden), (404, NotFound), (500, SlateError)]
)
def test_a_gateway_that_knows_no_problems_is_understood_by_its_status(status, cls):
    with pytest.raises(cls, match=str(status)):
        Stub([answer({"message": "Unauthorized"}, status=status)]).client().graph("g")


@pytest.mark.parametrize(
    "reply", [httpx.Response(200, text="<html>log in</html>"), httpx.Response(302), answer({"a": 1}), answer([])]
)
def test_a_server_that_is_not_slate_is_named_as_that(reply):
    with pytest.raises(SlateError, match="url that of a Slate server"):
        Stub([reply]).client().graph("g")


@pytest.mark.parametrize("url", ["", "slate.example.com", "ftp://x", "http://", "http://[::1"])
def test_a_url_that_is_none_is_refused_before_any_call(url):
    with pytest.raises(Invalid, match="url"):
        Stub([]).client(url=url)


@pytest.mark.parametrize("key", ["", "two words", "slate_\n", "schlüssel"])
def test_a_key_that_is_none_is_refused_before_any_call(key):
    with pytest.raises(Invalid, match="key"):
        Stub([]).client(key=key)


@pytest.mark.parametrize("graph_id", ["", "a/b", "../keys", "a#b", "x" * 129, "?"])
def test_an_id_that_is_none_never_reaches_a_route(graph_id):
    stub = Stub([])
    with pytest.raises(Invalid):
        stub.client().delete_graph(graph_id)
    assert stub.requests == []


@pytest.mark.parametrize("result", [float("nan"), {"half": "\ud800"}])
def test_what_json_cannot_carry_is_refused_before_any_call(result):
    stub = Stub([])
    with pytest.raises(Invalid):
        stub.client().complete(CLAIM, "did it", result)
    assert stub.requests == []


def test_every_status_that_means_busy_is_repeated_and_no_refusal_is():
    for code, status in STATUS.items():
        stub = Stub([problem(code, "no")] * 9)
        with pytest.raises(SlateError):
            stub.client(retries=Retries(attempts=3)).graph("g")
        assert len(stub.requests) == (3 if code in BUSY else 1), (code, status)


def test_the_key_travels_in_the_authorization_header():
    stub = Stub([answer(graph_json("g"))])
    stub.client(key="slate_acme.k.s").graph("g")
    assert stub.requests[0].headers["Authorization"] == "Bearer slate_acme.k.s"


def token_source(*tokens):
    left = list(tokens)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def sent(stub):
    return [request.headers["Authorization"] for request in stub.requests]


def test_a_function_gives_the_token_of_each_attempt():
    stub = Stub([503, answer(graph_json("g")), answer(graph_json("g"))])
    client = stub.client(key=token_source("a.b.1", "a.b.2", "a.b.3"))
    client.graph("g")
    client.graph("g")
    assert sent(stub) == ["Bearer a.b.1", "Bearer a.b.2", "Bearer a.b.3"]


def test_a_token_that_is_refused_is_renewed_once_even_for_a_call_that_is_not_repeated():
    stub = Stub([401, answer(task_json("t"))])
    stub.client(key=token_source("old", "new")).resume("g", "t", "yes")
    assert sent(stub) == ["Bearer old", "Bearer new"]
    assert stub.requests[0].content == stub.requests[1].content


@pytest.mark.parametrize("key", ["slate_acme.k.s", token_source("same"), token_source("old", "new")])
def test_who_is_refused_with_the_best_there_is_is_told(key):
    stub = Stub([problem("unauthenticated", "who?")] * 3)
    with pytest.raises(Unauthenticated, match=r"who\?"):
        stub.client(key=key).graph("g")
    assert len(stub.requests) <= 2


@pytest.mark.parametrize("token", ["", "two words", "tok\n", "schlüssel"])
def test_a_token_that_is_none_never_travels(token):
    stub = Stub([])
    with pytest.raises(Invalid, match="key"):
        stub.client(key=lambda: token).graph("g")


def test_a_source_of_tokens_that_fails_says_so_itself():
    def broken():
        raise KeyError("no login")

    with pytest.raises(KeyError, match="no login"):
        Stub([]).client(key=broken).graph("g")


@pytest.mark.parametrize(
    "setback",
    [
        problem("throttled", "2 calls a second", retryable=True, retry_after=1),
        answer({"message": "Too Many Requests"}, status=429),
    ],
)
def test_who_stays_throttled_is_told_so_apart_from_a_server_that_is_down(setback):
    with pytest.raises(Throttled) as caught:
        Stub([setback] * 9).client(retries=Retries(attempts=2)).graph("g")
    assert isinstance(caught.value, Unavailable)
    assert caught.value.data["attempts"] == 2


def test_a_lost_lease_carries_the_winner():
    stub = Stub([problem("lease_lost", "taken over", agent="w-2", epoch=4)])
    with pytest.raises(LeaseLost) as caught:
        stub.client().complete(CLAIM, "did it")
    assert caught.value.data["agent"] == "w-2"


def test_the_timeout_of_a_call_that_waits_begins_after_the_wait():
    stub = Stub([answer(claims("t")), answer(claims("t")), answer({"items": [], "next_after": 0})])
    client = stub.client()
    client.claim(["writer"])
    client.claim(["writer"], wait_seconds=20)
    client.events("g", wait_seconds=5)
    assert [request.extensions["timeout"]["read"] for request in stub.requests] == [30, 50, 35]
    assert [json.loads(request.content).get("wait_seconds") for request in stub.requests[:2]] == [None, 20]
