"""The node of the tests, Docker's image and the domain on AWS are of one version."""

from __future__ import annotations

import re

from opensearch_node.node import HERE, version
from slate_infra.constructs.search import VERSION


def test_the_domain_runs_the_version_that_the_tests_run():
    assert f"OpenSearch_{version().rpartition('.')[0]}" == VERSION.version


def test_docker_runs_it_too():
    images = re.findall(r"image: opensearchproject/opensearch:(\S+)", (HERE / "compose.yaml").read_text())
    assert images == [version()]
