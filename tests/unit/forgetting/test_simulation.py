"""The year that ``make eval`` prints for a thousand people, for three of them."""

from evals.forgetting import CAP, catch_up, simulate
from slate.domain.forgetting.evicting import CHECKS


def test_a_year_keeps_what_matters_finds_what_is_asked_and_stays_bounded():
    scores = simulate(range(3), compare=True)
    slate, plain, window = scores["Slate"], scores["keeps all"], scores["window"]
    assert slate.lost == 0
    assert slate.most <= CAP + 2 * CAP // CHECKS + 1
    assert plain.most > 2 * slate.most
    assert slate.recall > 0.95
    assert window.recall < 0.4
    for other in (plain, scores["no eviction"]):
        assert slate.recall >= other.recall - 0.01
        assert slate.precision >= other.precision - 0.01


def test_a_backlog_is_worked_off_only_if_the_cap_is_above_what_falls_due():
    assert catch_up(100, 10, 60) == 2
    assert catch_up(0, 10, 60) == 0
