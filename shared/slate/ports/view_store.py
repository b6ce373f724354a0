"""Tasks in outline, for views of a whole graph: nothing that a caller said is read or opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from slate.domain.critical_path import Outline


class ViewStore(Protocol):
    """Reads outlines."""

    def outlines(
        self, tenant: str, graph_id: str, after: str | None = None, *, at_once: int | None = None
    ) -> Iterator[Outline]:
        """Tasks of a graph by id, from behind one on, strongly consistent; read as they are taken."""
        ...
