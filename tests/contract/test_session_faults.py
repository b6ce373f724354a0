"""Sessions under lost replies, conflicts, crashes at every write, and calls that come in between."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from contract import faults
from contract.talking import (
    broken,
    close,
    create,
    decay,
    head,
    items_of,
    mark,
    merge,
    pin,
    put_value,
    remove,
    said,
    say,
    store,
    texts,
)
from contract.world import DAY, TENANT, World
from slate.domain.errors import NotFound, SlateError
from slate.domain.sessions import Merged, Summary
from slate.wiring.local import build_local

Step = Callable[[World], Any]
BIG = {"role": "tool", "content": "x" * 120_000, "client_id": "big"}


def begun(w: World) -> World:
    create(w, subject="u", retention_days=2)
    say(w, "a", ("assistant", "b"), {"role": "user", "content": "c", "marks": ["fact"], "client_id": "c"}, "d")
    put_value(w, "v", 1)
    return w


def cut(w: World) -> Any:
    tokens = sum(turn.tokens for turn in said(w)[:3])
    return store(w).cut(TENANT, head(w), 3, exchanges=2, tokens=tokens)


def digested(w: World) -> Any:
    segment = cut(w)
    if segment is None:
        return None
    summary = Summary(segment=1, first_seq=1, last_seq=3, fields={}, tokens=1, made_by="test")
    return store(w).keep_summary(TENANT, "s", segment, summary), store(w).keep_merged(
        TENANT, "s", Merged(segments=(1,))
    )


def tried(w: World, do: Step) -> Any:
    """The answer, or the kind of refusal."""
    try:
        return do(w)
    except SlateError as error:
        return type(error)


STEPS: dict[str, Step] = {
    "create": lambda w: create(w, "t", subject="v", system="x"),
    "append": lambda w: say(w, "e", ("assistant", "f")),
    "append large and known": lambda w: say(
        w, BIG, {"role": "user", "content": "c", "marks": ["fact"], "client_id": "c"}
    ),
    "append in parts": lambda w: say(w, *({"role": "user", "content": str(i), "client_id": str(i)} for i in range(60))),
    "mark": lambda w: mark(w, 1, marks=["decision"], importance=9),
    "mark anew": lambda w: mark(w, 3, 1, marks=[], importance=2),
    "delete the first": lambda w: remove(w, 1),
    "delete a marked one": lambda w: remove(w, 3, 1),
    "pin": lambda w: pin(w, 1, goal="x"),
    "merge": lambda w: merge(w, 1, goal="x"),
    "digest": digested,
    "close": close,
    "open again": lambda w: (close(w), say(w, "e"))[1],
    "delete": lambda w: w.slate.memory.sessions.delete(w.me, "s", None),
    "fall silent": lambda w: (w.clock.advance(1_800), decay(w))[1],
    "end": lambda w: (w.clock.advance(3 * DAY), decay(w), w.clock.advance(DAY), decay(w))[1],
}
each_step = pytest.mark.parametrize("name", STEPS)
CRASHED = ("append large and known", "delete a marked one", "close")
MET = ("append", "mark anew", "delete the first", "digest", "close")


UNREPEATABLE = ("said", "digest", "subject_pk", "blob", "blob_digest", "by", "extraction_id", "content", "content_by")


def state(w: World) -> dict[Any, Any]:
    """What is stored, without what two runs never share."""
    shown = {}
    for key, item in w.items().items():
        if key.sk == "CALL":
            continue
        pk, sk = ("-" if "#X#" in key.pk or "#U#" in key.pk else key.pk), key.sk
        if sk.startswith(("CLIENT#", "CONTENT#", "EXTRACTION#")):
            sk = f"{sk.partition('#')[0]} {item.get('seq')}"
        gone = {*UNREPEATABLE, "pk", "sk", "going", "pending", "timer_pk"}
        gone |= {"timer_sk"} if sk == "SCRUB" else set()  # it names the person
        shown[pk, sk] = {name: value for name, value in item.items() if name not in gone}
    return shown


def some(names: Iterable[str], usual: Collection[str]) -> list[Any]:
    """All of them; those that are not usual in the long run alone."""
    return [name if name in usual else pytest.param(name, marks=pytest.mark.race) for name in names]


@each_step
@pytest.mark.parametrize(
    "loss",
    [
        faults.reply_lost,
        pytest.param(faults.conflict, marks=pytest.mark.race),
        pytest.param(faults.conflict_hides_conditions, marks=pytest.mark.race),
    ],
    ids=["reply_lost", "conflict", "conflict_hides_conditions"],
)
def test_lost_replies_and_conflicts_change_nothing(worlds: Callable[..., World], name: str, loss: faults.Fault) -> None:
    clean, w = begun(worlds()), begun(worlds())
    wanted = STEPS[name](clean)
    w.faults.arm_every(loss)
    answer = STEPS[name](w)
    assert w.faults.disarm(), "nothing went wrong"
    assert answer == wanted
    assert state(w) == state(clean)
    assert not broken(w.items())


@pytest.mark.parametrize("name", some(STEPS, CRASHED))
def test_a_crash_after_any_write_is_made_good_by_the_same_call_and_by_time(
    worlds: Callable[..., World], name: str
) -> None:
    for writes in count():
        w = begun(worlds())
        w.faults.kill_after(writes)
        try:
            STEPS[name](w)
            crashed = False
        except faults.Killed:
            crashed = True
        w.faults.disarm()
        assert not broken(w.items()), f"after {writes} writes"
        tried(w, STEPS[name])
        assert not broken(w.items()), f"after {writes} writes and the call again"
        for _ in range(4):
            w.clock.advance(2 * DAY)
            decay(w)
        left = [k for k in w.items() if "#S#s" in k.pk or "SESSION#" in k.sk or ("#X#" in k.pk and name != "create")]
        assert [key for key in left if "#S#t" not in key.pk and not key.sk.endswith("#t")] == [], (
            f"after {writes} writes"
        )
        assert not w.objects()
        if not crashed:
            return


BETWEEN: dict[str, Step] = {
    "a turn": lambda w: say(w, "z"),
    "a turn that is known": lambda w: say(w, {"role": "user", "content": "0", "client_id": "0"}),
    "a mark": lambda w: mark(w, 1, importance=9),
    "a deletion": lambda w: remove(w, 1),
    "a cut": cut,
    "a close": close,
    "a pin": lambda w: pin(w, None, goal="z"),
    "the end": lambda w: w.slate.memory.sessions.delete(w.me, "s", None),
}


@pytest.mark.parametrize("name", some(STEPS, MET))
@pytest.mark.parametrize("other", BETWEEN)
def test_whatever_comes_in_between_the_laws_hold_and_time_ends_it(
    worlds: Callable[..., World], name: str, other: str
) -> None:
    w = begun(worlds())
    w.faults.arm(1, faults.meanwhile(lambda: tried(w, BETWEEN[other])))
    tried(w, STEPS[name])
    w.faults.disarm()
    assert not broken(w.items())
    numbers = [turn.seq for turn in tried(w, said)] if tried(w, head) is not NotFound else []
    assert numbers == sorted(set(numbers))


def test_a_turn_that_comes_while_the_session_ends_keeps_it(w: World) -> None:
    begun(w)
    w.clock.advance(1_800)
    decay(w)
    w.clock.advance(2 * DAY)
    w.faults.arm(1, faults.meanwhile(lambda: say(w, "late")))
    w.slate.memory.decay.run_once()
    w.faults.disarm()
    assert texts(said(w))[-1] == "late"
    assert head(w).state == "open"


def test_a_close_whose_queue_is_away_is_followed_up_by_the_timer(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(w)
    monkeypatch.setattr(w.slate.memory.sessions._ending, "_queue", _Away())
    close(w)
    assert "V#v" in items_of(w), "what follows was not done"
    monkeypatch.undo()
    decay(w)
    assert not any(sk.startswith("V") for sk in items_of(w))
    assert "pending" not in items_of(w)["TURNS#HEAD"]


class _Away:
    def send(self, message: Any, *, delay_seconds: int = 0) -> None:
        del message, delay_seconds
        from slate.domain.errors import Unavailable

        raise Unavailable("away")


@pytest.mark.parametrize("turns", [100, pytest.param(1_000, marks=pytest.mark.race)])
def test_two_agents_append_at_once_and_every_turn_is_there_once_without_gaps(turns: int) -> None:
    from contract.world import World as Words

    with build_local() as local, ThreadPoolExecutor(2) as pool:
        w = Words.__new__(Words)
        w.slate, w.me = local.slate, Words.principal(w)
        create(w, subject="u")

        def talk(agent: str) -> None:
            for start in range(0, turns, 10):
                batch = [
                    {"role": "user", "content": f"{agent} {i}", "client_id": f"{agent} {i}"}
                    for i in range(start, start + 10)
                ]
                say(w, *batch)
                if start % 50 == 0:
                    say(w, *batch)

        list(pool.map(talk, ("ann", "bob")))
        kept = said(w, limit=200)
        assert [turn.seq for turn in kept] == list(range(1, 2 * turns + 1))
        for agent in ("ann", "bob"):
            assert [t.content for t in kept if t.content.startswith(agent)] == [f"{agent} {i}" for i in range(turns)]
