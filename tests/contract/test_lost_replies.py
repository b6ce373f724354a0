"""A reply that never comes changes nothing: the call is sent again, and knows its own earlier success."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from contract import faults
from contract.invariants import broken
from contract.scenarios import SCENARIOS, SWEEPS, Scenario
from contract.world import World, task
from slate.domain.errors import Unavailable


def plain(answer: Any) -> Any:
    """An answer without the token, whose bytes differ between two worlds."""
    if isinstance(answer, tuple):
        return [plain(part) for part in answer]
    if isinstance(answer, BaseModel):
        return answer.model_dump(exclude={"token"})
    return answer


def check(worlds: Callable[..., World], name: str, fault: faults.Fault, among: frozenset[str]) -> None:
    """Where every call goes wrong once, the answer and the items are those of a run in which none does."""
    scenario: Scenario = {**SCENARIOS, **SWEEPS}[name]
    clean, w = worlds(), worlds()
    wanted = plain(scenario(clean)())
    act = scenario(w)
    w.faults.arm_every(fault, among=among)
    answer = plain(act())
    assert w.faults.disarm(), "nothing went wrong"
    assert answer == wanted
    assert w.content() == clean.content()
    assert not broken(w.items())


@pytest.mark.parametrize("name", [*SCENARIOS, *SWEEPS])
def test_a_lost_reply_is_made_good_within_the_call(worlds: Callable[..., World], name: str) -> None:
    check(worlds, name, faults.reply_lost, faults.WRITES)


@pytest.mark.parametrize(
    "loss", [faults.request_lost, faults.connection_closed, faults.fault_of_theirs], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("name", ["complete_and_free", "add", "create_in_parts"])
def test_however_an_answer_is_lost_it_is_made_good(worlds: Callable[..., World], name: str, loss: faults.Fault) -> None:
    check(worlds, name, loss, faults.WRITES)


@pytest.mark.parametrize("name", ["claim", "complete_and_free", "retry_with_cascade", "delete", "sweep_exhausted"])
def test_a_read_without_an_answer_is_asked_again(worlds: Callable[..., World], name: str) -> None:
    check(worlds, name, faults.request_lost, faults.READS | {"query_index"})


@pytest.mark.parametrize("name", ["complete_and_free", "fail_for_good", "create_in_parts", "retry_with_cascade"])
def test_one_lost_reply_anywhere_is_made_good(worlds: Callable[..., World], name: str) -> None:
    clean = worlds()
    act = SCENARIOS[name](clean)
    clean.faults.disarm()
    wanted = plain(act())
    for at in range(1, clean.faults.disarm() + 1):
        w = worlds()
        act = SCENARIOS[name](w)
        w.faults.arm(at, faults.reply_lost)
        assert plain(act()) == wanted
        w.faults.disarm()
        assert w.content() == clean.content(), f"after losing the reply of write {at}"


def test_a_storage_that_never_answers_is_unavailable_after_three_sends(w: World) -> None:
    w.graph(task("a"))
    w.faults.arm(1, faults.request_lost, times=3)
    with pytest.raises(Unavailable) as refused:
        w.claim()
    w.faults.disarm()
    assert refused.value.retryable
    assert w.claim().epoch == 1
