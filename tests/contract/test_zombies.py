"""A worker that lost its lease changes nothing more; one that only came late, while nobody else had it, still counts."""

from __future__ import annotations

import pytest

from contract.world import task
from slate.domain.errors import Invalid, LeaseLost, NotFound

LEASE = 60


def zombie_and_heir(w):
    w.graph(task("t"), task("c", "t"))
    zombie = w.claim()
    w.clock.advance(LEASE + 1)
    w.sweep()
    return zombie, w.claim()


def test_the_zombie_is_refused_everything_and_the_heir_goes_on(w):
    zombie, heir = zombie_and_heir(w)
    for step in (w.heartbeat, w.complete, w.fail, w.wait, w.release):
        with pytest.raises(LeaseLost) as refused:
            step(zombie)
        assert refused.value.data["epoch"] == heir.epoch
    assert w.complete(heir, "the heir's").unlocked == ("c",)
    assert w.task("t").result == "the heir's"


def test_two_workers_of_one_name_are_told_apart_by_their_tokens(w):
    zombie, heir = zombie_and_heir(w)
    assert zombie.task.agent == heir.task.agent == "ann"
    with pytest.raises(LeaseLost):
        w.complete(zombie)
    w.complete(heir)


@pytest.mark.parametrize("children", [0, 1, 3])
def test_a_late_result_counts_while_nobody_else_has_the_task(w, children):
    w.graph(task("t"), *(task(f"c{i}", "t") for i in range(children)))
    late = w.claim()
    w.clock.advance(LEASE + 1)
    w.sweep()
    assert w.task("t").state == "READY"
    answer = w.complete(late, "late but fine")
    assert sorted(answer.unlocked) == [f"c{i}" for i in range(children)]
    assert w.task("t").result == "late but fine"
    assert [c.task.task_id for c in w.claims(max=10)] != ["t"]


def test_a_lapsed_lease_that_the_sweeper_has_not_seen_may_still_go_on(w):
    w.graph(task("t"))
    late = w.claim()
    w.clock.advance(LEASE + 1)
    beat = w.heartbeat(late)
    w.sweep()
    assert w.task("t").state == "RUNNING"
    assert beat.lease_until == w.task("t").lease_until


def test_a_heartbeat_never_shortens_a_lease(w):
    w.graph(task("t"))
    claim = w.claim(lease_seconds=600)
    assert w.heartbeat(claim, lease_seconds=1).lease_until == claim.lease_until
    assert w.task("t").lease_until == claim.lease_until


def test_an_extended_lease_lapses_at_its_own_end(w):
    w.graph(task("t"))
    claim = w.claim()
    w.clock.advance(50)
    w.heartbeat(claim)
    for seconds, state in ((15, "RUNNING"), (44, "RUNNING"), (2, "READY")):
        w.clock.advance(seconds)
        w.sweep()
        assert w.task("t").state == state


def test_a_token_is_good_for_its_own_task_alone(w):
    w.graph(task("a", role="x"), task("b", role="y"))
    a, b = w.claim(roles=("x",)), w.claim(roles=("y",))
    stolen = b.model_copy(update={"token": a.token})
    with pytest.raises(LeaseLost):
        w.complete(stolen)
    assert w.task("b").state == "RUNNING"


def test_a_token_is_good_for_its_own_tenant_alone(w):
    globex = w.principal("eve", tenant="globex")
    w.graph(task("t"))
    w.graph(task("t"), by=globex)
    acme, theirs = w.claim(), w.claim(globex)
    with pytest.raises(Invalid, match="token"):
        w.complete(acme, by=globex)
    with pytest.raises(NotFound):
        w.slate.steering.get(w.principal("eve", tenant="initech"), "g", "t")
    w.complete(acme)
    assert w.task("t", by=globex).state == "RUNNING"
    w.complete(theirs, by=globex)


@pytest.mark.parametrize("token", ["x", "A" * 200, "-", "é"])
def test_a_text_that_is_no_token_is_named(w, token):
    w.graph(task("t"))
    claim = w.claim()
    with pytest.raises(Invalid, match="token"):
        w.complete(claim.model_copy(update={"token": token}))


def test_a_tampered_token_is_no_token(w):
    w.graph(task("t"))
    claim = w.claim()
    last = "A" if claim.token[-2] != "A" else "B"
    with pytest.raises(Invalid):
        w.complete(claim.model_copy(update={"token": claim.token[:-2] + last + claim.token[-1]}))


def test_what_a_worker_says_of_time_is_not_asked_for(w):
    """The service stamps every instant: a claim's lease ends by the service's clock, whatever the worker's shows."""
    w.graph(task("t"))
    claim = w.claim()
    assert claim.lease_until == w.clock.now() + LEASE * 1000
    w.clock.advance(30)
    assert w.heartbeat(claim).lease_until == w.clock.now() + LEASE * 1000
    assert w.complete(claim).history[-1].at == w.clock.now()


def test_the_history_counts_epochs_as_they_were(w):
    zombie, heir = zombie_and_heir(w)
    w.release(heir)
    final = w.claim()
    events = [(e.event, e.epoch) for e in w.complete(final).history]
    assert events == [
        ("created", 0),
        ("claimed", zombie.epoch),
        ("lapsed", zombie.epoch),
        ("claimed", heir.epoch),
        ("released", heir.epoch + 1),
        ("claimed", final.epoch),
        ("completed", final.epoch),
    ]
