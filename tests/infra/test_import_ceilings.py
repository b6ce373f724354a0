"""What a cold start may cost before the first request: time, and what must not come along."""

from __future__ import annotations

from functools import cache

import pytest

from cold_start import cold_start
from slate.settings import Settings

CEILING_MS = {
    "tasks_api": 1_000,
    "authorizer": 450,
    "sweeper": 850,
    "events": 850,
    "webhooks": 850,
    "memory_api": 1_000,
    "extractor": 850,
    "decay": 850,
    "indexer": 850,
    "privacy_api": 1_000,
    "eraser": 850,
}
"""Three times what it takes on an idle machine of two cores: 310, 140, 275, 275 and 275."""
FUNCTIONS = list(CEILING_MS)
NOWHERE = ["moto", "uvicorn", "rich", "typer", "aws_cdk", "httpx", "opensearchpy", "slate.client", "slate.testing"]
SPEAKS_HTTP = ["aws_lambda_powertools.event_handler", "slate_functions.http"]


@cache
def start_of(function):
    """The first one that keeps to the ceiling, of three: a busy machine makes any one of them slow."""
    for _ in range(3):
        start = cold_start(function)
        if start.milliseconds < CEILING_MS[function]:
            break
    return start


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_cold_import_stays_under_its_ceiling(function):
    assert start_of(function).milliseconds < CEILING_MS[function]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_handler_loads_what_a_lambda_does_not_need(function):
    assert [package for package in NOWHERE if start_of(function).loads(package)] == []


@pytest.mark.parametrize("function", ["authorizer", "sweeper", "events", "webhooks"])
def test_a_function_that_speaks_no_http_loads_nothing_for_it(function):
    assert [package for package in SPEAKS_HTTP if start_of(function).loads(package)] == []


def test_the_authorizer_loads_what_recognises_callers_and_no_other_part_of_slate():
    start = start_of("authorizer")
    others = ["slate.service.tasks", "slate.service.sessions", "slate.adapters.opensearch", "slate.adapters.bedrock"]
    assert [part for part in (*others, "slate.wiring.aws", "slate.wiring.assembling", "jwt") if start.loads(part)] == []


def test_what_reads_tokens_is_loaded_where_an_issuer_is_set():
    settings = Settings(kms_key_id="key", oidc_issuer="https://issuer.test", oidc_audience="slate")
    assert cold_start("authorizer", settings=settings).loads("jwt")
