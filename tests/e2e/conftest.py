"""A whole Slate in this process, asked as over HTTP, without a port."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from slate_app import Api
from slate_functions.local.service import LocalService, open_service


@pytest.fixture(scope="module")
def service() -> Iterator[LocalService]:
    with open_service(manual=True) as service:
        yield service


@pytest.fixture
def acme(service) -> Api:
    return Api(service, service.keys["acme"])


@pytest.fixture
def globex(service) -> Api:
    return Api(service, service.keys["globex"])


@pytest.fixture
def uid() -> str:
    return uuid.uuid4().hex[:12]
