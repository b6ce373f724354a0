"""How a memory fades: the laws, for any fact and any setting."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from slate.domain.facts.model import Category, Fact, FactState
from slate.domain.forgetting.evicting import CHECKS, Interest, evicted, is_checked, rated, ratings
from slate.domain.forgetting.fading import going
from slate.domain.forgetting.feedback import MOST_STEPS, stepped
from slate.domain.forgetting.policy import DEFAULT_POLICY, HALF_LIVES, DecayPolicy
from slate.domain.forgetting.strength import (
    DAY_MS,
    LOOKED_AT_DAYS,
    MOST_GROWTH,
    due_at,
    fades,
    falls_below,
    half_life_ms,
    in_session,
    since,
    strength,
)
from slate.domain.forgetting.waking import brought_back, woken

T0 = 1_800_000_000_000
YEAR = 366 * DAY_MS


def fact(importance=5, category=Category.OTHER, **more):
    at = more.pop("at", T0)
    instants = dict.fromkeys(("observed_at", "last_confirmed_at", "valid_from", "created_at", "updated_at"), at)
    return Fact(
        **{"fact_id": "f1", "statement": "Saw a heron", **instants, **more}, importance=importance, category=category
    )


@dataclass
class Any:
    importance = st.integers(1, 10)
    fading = st.integers(1, 7)
    category = st.sampled_from(Category)
    age = st.integers(0, 20 * YEAR)
    wakes = st.integers(0, 100)
    policy = st.builds(
        lambda days, limbo, share: DecayPolicy(
            half_lives=dict.fromkeys(Category, days), limbo_below=limbo, forget_below=limbo * share
        ),
        st.integers(1, 36_500),
        st.floats(0.01, 0.49),
        st.floats(0.01, 0.99),
    )


@given(Any.fading, Any.category)
def test_at_one_half_life_exactly_one_half_is_left(importance, category):
    it = fact(importance, category)
    at = T0 + HALF_LIVES[category] * DAY_MS
    assert strength(it, DEFAULT_POLICY, at) == importance / 10 / 2
    assert in_session(importance, 15) == importance / 10 / 2


@given(Any.fading, Any.category, Any.wakes, Any.age, Any.age, Any.policy)
def test_it_only_ever_grows_weaker_with_age(importance, category, wakes, one, other, policy):
    it = fact(importance, category, wakes=wakes)
    young, old = sorted((one, other))
    assert strength(it, policy, T0 + young) >= strength(it, policy, T0 + old)


@given(Any.importance, Any.importance, Any.category, Any.age, Any.policy)
def test_of_two_alike_the_more_important_is_never_the_weaker(one, other, category, age, policy):
    less, more = sorted((one, other))
    assert strength(fact(less, category), policy, T0 + age) <= strength(fact(more, category), policy, T0 + age)


@given(Any.fading, Any.category, Any.wakes, Any.age, Any.age, Any.policy, st.booleans())
def test_waking_never_weakens_and_the_growth_is_bounded(importance, category, wakes, used, later, policy, spoken):
    it = fact(importance, category, wakes=wakes)
    # What is gone is not woken; then there is nothing that could be weaker.
    up = woken(it, T0 + used, policy, T0 + used, spoken=spoken) or it
    now = T0 + used + later
    assert strength(up, policy, now) >= strength(it, policy, now)
    assert half_life_ms(it, policy) <= half_life_ms(up, policy) <= MOST_GROWTH * policy.half_lives[category] * DAY_MS


@given(st.integers(8, 10), Any.category, Any.age, Any.policy)
def test_above_seven_nothing_goes_by_itself(importance, category, age, policy):
    it, now = fact(importance, category), T0 + age
    assert going(it, policy, now) is None
    assert strength(it, policy, now) == importance / 10
    assert evicted([rated(it, policy, now, 0)] * 3, policy._replace(fact_cap=1)) == []


@given(Any.fading, Any.category, Any.age, Any.policy)
def test_pinned_or_in_a_slot_that_hardly_changes_nothing_goes(importance, category, age, policy):
    for more in ({"pinned": True}, {"attribute": "tz"}, {"attribute": "dietary preference"}, {"attribute": "language"}):
        it = fact(importance, category, **more)
        assert going(it, policy, T0 + age) is None
        assert evicted([rated(it, policy, T0 + age, 0)], policy._replace(fact_cap=0)) == []


@given(Any.fading, Any.category, Any.wakes, Any.policy)
def test_the_closed_form_names_the_first_millisecond_below_a_threshold(importance, category, wakes, policy):
    it = fact(importance, category, wakes=wakes)
    for threshold in (policy.limbo_below, policy.forget_below):
        at = falls_below(it, policy, threshold)
        assert strength(it, policy, at) < threshold
        assert at == since(it) or strength(it, policy, at - 1) >= threshold


@given(Any.importance, Any.category, Any.wakes, Any.policy, st.sampled_from(FactState), Any.age)
def test_nothing_is_due_before_its_moment_and_what_is_due_goes(importance, category, wakes, policy, state, age):
    """The entry in the timer is never later than the step, and a look that finds nothing moves it on."""
    until = T0 if state is FactState.FORGOTTEN else None
    it, now = fact(importance, category, wakes=wakes, state=state, restorable_until=until), T0 + age
    due = due_at(it, policy, now)
    assert due is not None
    assert now <= due <= now + LOOKED_AT_DAYS * DAY_MS or state is FactState.FORGOTTEN
    if going(it, policy, now) is not None:
        assert due == now
    elif state is not FactState.FORGOTTEN:
        assert due > now


@given(Any.fading, Any.category, Any.policy)
def test_it_goes_to_limbo_first_then_is_forgotten_each_with_its_numbers(importance, category, policy):
    it, now = fact(importance, category), T0 + 5_000 * YEAR
    first = going(it, policy, now)
    assert first.state is FactState.LIMBO
    assert first.restorable_until >= now + policy.restore_days * DAY_MS
    second = going(it.model_copy(update={"state": FactState.LIMBO}), policy, now)
    assert second.state is FactState.FORGOTTEN
    for step in (first, second):
        assert {"strength", "start", "importance", "age_days", "half_life_days", "wakes"} <= step.numbers.keys()
    assert going(it.model_copy(update={"state": FactState.FORGOTTEN}), policy, now) is None


def test_importance_five_meets_the_threshold_of_limbo_after_exactly_one_half_life():
    it, one = fact(5), HALF_LIVES[Category.OTHER] * DAY_MS
    assert going(it, DEFAULT_POLICY, T0 + one) is None
    assert going(it, DEFAULT_POLICY, T0 + one + 1).state is FactState.LIMBO


def test_retention_is_a_limit_for_all_also_above_seven_and_counts_from_when_it_was_said_last():
    policy = DEFAULT_POLICY._replace(retention_days={Category.VOLATILE: 10})
    it = fact(10, Category.VOLATILE, pinned=True)
    assert going(it, policy, T0 + 10 * DAY_MS - 1) is None
    gone = going(it, policy, T0 + 10 * DAY_MS)
    assert (gone.state, gone.rule, gone.numbers["retention_days"]) == (FactState.FORGOTTEN, "retention", 10)
    said_again = it.model_copy(update={"last_confirmed_at": T0 + 5 * DAY_MS})
    assert going(said_again, policy, T0 + 10 * DAY_MS) is None
    assert due_at(it, policy, T0) == T0 + 10 * DAY_MS


def test_history_goes_by_retention_alone():
    old = fact(2, Category.VOLATILE, state=FactState.SUPERSEDED)
    assert going(old, DEFAULT_POLICY, T0 + 9 * YEAR) is None
    policy = DEFAULT_POLICY._replace(retention_days={Category.VOLATILE: 10})
    assert going(old, policy, T0 + 9 * YEAR).rule == "retention"


def test_what_is_kept_perhaps_is_kept_four_times_as_long():
    asleep = fact(5, state=FactState.LIMBO)
    perhaps = asleep.model_copy(update={"keep_maybe": True})
    assert falls_below(perhaps, DEFAULT_POLICY, 0.05) - T0 >= 4 * (falls_below(asleep, DEFAULT_POLICY, 0.05) - T0) - 4


class TestWaking:
    later = T0 + 59 * DAY_MS

    def test_a_busy_session_wakes_once_an_hour(self):
        up = woken(fact(), self.later, DEFAULT_POLICY, self.later, spoken=False)
        assert (up.woken_at, up.wakes) == (self.later, 1)
        assert woken(up, self.later + 3_599_999, DEFAULT_POLICY, self.later, spoken=False) is None
        assert woken(up, self.later + 3_600_000, DEFAULT_POLICY, self.later, spoken=False).wakes == 2

    def test_what_was_served_before_it_went_into_limbo_comes_back(self):
        asleep, now = fact(state=FactState.LIMBO, gone_by="decay"), self.later + 5 * DAY_MS
        up = woken(asleep, self.later, DEFAULT_POLICY, now, spoken=False)
        assert (up.state, up.woken_at, up.gone_by) == (FactState.ACTIVE, self.later, None)
        assert woken(asleep, self.later, DEFAULT_POLICY, self.later + YEAR, spoken=False) is None, "faded again by now"

    def test_what_somebody_put_in_limbo_comes_back_when_it_is_spoken_of_only(self):
        asleep = fact(state=FactState.LIMBO, keep_maybe=True)
        assert woken(asleep, self.later, DEFAULT_POLICY, self.later, spoken=False) is None
        assert woken(asleep, self.later, DEFAULT_POLICY, self.later, spoken=True).state is FactState.ACTIVE

    def test_what_is_forgotten_or_history_is_not_woken(self):
        for state in (FactState.FORGOTTEN, FactState.SUPERSEDED):
            assert woken(fact(state=state), self.later, DEFAULT_POLICY, self.later, spoken=True) is None

    def test_what_is_restored_starts_with_a_half_at_least(self):
        for importance, start in ((2, 0.5), (5, 0.5), (7, 0.7)):
            gone = fact(importance, state=FactState.FORGOTTEN)
            back = brought_back(gone, gone.model_copy(update={"state": FactState.ACTIVE}), self.later)
            assert strength(back, DEFAULT_POLICY, self.later) == start
            assert (back.importance, back.gone_by) == (importance, None)

    def test_that_it_was_wanted_back_counts_where_it_had_gone_by_itself(self):
        gone = fact(5, state=FactState.LIMBO, gone_by="decay")
        back = brought_back(gone, gone.model_copy(update={"state": FactState.ACTIVE}), self.later)
        assert (back.importance, back.adjusted) == (6, 1)


@given(Any.importance, st.lists(st.sampled_from([-1, 1]), max_size=30))
def test_feedback_moves_by_steps_within_bounds_and_never_across_seven(importance, steps):
    it = fact(importance)
    for step in steps:
        moved = stepped(it, step)
        assert abs(moved.importance - it.importance) <= 1
        it = moved
    assert abs(it.importance - importance) <= MOST_STEPS
    assert (it.importance > 7) == (importance > 7)
    assert it.importance >= min(importance, 4)
    assert it.importance - importance == it.adjusted


class TestEviction:
    now = T0 + YEAR

    def rate(self, name, *, age_days, wakes=0, aligned=0.0, importance=5):
        it = fact(importance, fact_id=name, at=self.now - age_days * DAY_MS, wakes=wakes)
        return rated(it, DEFAULT_POLICY, self.now, aligned)

    def test_the_least_recent_least_used_least_asked_for_goes_first(self):
        old, used, asked, new = (
            self.rate("old", age_days=300),
            self.rate("used", age_days=300, wakes=20),
            self.rate("asked", age_days=300, aligned=1.0),
            self.rate("new", age_days=1),
        )
        for cap, gone in ((3, ["old"]), (4, []), (1, ["old", "asked", "new"])):
            left = evicted([new, asked, used, old], DEFAULT_POLICY._replace(fact_cap=cap))
            assert [each.fact.fact_id for each in left] == gone

    def test_a_cap_full_of_what_never_goes_is_not_trimmed(self):
        important = [self.rate(f"i{n}", age_days=300, importance=9) for n in range(5)]
        plain = self.rate("plain", age_days=0)
        assert evicted([*important, plain], DEFAULT_POLICY._replace(fact_cap=3)) == [plain]

    def test_alignment_is_with_the_nearest_query(self):
        assert Interest([{"invoice"}, {"heron"}]).alignment({"blue", "heron"}) == 1.0
        assert Interest([{"blue", "invoice", "due"}]).alignment({"blue", "heron"}) == 0.5
        assert Interest([]).alignment({"blue"}) == 0.0
        assert Interest([set(), {"blue"}]).alignment(set()) == 0.0

    def test_recency_is_the_facts_own_a_preference_is_not_old_when_a_remark_is(self):
        taste = fact(6, fact_id="taste", at=self.now - 60 * DAY_MS, category=Category.PREFERENCE)
        remark = fact(4, fact_id="remark", at=self.now - 20 * DAY_MS)
        both = ratings([taste, remark], ["which film?"], DEFAULT_POLICY, self.now)
        assert [each.fact.fact_id for each in evicted(both, DEFAULT_POLICY._replace(fact_cap=1))] == ["remark"]

    def test_a_small_cap_is_looked_at_with_every_fact_a_large_one_often_enough(self):
        ids = [f"f{n:012x}" for n in range(4_000)]
        assert all(is_checked(each, CHECKS) for each in ids)
        assert 2_000 // CHECKS * 0.5 < len(ids) / sum(is_checked(each, 2_000) for each in ids) < 2_000 // CHECKS * 2


def test_fades_knows_aliases_of_slots():
    assert not fades(fact(attribute="Time Zone"), DEFAULT_POLICY)
    assert fades(fact(attribute="city"), DEFAULT_POLICY)
