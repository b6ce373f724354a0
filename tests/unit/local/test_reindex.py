"""The commands that see to the index say what is missing."""

import pytest
from typer.testing import CliRunner

from slate_functions.local.cli import main


def test_reindexing_without_a_domain_says_what_to_set(monkeypatch: pytest.MonkeyPatch):
    for name, value in {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}.items():
        monkeypatch.setenv(name, value)
    done = CliRunner().invoke(main, ["reindex", "--check"], env={"SLATE_SEARCH_ENDPOINT": ""})
    assert done.exit_code == 2
    assert "SLATE_SEARCH_ENDPOINT" in done.stderr


def test_an_embedder_that_is_not_here_is_named():
    done = CliRunner().invoke(main, ["serve", "--port", "0", "--embedder", "amazon.titan-embed-text-v2:0"])
    assert done.exit_code == 2
    assert "titan" in done.stderr
