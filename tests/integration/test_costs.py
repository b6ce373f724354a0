"""What each step may cost at most, in calls and units, and that the page says what is counted."""

from __future__ import annotations

import pytest

from benchmarks import conversation
from benchmarks.costs import PAGE, derived, measured, page
from benchmarks.figures import Figures
from benchmarks.money import MONTHS, domain, looks_while_waiting
from benchmarks.prices import Prices, Stack, Work
from benchmarks.steps import claim_among, complete_over
from contract.world import TENANT, World
from slate.adapters.dynamodb.calls import to_wire
from slate.adapters.dynamodb.keys import task_key
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.testing.capacity import item_bytes

LONG = "claim, 10,000 ready"


@pytest.fixture(scope="module")
def known():
    # A tenth of it stands for the long queue, and the test below says that the length is no matter.
    figures = measured(**{LONG: claim_among(1_000)})
    return {**figures, **derived(figures)}


def test_a_claim_is_two_calls_and_four_units_at_most_however_long_the_queue(known):
    few, many = known["claim, 100 ready"], known[LONG]
    assert few == many
    assert (few.calls, few.units <= 4) == (2, True)
    assert known["claim, none ready"].calls == 1


@pytest.mark.race
def test_a_claim_among_10_000_costs_what_the_page_says(known):
    assert measured()[LONG] == known[LONG]


def test_who_waits_in_vain_looks_less_than_once_a_second(known):
    assert known["claim, none ready"] == Figures(1, 0.5, 0)
    assert 5 < looks_while_waiting(20) < 20


def test_a_heartbeat_is_one_call_and_one_write_unit(known):
    assert known["heartbeat"] == known["heartbeat with progress"] == Figures(1, 0, 1)


def test_completing_a_task_that_nobody_waits_for_is_one_call(known):
    assert known["complete, nobody waits"] == Figures(1, 0, 2)


@pytest.mark.parametrize(("step", "children"), [("1 child", 1), ("5 children", 5), ("20 children", 20)])
def test_freeing_d_children_costs_3_and_2d_write_units_and_one_consistent_query(known, step, children):
    assert known[f"complete, {step}"] == Figures(3 + children, 1, 3 + 2 * children)


def test_a_child_whose_first_form_was_the_wrong_guess_costs_one_more(known):
    right, wrong = known["complete, 5 children"], known["complete, 5 children, last of 2 parents"]
    assert wrong.less(right) == Figures(5, 0, 5)
    assert known["complete, 5 children that wait for more"] == Figures(3 + 5, 1, 3 + 5)


def test_a_child_added_since_the_claim_costs_one_call_more(known):
    assert known["complete, child added since the claim"].less(known["complete, 1 child"]) == Figures(1, 0, 1)


def test_a_change_in_the_feed_costs_seven_write_units_alone_and_under_three_in_a_batch(known):
    assert known["number a change"].writes == 7
    assert known["number 40 changes of one batch"].writes / 40 < 3
    assert known["number a change that was numbered"].writes == 0
    assert known["follow, nothing new"].units <= 3


def test_a_late_result_costs_one_call_more(known):
    assert known["complete, late and nobody reclaimed"].less(known["complete, nobody waits"]) == Figures(1, 0, 1)


def test_a_change_of_a_value_is_three_calls_and_costs_what_it_and_its_history_take(known):
    assert known["put over a value, increment, append or merge"] == Figures(3, 3, 4)
    assert known["change 10 values together"].calls == 3


@pytest.mark.parametrize("step", ["acquire a lock", "heartbeat of a lock", "release a lock"])
def test_a_step_of_a_lock_is_one_call_and_one_write_unit(known, step):
    assert known[step] == Figures(1, 0, 1)


def test_a_reap_is_its_shards_query_and_one_update(known):
    assert known["reap a lapsed lease"] == Figures(2, 0.5, 3)


def test_a_poll_with_nothing_due_asks_each_shard_once(known):
    assert known["poll, nothing due"] == Figures(16, 8, 0)


@pytest.mark.parametrize("step", ["fail, to be tried again", "fail for good, nobody waits", "wait", "release"])
def test_giving_a_task_up_is_one_call(known, step):
    assert (known[step].calls, known[step].reads) == (1, 0)


def test_a_graph_of_one_transaction_costs_3_units_a_task_and_2_an_edge(known):
    assert known["create, each task"].writes == 3
    assert known["create, each edge"] == Figures(0, 0, 2)


def test_the_items_that_are_counted_are_just_below_1_kb():
    with MotoEngine(region="eu-central-1") as engine:
        world = World(engine.client("dynamodb"), engine.client("s3"))
        complete_over(20)(world)()
        key = to_wire(task_key(TENANT, "g", "a").attributes)
        stored = world.dynamodb.get_item(TableName=world.settings.table, Key=key)["Item"]
    assert 900 < item_bytes(stored) <= 1_024


def test_the_page_says_what_is_counted(known):
    assert PAGE.read_text() == page(known, conversation.measured(), Prices(), Stack()), "run `make costs`"


def test_a_domain_is_no_smaller_than_a_stage_begins_with_and_grows_with_its_vectors():
    rest, *busy = [domain(Prices(), Stack(), Work(), contexts) for contexts in (0, *MONTHS)]
    assert rest.how.startswith("2 r6g.large.search with 50 GB each")
    assert rest.usd < busy[0].usd < busy[1].usd
