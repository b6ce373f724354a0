"""`slate serve --opensearch`: what was said is found on a real node, and is gone from it when the server ends."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from opensearch_node.fixture import Node
from serving import serving
from slate_functions.local.cli import main


def kept(node: Node) -> list[dict[str, Any]]:
    """The indices of local Slates on the node."""
    shown: list[dict[str, Any]] = httpx.get(f"{node.address}/_cat/indices/slate-memories-*?format=json").json()
    return shown


def test_what_was_said_is_found_on_the_node_and_goes_with_the_server(opensearch_node: Node):
    before = {index["index"] for index in kept(opensearch_node)}
    with serving("--opensearch", opensearch_node.address) as served:
        with httpx.Client(base_url=served.url, headers={"authorization": f"Bearer {served.key}"}) as api:
            api.post("/v1/sessions", json={"session_id": "s", "subject": "ann", "agent": "helper"}).raise_for_status()
            said = [{"role": "user", "content": text} for text in ("My parcel went to Norway", "It rains in Rome")]
            api.post("/v1/sessions/s/turns", json={"turns": said}).raise_for_status()
            until, query = time.monotonic() + 30, {"query": "Norwegian parcels", "kinds": ["turn"]}
            while not any(int(i["docs.count"]) for i in kept(opensearch_node) if i["index"] not in before):
                assert time.monotonic() < until, "nothing is indexed"
                time.sleep(0.2)
            found = api.post("/v1/subjects/ann/search", json=query).raise_for_status().json()
        assert found["warnings"] == []
        assert "Norway" in found["items"][0]["content"]
    assert {index["index"] for index in kept(opensearch_node)} <= before


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "localhost:9200"])
def test_where_no_node_answers_it_says_so_in_a_line(address: str):
    done = CliRunner().invoke(main, ["serve", "--port", "0", "--opensearch", address])
    assert done.exit_code == 2
    assert address in done.stderr
    assert len(done.stderr.splitlines()) == 1
