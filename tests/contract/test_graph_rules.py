"""The rules across tasks: edges, approvals, order, adding while it runs, retrying, ending."""

from __future__ import annotations

import pytest

from contract import faults
from contract.invariants import broken, unsettled
from contract.scenarios import die
from contract.world import DAY, after, many, task
from slate.domain.errors import AlreadyTerminal, Conflict, Cycle, Invalid, NotFound, RoleMissing, VersionMismatch
from slate.domain.slots import HOLD_CREATE

# ---- edges


def test_a_completion_edge_is_met_by_any_end_and_a_success_edge_only_by_done(w):
    w.graph(
        task("fails", role="x"),
        task("goes", role="x"),
        task("s", "fails"),
        task("c", after("fails")),
        task("both", after("fails"), "goes"),
        task("below", "s"),
        task("beside", after("s")),
    )
    claims = {c.task.task_id: c for c in w.claims(roles=("x",), max=2)}
    w.fail(claims["fails"], retryable=False)
    states = w.states()
    assert (states["s"], states["below"], states["both"]) == ("CANCELLED", "CANCELLED", "BLOCKED")
    assert (states["c"], states["beside"]) == ("READY", "READY")
    assert w.task("s").cause == "parent:fails"
    w.complete(claims["goes"])
    assert w.states()["both"] == "READY"
    assert broken(w.items()) == []


def test_a_group_is_in_a_whole_graph_and_never_within_itself(w):
    for specs in ([task("a", parent_task="a")], [task("a", parent_task="b"), task("b", parent_task="a")]):
        with pytest.raises(Invalid) as refused:
            w.graph(*specs)
        assert [e["field"] for e in refused.value.data["errors"]] == [
            f"tasks[{i}].parent_task" for i in range(len(specs))
        ]
    with pytest.raises(Invalid, match="no task 'epic'"):
        w.graph(task("a", parent_task="epic"))
    w.graph(task("epic", "a"), task("a", parent_task="epic"))  # a group may wait for what it holds
    w.add(task("b", parent_task="epic"))
    assert w.states() == {"epic": "BLOCKED", "a": "READY", "b": "READY"}


def test_an_answer_is_the_same_only_as_json(w):
    w.graph(task("a"))
    w.wait(w.claim())
    epoch = w.task("a").epoch
    assert w.resume("a", 1, epoch=epoch).answer == 1
    assert w.resume("a", 1, epoch=epoch).state == "READY"
    with pytest.raises(Conflict):
        w.resume("a", True, epoch=epoch)


def test_a_parent_task_groups_and_blocks_nothing(w):
    w.graph(task("epic"), task("part", parent_task="epic"))
    assert w.states() == {"epic": "READY", "part": "READY"}
    assert w.task("part").parent_task == "epic"


def test_a_graph_is_done_or_failed_once_all_of_it_has_ended_and_active_again_with_a_new_task(w):
    w.graph(task("a"))
    w.complete(w.claim())
    assert w.slate.planning.get(w.me, "g").state == "DONE"
    w.add(task("b", "a"))
    assert w.slate.planning.get(w.me, "g").state == "ACTIVE"
    w.fail(w.claim(), retryable=False)
    assert w.slate.planning.get(w.me, "g").state == "FAILED"


# ---- approvals


@pytest.mark.parametrize("first", ["approval", "parent"])
def test_an_approval_is_one_slot_among_others_in_any_order(w, first):
    w.graph(task("p", role="x"), task("t", "p", needs_approval=True))
    assert w.task("t").waiting_on == ("p", "approval")
    steps = {"approval": lambda: w.resume("t", "yes"), "parent": lambda: w.complete(w.claim(roles=("x",)))}
    steps.pop(first)()
    assert w.task("t").state == ("BLOCKED" if first == "approval" else "WAITING")
    assert w.claims() == ()
    steps.popitem()[1]()
    assert w.task("t").state == "READY"
    assert w.claim().task.answer == "yes"
    assert broken(w.items()) == []


