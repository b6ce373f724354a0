"""What ``make bench`` says of a million facts, for some thousands: how much an hour takes, and who waits for whom."""

from __future__ import annotations

from benchmarks.decay import Price, backlog, beside, measured, month

PRICES = {"idle run": Price(16, 8, 0), "limbo": Price(6, 4, 11)}


def test_work_is_in_proportion_to_what_falls_due_and_none_is_late() -> None:
    lived = month(PRICES, 3_000, hours=24, tenants=5)
    assert lived.hours == [125] * 24
    assert lived.runs == 24
    assert lived.late_ms < 61 * 60_000
    assert lived.cost.writes == 3_000 * 11
    assert 6 <= lived.cost.calls / 3_000 < 7, "a step each, and the queries of every run"


def test_a_sweep_that_was_off_catches_up_under_its_cap_and_others_do_not_wait_for_it() -> None:
    left = backlog(PRICES, waiting=3_000, an_hour=20, cap=500)
    assert left.runs == 7, "480 of the waiting a run"
    assert left.others_late_ms < 61 * 60_000
    assert left.longest_run_ms < 60_000
    assert left.capped > 0


def test_a_lease_and_an_erasure_take_the_same_calls_with_facts_due_before_them() -> None:
    for alone, with_facts_due in beside(20).values():
        assert alone == with_facts_due > 0


def test_a_step_takes_a_few_calls_and_nothing_is_scanned() -> None:
    prices = measured(10)
    assert prices["idle run"].calls == 16
    assert prices["limbo"].calls < 8
    assert prices["forgotten"].calls < 12
    assert prices["removed"].calls < 20
