"""What tests of several kinds share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from slate.adapters.inprocess.moto_engine import MotoEngine
from tenant_policy import enforced_everywhere

pytest_plugins = ["opensearch_node.fixture"]


@pytest.fixture(scope="session", autouse=True)
def policies_hold() -> Iterator[None]:
    """Every request of every test is held against the policies that the template gives the roles for a tenant."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MotoEngine, "client", enforced_everywhere(MotoEngine.client))
        yield