def test_an_approval_is_given_once(w):
    w.graph(task("t", needs_approval=True))
    w.resume("t", "yes")
    with pytest.raises(Conflict):
        w.resume("t", "no")
    assert w.task("t").answer == "yes"


def test_a_retry_does_not_forget_an_approval_that_was_never_given(w):
    w.graph(task("t", needs_approval=True))
    w.cancel("t")
    assert w.retry("t").state == "WAITING"
    assert w.claims() == ()


def test_a_repeat_with_the_questions_epoch_cannot_answer_the_next_question(w):
    w.graph(task("t"))
    first = w.wait(w.claim(), "first?")
    assert w.resume("t", "yes", epoch=first.epoch).state == "READY"
    assert w.resume("t", "yes", epoch=first.epoch).state == "READY", "the repeat of a lost reply is the same answer"
    w.wait(w.claim(), "second?")
    with pytest.raises(Conflict):
        w.resume("t", "yes", epoch=first.epoch)
    assert w.task("t").state == "WAITING"


# ---- order


def test_the_urgent_go_first_and_the_patient_before_the_new(w):
    w.graph(task("low", priority=1), task("old"), graph_id="g1")
    w.clock.advance(1)
    w.graph(task("high", priority=9), task("new"), graph_id="g2")
    (first,) = w.claims()
    assert first.task.task_id == "high"
    assert {w.claim().task.task_id for _ in range(2)} == {"old", "new"}
    assert w.claim().task.task_id == "low"


def test_several_roles_are_served_by_urgency_across_them(w):
    w.graph(task("a", role="x", priority=2), task("b", role="y", priority=8), task("c", role="x", priority=5))
    claims = w.claims(roles=("x", "y"), max=3)
    assert [c.task.task_id for c in claims] == ["b", "c", "a"]


def test_a_queue_is_a_world_of_its_own(w):
    w.graph(task("t"), queue="night")
    assert w.claims() == ()
    assert w.claim(queue="night").task.queue == "night"


def test_a_key_works_for_its_roles_alone(w):
    w.graph(task("t"))
    with pytest.raises(RoleMissing, match="painter"):
        w.claims(w.principal("bob", roles=frozenset({"painter"})))


# ---- adding while it runs


def test_a_task_under_ended_parents_acts_as_its_edges_say_at_once(w):
    w.graph(task("ok", role="x"), task("bad", role="y"))
    w.complete(w.claim(roles=("x",)))
    w.fail(w.claim(roles=("y",)), retryable=False)
    w.add(
        task("after-ok", "ok"),
        task("after-bad", "bad"),
        task("after-end", after("bad"), "ok"),
        task("below", "after-bad"),
        task("beside", after("after-bad")),
    )
    assert w.states() == {
        "ok": "DONE",
        "bad": "FAILED",
        "after-ok": "READY",
        "after-bad": "CANCELLED",
        "after-end": "READY",
        "below": "CANCELLED",
        "beside": "READY",
    }
    w.settle()
    assert unsettled(w.items()) == []


def test_a_retried_parent_takes_what_was_added_under_it_along(w):
    w.graph(task("a"))
    w.fail(w.claim(), retryable=False)
    w.add(task("b", "a"), task("c", "b"))
    w.retry("a", cascade=True)
    assert w.states() == {"a": "READY", "b": "BLOCKED", "c": "BLOCKED"}


def test_what_is_there_already_counts_as_added_and_other_content_is_refused_whole(w):
    w.graph(task("a"))
    assert w.add(task("a"), task("b", "a")).added == 2
    with pytest.raises(Conflict) as refused:
        w.add(task("b", "a", title="another"), task("new"))
    assert refused.value.data["task_id"] == "b"
    assert sorted(w.states()) == ["a", "b"]


