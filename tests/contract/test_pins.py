"""What people do is pinned to what they saw: a step meant for an earlier state of a task does nothing to a later one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contract.scenarios import die
from contract.world import TENANT, World, task
from slate.domain.errors import Conflict
from slate.domain.tasks import Task


def refused(w: World, act: Callable[[], object]) -> None:
    before = w.items()
    with pytest.raises(Conflict):
        act()
    assert w.items() == before


def failed_again(w: World) -> tuple[Task, Task]:
    """A failure as it was seen, and the one after it."""
    seen = []
    w.graph(task("a"))
    for again in (True, False):
        w.fail(w.claim(), retryable=False)
        seen.append(w.task("a"))
        if again:
            w.retry("a")
    return seen[0], seen[1]


def test_a_retry_of_an_earlier_failure_leaves_the_later_one(w: World) -> None:
    earlier, later = failed_again(w)
    refused(w, lambda: w.steering.retry(TENANT, earlier, "bob"))
    assert w.steering.retry(TENANT, later, "bob").state == "READY"


def test_an_answer_to_an_earlier_question_leaves_the_later_one(w: World) -> None:
    w.graph(task("a"))
    earlier = w.wait(w.claim(), "may I refund?")
    w.resume("a")
    later = w.wait(w.claim(), "may I delete everything?")
    refused(w, lambda: w.steering.resume(TENANT, earlier, "yes", "bob"))
    assert w.steering.resume(TENANT, later, "yes", "bob").state == "READY"


def test_an_approval_of_an_earlier_try_leaves_the_later_one(w: World) -> None:
    w.graph(task("a", needs_approval=True))
    earlier = w.task("a")
    w.cancel("a")
    later = w.retry("a")
    refused(w, lambda: w.steering.resume(TENANT, earlier, "yes", "bob"))
    assert w.steering.resume(TENANT, later, "yes", "bob").state == "READY"


def test_a_cancel_of_what_has_changed_since_is_looked_at_again(w: World) -> None:
    w.graph(task("a"))
    earlier = w.task("a")
    w.claim()
    refused(w, lambda: w.steering.cancel(TENANT, earlier, "bob"))
    assert w.cancel("a").state == "CANCELLED"


def test_a_retry_comes_after_all_children_were_told_of_the_failure(w: World) -> None:
    """Else one of them would learn of it later, and be cancelled for a failure that was taken back."""
    w.graph(task("a", max_attempts=1), task("b", "a"))
    claim = w.claim()
    die(w, 1, lambda: w.fail(claim))
    refused(w, lambda: w.steering.retry(TENANT, w.task("a"), "bob"))
    assert w.retry("a").state == "READY"
    assert w.states() == {"a": "READY", "b": "CANCELLED"}
