"""A step costs what the page says, and no more than was promised."""

from __future__ import annotations

import pytest

from benchmarks import costs


@pytest.fixture(scope="module")
def rows():
    with costs.billed() as bill:
        bill.steps()
        return bill.rows


@pytest.fixture
def cost(rows):
    return dict(rows)


def test_the_page_is_what_was_counted(rows):
    assert costs.PAGE.read_text() == costs.page(rows), "run `make costs`"


@pytest.mark.parametrize("size", ["100", "1,000"])
def test_a_claim_is_two_calls_and_four_units_at_any_size(cost, size):
    claim = cost[f"claim, among {size} tasks"]
    assert claim.calls == 2
    assert claim.reads + claim.writes <= 4


def test_a_heartbeat_is_one_call_and_one_unit(cost):
    assert (cost["heartbeat"].calls, cost["heartbeat"].reads, cost["heartbeat"].writes) == (1, 0, 1)


def test_a_completion_that_nobody_waits_for_is_one_call(cost):
    assert cost["complete, nobody waits"].calls == 1


@pytest.mark.parametrize("children", [1, 5, 20])
def test_a_completion_costs_two_units_a_child_and_one_query(cost, children):
    complete = cost[f"complete, {children} wait"]
    assert complete.writes <= 3 + 2 * children
    assert complete.calls == 3 + children


def test_a_reap_is_one_update_beside_its_shards_query(cost):
    idle, reaping = cost["an idle poll of the sweeper (16 shards)"], cost["a poll that reaps one lapsed lease"]
    assert (idle.calls, idle.writes) == (16, 0)
    assert reaping.calls == idle.calls + 1