def test_a_cancelled_graph_takes_no_more(w):
    w.graph(task("a"))
    w.cancel_graph()
    with pytest.raises(Conflict):
        w.add(task("b"))
    w.settle()
    with pytest.raises(Conflict):
        w.retry("a")
    assert w.slate.planning.get(w.me, "g").state == "CANCELLED"
    assert unsettled(w.items()) == []


def test_250_parents_are_joined_when_they_are_there_already_and_one_more_is_refused(w):
    parents = many("p", 250)
    w.graph(*map(task, parents), more=True)
    w.add()
    w.add(task("join", *parents))
    assert len(w.task("join").waiting_on) == 250
    for claim in w.claims(max=100) + w.claims(max=100) + w.claims(max=100):
        w.complete(claim)
    assert w.task("join").state == "READY"
    with pytest.raises(ValueError, match="join task"):
        task("too-many", *many("p", 251))
    w.complete(w.claim())
    w.settle()
    assert unsettled(w.items()) == []


# ---- retrying


def test_a_parent_that_stands_in_the_way_of_a_retry_is_named(w):
    w.graph(task("a"), task("b", "a"))
    w.fail(w.claim(), retryable=False)
    with pytest.raises(Conflict) as refused:
        w.retry("b")
    assert refused.value.data["parents"] == ["a"]


def test_a_cascade_takes_what_the_failure_cancelled_and_nothing_else(w):
    w.graph(
        task("a", role="x"),
        task("other", role="y"),
        task("b", "a"),
        task("c", "b"),
        task("stuck", "a", "other"),
        task("mine", "a"),
    )
    w.cancel("mine")
    w.fail(w.claim(roles=("y",)), retryable=False)
    w.fail(w.claim(roles=("x",)), retryable=False)
    w.retry("a", cascade=True)
    states = w.states()
    assert (states["a"], states["b"], states["c"]) == ("READY", "BLOCKED", "BLOCKED")
    assert states["stuck"] == "CANCELLED", "another parent of it has failed"
    assert states["mine"] == "CANCELLED", "a person cancelled it"
    assert w.retry("a", cascade=True).state == "READY", "a repeat goes on, and changes nothing more"
    assert w.states() == states
    assert broken(w.items()) == []


def test_a_diamond_is_retried_once_each(w):
    w.graph(task("a"), task("l", "a"), task("r", "a"), task("join", "l", "r"))
    w.fail(w.claim(), retryable=False)
    w.retry("a", cascade=True)
    assert [t.epoch for t in map(w.task, ("l", "r", "join"))] == [2, 2, 2]
    w.work_off()
    assert set(w.states().values()) == {"DONE"}
    w.settle()
    assert unsettled(w.items()) == []


@pytest.mark.parametrize(("early", "late"), [("m", "z"), ("z", "m")])
def test_a_child_that_another_parent_still_bars_is_retried_once_that_one_is(w, early, late):
    """Met first as the child of the root, and barred; met again below its other parent."""
    w.graph(task("a"), task(late, "a"), task(early, "a", late), task("t", early))
    w.fail(w.claim(), retryable=False)
    w.retry("a", cascade=True)
    assert w.states() == {"a": "READY", early: "BLOCKED", late: "BLOCKED", "t": "BLOCKED"}
    w.work_off()
    assert set(w.states().values()) == {"DONE"}


def test_a_cascade_goes_on_though_its_root_is_done_by_now(w):
    w.graph(task("a"), task("b", "a"), task("c", "b"))
    w.fail(w.claim(), retryable=False)
    w.retry("a")
    w.complete(w.claim())
    assert w.states() == {"a": "DONE", "b": "CANCELLED", "c": "CANCELLED"}
    w.retry("a", cascade=True)
    assert w.states() == {"a": "DONE", "b": "READY", "c": "BLOCKED"}


