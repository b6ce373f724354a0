from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from http_support import made
from slate.contract.problems import STATUS, error_of, status_of
from slate.contract.sessions import GivenTurn
from slate.contract.tasks import CreateGraph
from slate.contract.values import PatchValue
from slate.domain.errors import MethodNotAllowed, Unauthenticated, Unavailable, error_classes
from slate.domain.wording import MAX_FIELD_LENGTH, MAX_LISTED, field_errors
from slate_functions.http.problems import example_problem, problem

TASK = {"task_id": "a", "title": "a", "role": "w"}


def wrong(body) -> list[dict[str, str]]:
    with pytest.raises(ValidationError) as refused:
        CreateGraph.model_validate(body)
    return field_errors(refused.value, "body")


@pytest.mark.parametrize("cls", list(error_classes()))
def test_every_refusal_is_a_problem_that_the_client_reads_back(cls):
    error = made(cls)
    response = problem(error, "r-1")
    body = json.loads(response.body)
    assert response.status_code == body["status"] == status_of(error)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["X-Request-Id"] == body["request_id"] == "r-1"
    assert {"type", "title", "status", "code", "detail", "retryable", "request_id"} <= body.keys()
    back = error_of(body)
    assert (back.code, back.detail) == (error.code, error.detail)
    assert error.data.items() <= back.data.items()


@pytest.mark.parametrize("status", sorted(set(STATUS.values()) - {405}))
def test_every_status_has_an_example_of_its_own(status):
    assert example_problem(status)["status"] == status


def test_a_refusal_says_in_headers_what_http_has_headers_for():
    assert problem(Unauthenticated("who?"), "r").headers["WWW-Authenticate"] == "Bearer"
    assert problem(Unavailable("busy"), "r").headers["Retry-After"] == "1"
    assert problem(MethodNotAllowed("no", allowed=["GET", "HEAD"]), "r").headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(("at", "words"), [("yesterday", "a time such as"), ("2026-11-30T12:00:00", "its offset")])
def test_a_time_that_is_none_is_refused_with_one_that_is(at, words):
    with pytest.raises(ValidationError) as refused:
        GivenTurn.model_validate({"role": "user", "content": "x", "at": at})
    [error] = field_errors(refused.value, "body")
    assert error["field"] == "at"
    assert words in error["message"]


def test_a_choice_is_told_in_the_words_of_json():
    with pytest.raises(ValidationError) as refused:
        PatchValue.model_validate({"op": "put", "value": 1})
    [error] = field_errors(refused.value, "body")
    assert error == {"field": "op", "message": "must be 'increment', 'append' or 'merge'"}


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"tasks": []}, "goal", "required"),
        ({"goal": "x", "tasks": [TASK] * 3 + [{**TASK, "priority": 11}]}, "tasks[3].priority", "or equal to 9"),
        ({"goal": "x", "tasks": [{**TASK, "role": "a b"}]}, "tasks[0].role", "1 to 128 of A-Z a-z"),
        ({"goal": "x", "tasks": [{**TASK, "depends_on": [{"task_id": "b", "kind": "maybe"}]}]},
         "tasks[0].depends_on[0].kind", "'success' or 'completion'"),
        ({"goal": "x", "tasks": [{**TASK, "surprise": 1}]}, "tasks[0].surprise", "not a field of this request"),
        ({"goal": 7, "tasks": []}, "goal", "must be a valid string"),
        ({"goal": "", "tasks": []}, "goal", "must have at least 1 character"),
        ({"goal": "x", "tasks": [{**TASK, "lease_seconds": -1}]}, "tasks[0].lease_seconds", "greater than"),
        ({"goal": "x", "tasks": [{**TASK, "lease_seconds": 1.5}]}, "tasks[0].lease_seconds", "valid integer"),
        ({"goal": "x", "tasks": [{**TASK, "priority": True}]}, "tasks[0].priority", "valid integer"),
        ({"goal": "x", "tasks": {}}, "tasks", "must be a list"),
        ([], "body", "must be an object"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_where_it_stands_with_what_would_be_right(body, field, words):
    [error] = wrong(body)
    assert error["field"] == field
    assert words in error["message"]


def test_every_wrong_field_is_listed_at_once():
    errors = wrong({"goal": 7, "surprise": 1, "tasks": [TASK, {**TASK, "priority": 11, "role": ""}]})
    assert {error["field"] for error in errors} == {"goal", "surprise", "tasks[1].priority", "tasks[1].role"}


def test_a_value_is_never_repeated():
    errors = wrong({"goal": ["secret"], "tasks": "secret", "more": "secret", "retention_days": "secret"})
    assert len(errors) == 4
    assert "secret" not in json.dumps(errors)


def test_a_long_name_is_cut():
    [error] = wrong({"goal": "x", "tasks": [], "y" * 100_000: 1})
    assert len(error["field"]) <= MAX_FIELD_LENGTH + 3


def test_more_wrong_fields_than_fit_an_answer_are_counted():
    errors = wrong({"goal": "x", "tasks": [], **{f"field{i}": 1 for i in range(MAX_LISTED + 500)}})
    assert len(errors) == MAX_LISTED + 1
    assert errors[-1]["message"] == "and 500 more fields are wrong"
