"""The command when it is called wrongly, or the server is not there."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from slate_functions.local.cli import main

KEYS = {"url": "http://127.0.0.1:9", "keys": {"acme": "slate_acme.k.s"}}


@pytest.fixture
def slate(monkeypatch):
    monkeypatch.delenv("SLATE_URL", raising=False)
    monkeypatch.delenv("SLATE_KEY", raising=False)
    return lambda *arguments, **env: CliRunner().invoke(main, arguments, env=env)


def one_line(result):
    (line,) = result.stderr.strip().splitlines()
    return line


def test_without_a_server_the_ways_to_name_one_are_told(slate):
    result = slate("graph", "show", "g")
    assert result.exit_code == 2
    assert all(way in one_line(result) for way in ("--url", "--key", "SLATE_URL", "--keys-file"))


def test_a_keys_file_that_is_not_there_is_named_with_what_writes_it(slate, tmp_path):
    result = slate("keys", "list", "--keys-file", str(tmp_path / "keys.json"))
    assert result.exit_code == 2
    assert "slate serve --write-keys" in one_line(result)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", json.dumps({"url": "x", "keys": []}), json.dumps({**KEYS, "keys": {}})]
)
def test_a_keys_file_without_the_tenants_key_is_said_to_be_so(slate, tmp_path, content):
    (tmp_path / "keys.json").write_text(content)
    result = slate("keys", "list", "--keys-file", str(tmp_path / "keys.json"))
    assert (result.exit_code, "'acme'" in one_line(result)) == (2, True)


def test_a_url_that_is_none_is_refused_in_one_line(slate):
    result = slate("graph", "list", "--url", "nowhere", "--key", "k")
    assert (result.exit_code, "nowhere" in one_line(result)) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("graph", "export", "g", "--format", "pdf"),
        ("keys", "create", "ada"),
        ("keys", "create", "ada", "--scope", "all"),
        ("nonsense",),
    ],
)
def test_a_wrong_call_is_exit_code_2(slate, arguments):
    assert slate(*arguments, SLATE_URL="http://127.0.0.1:9", SLATE_KEY="k").exit_code == 2


def test_help_is_there_for_every_command(slate):
    for words in (
        [],
        ["serve"],
        ["keys", "create"],
        ["keys", "list"],
        ["keys", "revoke"],
        ["graph", "show"],
        ["graph", "export"],
        ["graph", "list"],
        ["decay"],
    ):
        assert slate(*words, "--help").exit_code == 0


def test_decay_is_only_looked_at_and_a_server_is_named(slate):
    result = slate("decay")
    assert (result.exit_code, "--dry-run" in one_line(result)) == (2, True)
    result = slate("decay", "--dry-run")
    assert (result.exit_code, "--aws" in one_line(result)) == (2, True)
    result = slate("decay", "--dry-run", "--url", "http://127.0.0.1:9")
    assert (result.exit_code, "does not answer" in one_line(result)) == (1, True)
