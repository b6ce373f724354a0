"""The shop's order book and its policy: what a reply may rest on, whatever a ticket claims."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

HERE = Path(__file__).parent


class Entry(BaseModel):
    """Money that moved on a day: ``89.90 EUR``."""

    model_config = ConfigDict(frozen=True)

    on: date
    amount: str


class Order(BaseModel):
    """What is known of one order."""

    model_config = ConfigDict(frozen=True)

    order: str
    email: str
    placed: date
    total: str
    invoice: str
    promised: date
    charges: tuple[Entry, ...]
    refunds: tuple[Entry, ...] = ()
    final_sale: bool = False
    carrier: str | None = None
    tracking: str | None = None
    shipped: date | None = None
    delivered: date | None = None


class Policy(BaseModel):
    """The rules of a refund; ``as_of`` is the day on which the example plays."""

    model_config = ConfigDict(frozen=True)

    as_of: date
    return_window_days: int
    damage_window_days: int
    lost_after_days: int
    refund_limit: dict[str, Decimal]


class Book:
    """Orders by number, and the policy."""

    def __init__(self, orders: dict[str, Order], policy: Policy) -> None:
        self.policy = policy
        self._orders = orders

    @classmethod
    def load(cls, folder: Path = HERE) -> Self:
        """Read ``orders.json`` and ``policy.json``."""
        rows = json.loads((folder / "orders.json").read_text(encoding="utf-8"))
        orders = {row["order"]: Order.model_validate(row) for row in rows}
        return cls(orders, Policy.model_validate_json((folder / "policy.json").read_bytes()))

    def find(self, number: str) -> Order | None:
        """The order of this number."""
        return self._orders.get(number)

    def lost(self, order: Order) -> bool:
        """Whether it has been on its way for so long after its promised day that it counts as lost."""
        return self.days_late(order) > self.policy.lost_after_days

    def days_late(self, order: Order) -> int:
        """Days since the promised one, while it has been shipped and has not arrived."""
        on_its_way = order.shipped is not None and order.delivered is None
        return max((self.policy.as_of - order.promised).days, 0) if on_its_way else 0
