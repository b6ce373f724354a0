"""Documents whose writer dies, or meets another: what is read is whole, and no part is left that nothing names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from contract.faults import Killed, reply_lost
from contract.world import World
from slate.contract.search import PutDocument
from slate.domain.errors import NotFound, VersionMismatch

OLD, NEW = ("".join(f"# Part {i}\n\nWhat is {age} stands here.\n\n" for i in range(3)) for age in ("old", "new"))


def write(w: World, text: str, *, collection: str = "c", version: int | None = None) -> None:
    body = PutDocument(document_id="d", title="Handbook", text=text, collection=collection)
    w.slate.memory.retrieval.knowledge.put(w.me, body, version)


def remove(w: World) -> None:
    w.slate.memory.retrieval.knowledge.delete(w.me, "d", None)


def shown(w: World) -> str | None:
    try:
        return w.slate.memory.retrieval.knowledge.get(w.me, "d").text
    except NotFound:
        return None


def left(w: World) -> list[str]:
    """What there is of documents, without their heads."""
    return [sk for sk in (str(key[1]) for key in w.items()) if sk.startswith(("PART#", "WRITING#"))]


def deaths(w: World, act: Callable[[], None]) -> int:
    """How many writes a call takes, by killing it after each of them; the last is not reached."""
    for writes in range(100):
        w.faults.kill_after(writes)
        try:
            act()
        except Killed:
            w.faults.disarm()
            whole(w)
            continue
        w.faults.disarm()
        return writes
    raise AssertionError("it never came through")


def whole(w: World) -> None:
    text = shown(w)
    assert text is None or text.count("stands here") == 3, "a reader sees all of one writing"


@pytest.mark.parametrize("elsewhere", ["c", "another"])
def test_the_next_writing_removes_what_those_left_that_died(w: World, elsewhere: str) -> None:
    write(w, OLD)
    assert deaths(w, lambda: write(w, NEW, collection=elsewhere)) > 5
    assert "new" in str(shown(w))
    write(w, OLD)
    assert sorted(sk[-5:] for sk in left(w)) == ["00000", "00001", "00002"]


@pytest.mark.parametrize("before", [None, OLD])
def test_a_delete_removes_what_those_left_that_died(w: World, before: str | None) -> None:
    if before is not None:
        write(w, before)
    w.faults.kill_after(5)
    with pytest.raises(Killed):
        write(w, NEW)
    w.faults.disarm()
    assert len(left(w)) > 2
    with suppress(NotFound):
        remove(w)
    assert left(w) == []


def test_a_delete_that_dies_is_finished_by_its_repeat(w: World) -> None:
    write(w, OLD)

    def again() -> None:
        with suppress(NotFound):
            remove(w)

    assert deaths(w, again) > 1
    assert (shown(w), left(w)) == (None, [])


def test_a_reply_that_is_lost_changes_nothing(w: World) -> None:
    write(w, OLD)
    w.faults.arm_every(reply_lost)
    write(w, NEW)
    w.faults.disarm()
    assert "new" in str(shown(w))
    assert len(left(w)) == 3


def test_a_writer_whose_parts_were_swept_writes_them_again(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writes, then deletes, between this one's parts and its head: it must not turn to what is gone."""
    store = w.slate.memory.retrieval.knowledge._store
    real = store._turn
    met: list[bool] = []

    def turn(*args: object) -> bool:
        if not met:
            met.append(True)
            write(w, OLD)
            remove(w)
        return bool(real(*args))

    monkeypatch.setattr(store, "_turn", turn)
    write(w, NEW)
    assert str(shown(w)).count("new") == 3
    assert len(left(w)) == 3


def test_a_writer_for_a_version_is_told_that_another_was_faster(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    write(w, OLD)
    store = w.slate.memory.retrieval.knowledge._store
    real = store._put_parts
    met: list[bool] = []

    def put_parts(*args: object) -> None:
        real(*args)
        if not met:
            met.append(True)
            write(w, OLD)

    monkeypatch.setattr(store, "_put_parts", put_parts)
    with pytest.raises(VersionMismatch):
        write(w, NEW, version=1)
    assert len(left(w)) == 3
