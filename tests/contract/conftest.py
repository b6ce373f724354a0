"""One moto for a module, one world for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from contract.world import World
from slate.adapters.inprocess.moto_engine import MotoEngine


@pytest.fixture(scope="module")
def clients() -> Iterator[tuple[Any, Any]]:
    with MotoEngine(region="eu-central-1") as engine:
        yield engine.client("dynamodb"), engine.client("s3")


@pytest.fixture
def worlds(clients: tuple[Any, Any]) -> Iterator[Callable[..., World]]:
    """Makes worlds, and takes them away after the test."""
    made: list[World] = []

    def make(**settings: Any) -> World:
        made.append(World(*clients, **settings))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def w(worlds: Callable[..., World]) -> World:
    return worlds()