def test_a_task_with_more_parents_than_a_transaction_holds_is_retried_in_parts(w):
    parents = many("p", 120)
    w.graph(*map(task, parents), more=True)
    w.add()
    w.add(task("join", *parents))
    w.cancel("join")
    w.complete(w.claims()[0])
    assert w.retry("join").state == "BLOCKED"
    assert len(w.task("join").waiting_on) == 119
    w.work_off()
    assert w.task("join").state == "DONE"
    w.settle()
    assert unsettled(w.items()) == []


def test_a_parent_in_the_way_refuses_a_retry_in_parts_as_well(w):
    parents = many("p", 120)
    w.graph(*map(task, parents), more=True)
    w.add()
    w.add(task("join", *parents))
    w.fail(w.claims()[0], retryable=False)
    failed = next(name for name, state in w.states().items() if state == "FAILED")
    with pytest.raises(Conflict) as refused:
        w.retry("join")
    assert refused.value.data["parents"] == [failed]
    assert w.task("join").state == "CANCELLED"


def test_a_retry_asks_anew_and_keeps_what_was_approved(w):
    w.graph(task("asks", role="x", max_attempts=1), task("approved", needs_approval=True, max_attempts=1))
    asking = w.claim(roles=("x",))
    w.wait(asking)
    w.resume("asks", "because")
    w.fail(w.claim(roles=("x",)))
    w.resume("approved", "within 500 EUR")
    w.fail(w.claim())
    assert (w.retry("asks").answer, w.task("asks").question) == (None, None)
    assert w.retry("approved").answer == "within 500 EUR"


# ---- telling children


def test_the_same_token_again_answers_the_same_whoever_told_the_children(w):
    children = many("c", 5)
    w.graph(task("a", role="x"), task("p", role="x"), *(task(c, "a") for c in children), task("both", "a", "p"))
    claims = {c.task.task_id: c for c in w.claims(roles=("x",), max=2)}
    w.complete(claims["p"])
    die(w, 3, lambda: w.complete(claims["a"]))  # it is DONE, and two children know
    w.claims()  # one of them is being worked on by now
    told: list[tuple[str, ...]] = []
    w.faults.arm(2, faults.meanwhile(lambda: told.append(w.complete(claims["a"]).unlocked)), among=faults.WRITES)
    told.append(w.complete(claims["a"]).unlocked)
    w.faults.disarm()
    w.settle()
    told.append(w.complete(claims["a"]).unlocked)
    assert told == [("both", *children)] * 3


def test_what_the_sweeper_told_is_answered_as_well(w):
    w.graph(task("a"), task("b", "a"), task("c", "a"))
    claim = w.claim()
    die(w, 2, lambda: w.complete(claim))
    w.settle()
    assert w.complete(claim).unlocked == ("b", "c")


# ---- creating, cancelling, deleting


def test_nothing_of_a_graph_in_parts_starts_before_its_last_part(w):
    w.graph(task("a"), task("b", "a"), more=True)
    assert w.claims() == ()
    w.add(task("c", "b"), more=True)
    assert (w.claims(), w.slate.planning.get(w.me, "g").state) == ((), "CREATING")
    w.add(task("d", "a"))
    assert w.claim().task.task_id == "a"
    assert not any(HOLD_CREATE in item.get("need", ()) for item in w.items().values())


def test_a_part_that_comes_after_the_last_one_is_an_add(w):
    w.graph(task("a"), more=True)
    w.add(task("b", "a"))
    w.add(task("c"), more=True)
    assert w.states() == {"a": "READY", "b": "BLOCKED", "c": "READY"}


def test_a_create_that_nobody_finishes_is_given_up_after_a_day(w):
    w.graph(task("a"), more=True)
    w.clock.advance(DAY - 10)
    w.sweep()
    assert w.slate.planning.get(w.me, "g").state == "CREATING"
    w.settle()
    assert w.slate.planning.get(w.me, "g").state == "CANCELLED"
    assert w.states() == {"a": "CANCELLED"}
    assert unsettled(w.items()) == []


