"""What a cold start may cost before the first request: time, and what must not come along."""

from __future__ import annotations

import pytest

from cold_start import cold_start

CEILING_MS = {
    "tasks_api": 1_000,
    "authorizer": 850,
    "sweeper": 850,
    "events": 850,
    "webhooks": 850,
    "memory_api": 1_000,
    "extractor": 850,
    "decay": 850,
    "indexer": 850,
}
"""Three times what it takes on an idle machine of two cores: 310, 265, 275, 275 and 275."""
FUNCTIONS = list(CEILING_MS)
NOWHERE = ["moto", "uvicorn", "rich", "typer", "aws_cdk", "httpx", "opensearchpy", "slate.client", "slate.testing"]
SPEAKS_HTTP = ["aws_lambda_powertools.event_handler", "slate_functions.http"]


@pytest.fixture(scope="module")
def starts():
    # The first warms the file cache; a busy machine makes any one of them slow, so the fastest tells the cost.
    return {
        function: min((cold_start(function) for _ in range(3)), key=lambda s: s.milliseconds) for function in FUNCTIONS
    }


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_cold_import_stays_under_its_ceiling(starts, function):
    assert starts[function].milliseconds < CEILING_MS[function]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_handler_loads_what_a_lambda_does_not_need(starts, function):
    assert [package for package in NOWHERE if starts[function].loads(package)] == []


@pytest.mark.parametrize("function", ["authorizer", "sweeper", "events", "webhooks"])
def test_a_function_that_speaks_no_http_loads_nothing_for_it(starts, function):
    assert [package for package in SPEAKS_HTTP if starts[function].loads(package)] == []
