"""What stands in a slot depends on what was said and when, never on the order in which it arrived."""

from itertools import count, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from slate.domain.facts.timeline import KEPT_OF_A_RUN, Observation, Timeline, blanked, fold, insert, reopened, without


def said(value, at, confidence=0.8, **more):
    return Observation(more.pop("fact_id", ""), at, value, confidence, **more)


def told(*observations) -> Timeline:
    fresh, timeline = count(), ()
    for each in observations:
        new_id = each.fact_id or f"f{next(fresh)}"
        timeline = insert(timeline, each._replace(fact_id=new_id), lambda: f"g{next(fresh)}").timeline
    return timeline


def values(timeline):
    """What was true when, by value: without the ids, which depend on who came first."""
    by_id = {each.fact_id: each.value for each in timeline if not each.withdraws}
    return [
        (
            by_id[fact_id],
            one.valid_from,
            one.valid_to,
            one.last_confirmed_at,
            one.confidence,
            by_id.get(one.superseded_by),
            sorted(by_id[other] for other in one.contradicts),
        )
        for fact_id, one in fold(timeline).items()
    ]


def standing(timeline):
    by_id = {each.fact_id: each.value for each in timeline if not each.withdraws}
    return [by_id[fact_id] for fact_id, one in fold(timeline).items() if one.stands]


def test_the_newest_stands_and_what_it_replaced_is_history_whatever_the_order():
    london, berlin = said("london", 1), said("berlin", 2)
    for order in permutations([london, berlin]):
        assert values(told(*order)) == [("london", 1, 2, 1, 0.8, "berlin", []), ("berlin", 2, None, 2, 0.8, None, [])]


def test_saying_it_again_confirms_at_the_moment_when_it_was_said():
    for order in permutations([said("email", 1), said("email", 5), said("email", 3)]):
        assert values(told(*order)) == [("email", 1, None, 5, 0.8, None, [])]


def test_at_the_same_instant_the_one_that_arrived_later_is_newer():
    assert standing(told(said("a", 1), said("b", 1))) == ["b"]
    assert standing(told(said("b", 1), said("a", 1))) == ["a"]
    assert standing(told(said("a", 1), said("b", 1), said("a", 1))) == ["a"]


def test_within_a_session_the_later_turn_is_newer_also_at_the_same_instant():
    first, second = said("a", 1, session_id="s", seq=1), said("b", 1, session_id="s", seq=3)
    assert standing(told(first, second)) == standing(told(second, first)) == ["b"]


def test_what_is_less_sure_stands_beside_what_it_contradicts():
    sure, weak = said("initech", 1, 0.9), said("globocorp", 2, 0.3)
    for order in permutations([sure, weak]):
        timeline = told(*order)
        assert sorted(standing(timeline)) == ["globocorp", "initech"]
        assert all(one.contradicts for one in fold(timeline).values())


def test_the_persons_own_words_outweigh_what_was_posted_as_surer():
    for order in permutations([said("initech", 1, 0.95), said("globocorp", 2, 0.6, own=True)]):
        assert standing(told(*order)) == ["globocorp"]


def test_a_withdrawal_ends_what_it_names_and_nothing_that_was_said_later():
    for order in permutations([said("postgres", 1), said("postgres", 3, withdraws=True)]):
        assert values(told(*order)) == [("postgres", 1, 3, 1, 0.8, None, [])]
    for order in permutations([said("a", 1), said("", 2, withdraws=True), said("a", 3)]):
        assert standing(told(*order)) == ["a"]


def test_of_a_fact_that_is_parted_the_newest_part_keeps_its_id():
    timeline = told(said("a", 1, fact_id="first"), said("a", 3, fact_id="again"), said("b", 2, fact_id="between"))
    by_id = dict(fold(timeline).items())
    assert by_id["first"].valid_from == 3
    assert by_id["first"].stands
    assert by_id["between"].valid_to == 3
    assert by_id["between"].superseded_by == "first"


def test_the_same_turn_read_once_more_changes_nothing():
    one = said("a", 1, fact_id="x", session_id="s", seq=2)
    timeline = told(one, said("b", 1, fact_id="y", session_id="s", seq=4))
    again = insert(timeline, one._replace(fact_id="z"), lambda: "new")
    assert not again.changed
    assert again.fact_id == "x"
    assert again.timeline == timeline