def test_a_single_task_is_not_cancelled_while_its_graph_is_created(w):
    w.graph(task("a"), more=True)
    with pytest.raises(Conflict, match="created"):
        w.cancel("a")


def test_a_deleted_graph_reads_as_unknown_at_once_and_its_id_is_free_after_the_last_sweep(w):
    w.graph(task("a"), task("b", "a"))
    w.delete_graph()
    for read in (
        lambda: w.slate.planning.get(w.me, "g"),
        lambda: w.task("a"),
        lambda: w.slate.steering.list(w.me, "g", None, None, 10, None),
        w.delete_graph,
        w.cancel_graph,
        lambda: w.add(task("c")),
    ):
        with pytest.raises(NotFound):
            read()
    assert w.slate.planning.list(w.me, 10, None, None).items == ()
    with pytest.raises(Conflict, match="deleted"):
        w.graph(task("a"))
    w.settle()
    assert w.graph(task("z")).state == "ACTIVE"
    assert w.states() == {"z": "READY"}


def test_what_has_ended_is_not_cancelled(w):
    w.graph(task("a"))
    w.complete(w.claim())
    with pytest.raises(AlreadyTerminal):
        w.cancel_graph()


def test_if_match_of_another_version_is_refused_with_the_current_one(w):
    w.graph(task("a"))
    for call in (
        lambda: w.slate.planning.cancel(w.me, "g", 7),
        lambda: w.slate.planning.delete(w.me, "g", 7),
        lambda: w.slate.steering.cancel(w.me, "g", "a", 7),
    ):
        with pytest.raises(VersionMismatch) as refused:
            call()
        assert refused.value.data["current"]["version"] == 1
    w.slate.steering.cancel(w.me, "g", "a", 1)


@pytest.mark.parametrize(
    ("specs", "error", "names"),
    [
        ([task("a"), task("a")], Invalid, "given twice"),
        ([task("a", "nowhere")], Invalid, "nowhere"),
        ([task("a", "a")], Cycle, "a -> a"),
        ([task("a", "b"), task("b", "c"), task("c", "a"), task("d")], Cycle, "a"),
    ],
    ids=["twice", "missing parent", "itself", "ring"],
)
def test_what_is_no_graph_is_refused_and_nothing_is_stored(w, specs, error, names):
    with pytest.raises(error, match=names):
        w.graph(*specs)
    assert w.items() == {}


def test_a_history_stays_bounded_however_often_a_task_is_given_back(w):
    w.graph(task("t"))
    for _ in range(100):
        w.release(w.claim())
    history = w.task("t").history
    assert len(history) < 70
    assert [e.event for e in history[-2:]] == ["claimed", "released"]
    assert history[-1].epoch == 200


# ---- keys bound to a person


def test_a_key_bound_to_a_person_sees_and_works_that_persons_graphs_alone(w):
    ann = w.principal("console", subject="ann")
    w.graph(task("hers"), graph_id="g-ann", subject="ann")
    w.graph(task("his"), graph_id="g-bob", subject="bob")
    w.graph(task("nobodys"), graph_id="g-none")
    assert [g.graph_id for g in w.slate.planning.list(ann, 10, None, None).items] == ["g-ann"]
    assert [c.task.task_id for c in w.claims(ann, max=10)] == ["hers"]
    (theirs,) = w.claims(max=1)
    for call in (
        lambda: w.slate.planning.get(ann, "g-bob"),
        lambda: w.task("his", "g-bob", by=ann),
        lambda: w.slate.steering.list(ann, "g-bob", None, None, 10, None),
        lambda: w.cancel("his", ann, "g-bob"),
        lambda: w.add(task("x"), graph_id="g-bob", by=ann),
        lambda: w.slate.planning.delete(ann, "g-bob", None),
        lambda: w.complete(theirs, by=ann),
    ):
        with pytest.raises(NotFound):
            call()
