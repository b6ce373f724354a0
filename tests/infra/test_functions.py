from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from slate.settings import Settings

FUNCTIONS = {
    "FunctionsTasksApiFunction": ("tasks_api", 1024, 29),
    "FunctionsWaitingFunction": ("tasks_api", 512, 29),
    "FunctionsAuthorizerFunction": ("authorizer", 1024, 9),
    "FunctionsSweeperFunction": ("sweeper", 512, 120),
    "FunctionsEventsFunction": ("events", 512, 60),
    "FunctionsWebhooksFunction": ("webhooks", 512, 30),
    "FunctionsMemoryApiFunction": ("memory_api", 1024, 29),
    "FunctionsExtractorFunction": ("extractor", 1024, 150),
    "FunctionsDecayFunction": ("decay", 512, 900),
    "FunctionsIndexerFunction": ("indexer", 1024, 120),
    "FunctionsPrivacyApiFunction": ("privacy_api", 1024, 29),
    "FunctionsEraserFunction": ("eraser", 1024, 900),
}
each_function = pytest.mark.parametrize("name", FUNCTIONS)


def test_the_stack_has_these_functions_and_no_other(stack):
    assert set(stack.of_type("AWS::Lambda::Function")) == set(FUNCTIONS)


@each_function
def test_a_function_runs_its_handler_on_python_3_13_and_arm64(stack, name):
    function = stack.of_type("AWS::Lambda::Function")[name]
    module, memory, timeout = FUNCTIONS[name]
    assert function["Runtime"] == "python3.13"
    assert function["Architectures"] == ["arm64"]
    assert function["Handler"] == f"slate_functions.{module}.handler.handler"
    assert (function["MemorySize"], function["Timeout"]) == (memory, timeout)


@each_function
def test_a_function_traces_and_logs_json_into_its_own_group(stack, name):
    function = stack.of_type("AWS::Lambda::Function")[name]
    assert function["TracingConfig"] == {"Mode": "Active"}
    assert function["LoggingConfig"]["LogFormat"] == "JSON"
    assert stack.text(function["LoggingConfig"]["LogGroup"]) == name.replace("Function", "Log").replace(
        "Logs", "Functions", 1
    )


@each_function
def test_a_function_reads_where_its_storage_is_from_its_environment(stack, name):
    settings = _settings(stack, name)
    assert settings.table == "StorageMain"
    assert settings.keys_table == "StorageKeys"
    assert settings.ledger_table == "StorageLedger"
    assert settings.bucket == "StorageContent"
    assert settings.kms_key_id == "StorageKey.Arn"
    assert settings.signing_key_id == "SigningKey.Arn"
    assert settings.search_endpoint == "https://SearchDomain.DomainEndpoint"


def test_only_the_function_that_waits_has_places_of_its_own_so_that_waiting_takes_nobody_elses(stack, synthesize):
    def reserved(stack):
        return {n: f.get("ReservedConcurrentExecutions") for n, f in stack.of_type("AWS::Lambda::Function").items()}

    assert {name: count for name, count in reserved(stack).items() if count} == {"FunctionsWaitingFunction": 100}
    fewer = synthesize({"SLATE_WAITING_PLACES": "7"})
    assert reserved(fewer)["FunctionsWaitingFunction"] == 7


@each_function
def test_a_functions_environment_stays_below_what_lambda_lets_it_be(stack, name):
    """4 KB of names and values; one that is known at the deployment alone is taken to have 120 letters."""
    variables = stack.of_type("AWS::Lambda::Function")[name]["Environment"]["Variables"]
    size = sum(len(key) + (len(value) if isinstance(value, str) else 120) for key, value in variables.items())
    assert size < 3_600


def test_settings_given_at_synthesis_reach_the_functions(synthesize):
    stack = synthesize({"SLATE_READY_SHARDS": "4", "CDK_DEFAULT_REGION": "eu-west-1"})
    settings = _settings(stack, "FunctionsTasksApiFunction")
    assert settings.ready_shards == 4
    assert settings.region == "eu-west-1"


def test_the_stack_tells_an_operators_process_the_settings_that_the_functions_have(stack):
    told = dict(pair.split("=", 1) for pair in shlex.split(stack.text(stack.outputs["Environment"])))
    # Whoever operates it acts in a name of their own.
    assert Settings.from_env(told) == replace(_settings(stack, "FunctionsTasksApiFunction"), tenant_role="")


def _settings(stack, name):
    variables = stack.of_type("AWS::Lambda::Function")[name]["Environment"]["Variables"]
    return Settings.from_env({key: stack.text(value) for key, value in variables.items()})


def test_the_sweepers_run_fits_its_timeout_with_time_to_end_what_it_began(stack):
    settings = _settings(stack, "FunctionsSweeperFunction")
    assert (
        stack.of_type("AWS::Lambda::Function")["FunctionsSweeperFunction"]["Timeout"] >= settings.sweep_run_seconds + 30
    )


def test_every_log_group_forgets_after_a_month(stack):
    groups = stack.of_type("AWS::Logs::LogGroup")
    assert len(groups) == len(FUNCTIONS) + 1
    assert {group["RetentionInDays"] for group in groups.values()} == {30}


def test_who_counts_tokens_has_the_tokenizers_layer_and_nobody_else(stack):
    [layer] = stack.of_type("AWS::Lambda::LayerVersion")
    with_layer = {name for name, f in stack.of_type("AWS::Lambda::Function").items() if f.get("Layers")}
    assert with_layer == {"FunctionsMemoryApiFunction", "FunctionsExtractorFunction"}
    for name in with_layer:
        layers = stack.of_type("AWS::Lambda::Function")[name]["Layers"]
        assert [stack.text(given) for given in layers] == [layer]
