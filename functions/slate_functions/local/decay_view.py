"""What decay would do, as a table: ids, rules and numbers, and nothing of what the facts say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table


def decay_of(rows: Iterable[Mapping[str, Any]]) -> Table:
    """A row for each fact that would go."""
    table = Table("tenant", "subject", "fact", "becomes", "rule", "strength", "half-life", "age", "why", box=None)
    for row in rows:
        numbers = row["numbers"]
        table.add_row(
            row["tenant"],
            row["ref"][:12],
            row["fact_id"],
            "gone" if row["rule"] == "undo_over" else row["state"],
            row["rule"],
            _figure(numbers, "strength", ""),
            _figure(numbers, "half_life_days", " d"),
            _figure(numbers, "age_days", " d"),
            row["reason"],
        )
    return table


def _figure(numbers: Mapping[str, float], name: str, unit: str) -> str:
    return f"{numbers[name]:.4g}{unit}" if name in numbers else ""
