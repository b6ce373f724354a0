"""The vectors of one embedder, side by side in one block of memory, so that all are compared at once."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from typing import Any

from slate.domain.vectors import Vector

HAS_NUMPY = find_spec("numpy") is not None


class VectorRows:
    """Rows by name. With numpy installed they are compared by it; what is answered is the same but for last digits."""

    def __init__(self, *, numpy: bool = HAS_NUMPY) -> None:
        self._numpy = numpy
        self._dimension = 0
        self._block = array("f")
        self._place: dict[str, int] = {}
        self._free: list[int] = []

    def put(self, name: str, vector: Vector) -> None:
        """Add a row, or replace it."""
        self._dimension = self._dimension or len(vector)
        place = self._place.get(name)
        if place is None:
            place = self._free.pop() if self._free else len(self._block) // self._dimension
            self._place[name] = place
        start = place * self._dimension
        self._block[start : start + self._dimension] = array("f", vector)

    def drop(self, name: str) -> None:
        """Remove a row, if it is there; its place is given to another."""
        place = self._place.pop(name, None)
        if place is not None:
            start = place * self._dimension
            self._block[start : start + self._dimension] = array("f", bytes(4 * self._dimension))
            self._free.append(place)

    def likeness(self, vector: Vector, among: Collection[str] | None = None) -> dict[str, float]:
        """The dot product of each row with this vector; ``among`` these where given."""
        if not self._place or len(vector) != self._dimension or not any(vector):
            return {}
        names = self._place if among is None else [name for name in self._place if name in among]
        if self._numpy:
            dots = self._fast(vector)
            return {name: dots[self._place[name]] for name in names}
        used = [(i, value) for i, value in enumerate(vector) if value]
        return {name: self._dot(self._place[name] * self._dimension, used) for name in names}

    def _fast(self, vector: Vector) -> Sequence[float]:
        import numpy as np

        table: Any = np.frombuffer(self._block, dtype=np.float32).reshape(-1, self._dimension)
        found: list[float] = (table @ np.array(vector, dtype=np.float32)).tolist()
        return found

    def _dot(self, start: int, used: Sequence[tuple[int, float]]) -> float:
        block = self._block
        return sum([block[start + i] * value for i, value in used])
