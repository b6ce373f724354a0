"""The year that ``make eval`` prints for a thousand people, for four of them."""

from evals.forgetting import CAP, simulate
from slate.domain.forgetting.evicting import CHECKS


def test_a_year_keeps_what_matters_finds_what_is_asked_and_stays_bounded():
    scores = simulate(range(4), compare=True)
    slate, plain, window = scores["Slate"], scores["keeps all"], scores["window"]
    assert slate.asked > 200
    assert slate.lost == 0
    assert slate.most <= CAP + 2 * CAP // CHECKS + 1
    assert plain.most > 2 * slate.most
    assert slate.evicted > 50
    assert slate.purged > 50
    assert slate.recall > 0.95
    assert window.recall < 0.4
    for other in (plain, scores["no eviction"]):
        assert slate.recall >= other.recall
        assert slate.precision >= other.precision
