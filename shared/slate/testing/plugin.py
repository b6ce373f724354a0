"""The pytest plugin that comes with the package: the fixture ``fresh_slate``.

It costs a test run nothing until a test asks for it: everything is imported in the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from slate.testing.in_process import InProcessSlate


@pytest.fixture
def fresh_slate() -> Iterator[InProcessSlate]:
    """An empty Slate in this process, without a port: time stands still until the test moves it."""
    from slate.testing.in_process import InProcessSlate

    with InProcessSlate() as slate:
        yield slate