def test_what_was_deleted_is_new_when_it_is_said_again_and_comes_back_when_restored():
    gone = said("a", 1, fact_id="gone", withdraws=True, closes="old")
    deleted = told(said("a", 1, fact_id="old"), gone)
    assert standing(deleted) == []
    again = insert(deleted, said("a", 1, fact_id="again"), lambda: "new")
    assert again.new
    assert again.fact_id == "again"
    assert standing(again.timeline) == ["a"]
    assert standing(reopened(deleted, "old", str).timeline) == ["a"]


def test_deleting_an_old_one_leaves_the_same_value_that_was_said_later():
    timeline = told(said("a", 1, fact_id="x"), said("b", 2, fact_id="y"), said("a", 3, fact_id="z"))
    assert standing(told(*timeline, said("a", 9, fact_id="d", withdraws=True, closes="x"))) == ["a"]


def test_what_was_shelved_says_nothing_until_it_is_said_again():
    shelved = told(said("a", 1, fact_id="kept"), said("b", 2, fact_id="trivial", shelved=True))
    assert standing(shelved) == ["a"]
    again = insert(shelved, said("b", 3, fact_id="new"), lambda: "other")
    assert again.fact_id == "trivial"
    assert standing(again.timeline) == ["b"]


def test_taking_a_fact_out_leaves_the_slot_as_if_it_had_never_been_said():
    timeline = told(said("london", 1, fact_id="l"), said("berlin", 2, fact_id="b"))
    assert values(without(timeline, "b")) == [("london", 1, None, 1, 0.8, None, [])]


def test_saying_it_a_thousand_times_does_not_grow_it():
    timeline = told(*(said("metric", at) for at in range(1_000)))
    assert len(timeline) <= KEPT_OF_A_RUN + 1
    assert values(timeline) == [("metric", 0, None, 999, 0.8, None, [])]


observations = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.integers(1, 12), st.sampled_from([0.3, 0.6, 0.9]), st.booleans(), st.booleans()
    ),
    min_size=1,
    max_size=7,
    unique_by=lambda each: each[1],
)


@settings(max_examples=300, deadline=None)
@given(observations, st.randoms(use_true_random=False))
def test_any_order_of_arrival_ends_in_the_same_state(drawn, random):
    each = [said(v, at, c, own=own, withdraws=withdraws) for v, at, c, own, withdraws in drawn]
    in_order = values(told(*sorted(each, key=lambda one: one.at)))
    random.shuffle(each)
    timeline = told(*each)
    assert values(timeline) == in_order
    assert len({one.fact_id for one in timeline if not one.withdraws}) == len(in_order), "one id for each fact"


STATEMENTS = st.lists(
    st.builds(said, st.sampled_from("abc"), st.integers(1, 6), st.sampled_from([0.3, 0.8])), min_size=1, max_size=8
)


def ends(timeline):
    return {fact_id: one.valid_to for fact_id, one in fold(timeline).items()}


@given(STATEMENTS, st.data())
def test_without_a_word_of_a_fact_what_it_replaced_stays_replaced_from_the_same_instant_on(statements, data):
    timeline = told(*statements)
    fact_id = data.draw(st.sampled_from([each.fact_id for each in timeline]))
    value = next(each.value for each in timeline if each.fact_id == fact_id)
    left = blanked(timeline, fact_id)
    assert all(fact_id not in (each.fact_id, each.closes) for each in left)
    assert value not in {each.value for each in left} or value in {
        each.value for each in timeline if each.fact_id != fact_id
    }
    before, after = ends(timeline), ends(left)
    assert after.keys() == before.keys() - {fact_id}
    for other, until in after.items():
        assert until == before[other], other


@given(STATEMENTS, st.data())
def test_in_whichever_order_facts_go_for_good_the_same_is_left(statements, data):
    timeline = told(*statements)
    ids = sorted({each.fact_id for each in timeline})
    one, other = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(ids))
    assert blanked(blanked(timeline, one), other) == blanked(blanked(timeline, other), one)


def test_a_fact_that_was_said_first_and_again_does_not_let_go_of_what_it_replaced():
    timeline = told(said("rome", 1), said("bonn", 2), said("rome", 3))
    rome, bonn = timeline[0].fact_id, timeline[1].fact_id
    again = timeline[2].fact_id
    for gone in (rome, again):
        assert ends(blanked(timeline, gone))[bonn] == 3
    assert ends(blanked(blanked(timeline, rome), again)) == {bonn: 3}
