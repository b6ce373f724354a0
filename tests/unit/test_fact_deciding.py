"""What is written for each statement adds up: the facts that are kept are those of the slot's timeline, in any order."""

from __future__ import annotations

from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from slate.domain.facts import changing, deciding
from slate.domain.facts.model import Fact, FactState
from slate.domain.facts.timeline import Observation, fold

NOW = 100


class Slot:
    """A store of one slot, in memory."""

    def __init__(self):
        self.timeline, self.facts, self._ids = (), {}, count(1)

    def new_id(self):
        return f"f{next(self._ids)}"

    def fetch(self, ids):
        return {each: self.facts[each] for each in ids if each in self.facts}

    def say(self, value, at, confidence=0.8, *, own=False, withdraws=False, importance=5):
        fresh = self.new_id()
        state = FactState.ACTIVE if importance >= 4 else FactState.FORGOTTEN
        said = Observation(fresh, at, value, confidence, own=own, withdraws=withdraws, shelved=importance < 4)
        if withdraws:
            plan = deciding.withdraw(self.timeline, said, self.fetch, self.new_id, NOW)
        else:
            plan = deciding.state(
                self.timeline, fact(fresh, value, at, confidence, importance, state), said, self.fetch, self.new_id, NOW
            )
        if plan.writes:
            self.keep(plan.timeline, plan.changed)
        return plan.decision

    def keep(self, timeline, changed):
        self.timeline = timeline
        self.facts |= {each.fact_id: each for each in changed}

    def active(self):
        return sorted(each.value for each in self.facts.values() if each.state is FactState.ACTIVE)

    def told(self):
        real = [each for each in self.facts.values() if each.valid_to is None or each.valid_from < each.valid_to]
        return sorted(
            (each.value, each.valid_from, each.valid_to or 999, each.state.value, each.confidence) for each in real
        )


def fact(fact_id, value, at, confidence=0.8, importance=5, state=FactState.ACTIVE):
    return Fact(
        fact_id=fact_id, statement=value, value=value, category="other", importance=importance, confidence=confidence,
        state=state, observed_at=at, last_confirmed_at=at, valid_from=at, created_at=NOW, updated_at=NOW,
    )  # fmt: skip


statements = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.integers(1, 14), st.sampled_from([0.3, 0.6, 0.9]), st.booleans(), st.booleans()
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda each: each[1],
)


def after(each):
    slot = Slot()
    for value, at, confidence, own, withdraws in each:
        slot.say(value, at, confidence, own=own, withdraws=withdraws)
    return slot


@settings(max_examples=300, deadline=None)
@given(statements, st.randoms(use_true_random=False))
def test_the_kept_facts_are_the_same_whatever_the_order_of_arrival(drawn, random):
    in_order = after(sorted(drawn, key=lambda each: each[1]))
    random.shuffle(drawn)
    shuffled = after(drawn)
    assert shuffled.told() == in_order.told()
    for slot in (in_order, shuffled):
        for fact_id, one in fold(slot.timeline).items():
            kept = slot.facts[fact_id]
            assert (kept.valid_from, kept.valid_to, kept.superseded_by) == (
                one.valid_from,
                one.valid_to,
                one.superseded_by,
            )
            assert (kept.state is FactState.ACTIVE) is one.stands


def test_a_decision_says_what_became_of_it():
    slot = Slot()
    first = slot.say("london", 1)
    assert first.op == "ADD"
    assert slot.say("london", 2).op == "NOOP"
    moved = slot.say("berlin", 5)
    assert (moved.op, moved.superseded) == ("UPDATE", (first.fact_id,))
    late = slot.say("rome", 3)
    assert (late.op, late.reason) == ("NOOP", deciding.LATE)
    weak = slot.say("oslo", 7, 0.2)
    assert (weak.op, weak.contradicts) == ("ADD", (moved.fact_id,))
    assert slot.say("", 9, withdraws=True).op == "DELETE"
    assert slot.active() == []
    assert slot.say("oslo", 8, withdraws=True).op == "NOOP"


def test_the_trivial_waits_until_it_is_said_again_or_restored():
    slot = Slot()
    refused = slot.say("hat", 1, importance=2)
    assert (refused.op, slot.active()) == ("REFUSED", [])
    assert slot.say("hat", 2, importance=3).fact_id == refused.fact_id
    again = slot.say("hat", 3, importance=6)
    assert (again.op, again.fact_id, slot.active()) == ("ADD", refused.fact_id, ["hat"])
    assert slot.facts[refused.fact_id].importance == 6


def test_forgetting_and_restoring_are_each_others_undoing():
    slot = Slot()
    old, new = slot.say("london", 1).fact_id, slot.say("berlin", 5).fact_id
    before = slot.told()
    slot.keep(*changing.forget(slot.timeline, slot.facts[new], slot.fetch, NOW, NOW + 9, said=True))
    assert slot.active() == []
    slot.keep(*changing.restore(slot.timeline, slot.facts[new], slot.fetch, slot.new_id))
    assert slot.told() == before
    slot.keep(*changing.forget(slot.timeline, slot.facts[old], slot.fetch, NOW, NOW + 9, said=False))
    assert slot.active() == ["berlin"]
    assert slot.say("berlin", 6).op == "NOOP"


def test_said_again_after_a_delete_it_is_new_and_the_restored_one_is_the_same_fact_again():
    slot = Slot()
    first = slot.say("tea", 1).fact_id
    slot.keep(*changing.forget(slot.timeline, slot.facts[first], slot.fetch, NOW, NOW + 9, said=True))
    second = slot.say("tea", NOW + 1).fact_id
    assert second != first
    slot.keep(*changing.restore(slot.timeline, slot.facts[first], slot.fetch, slot.new_id))
    assert slot.active() == ["tea"], "one of them, not both"
