"""The few words in which tests speak of sessions, and what must hold of their items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from contract.world import TENANT, World
from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.session_store import DynamoSessionStore
from slate.contract.sessions import (
    AppendTurns,
    CreateSession,
    PatchPinned,
    PatchTurn,
    PutPinned,
    ShownSession,
)
from slate.contract.values import PutValue
from slate.domain.access import Principal
from slate.domain.sessions import Session, Turn
from slate.domain.values import OwnerKind

COPIED = ("said", "marks", "importance", "version", "seq", "tokens", "role", "at", "by", "segment")


def store(w: World) -> DynamoSessionStore:
    return DynamoSessionStore(w.storage)


def create(w: World, session_id: str = "s", by: Principal | None = None, **more: Any) -> ShownSession:
    body = CreateSession.model_validate({"session_id": session_id, **more})
    return w.slate.memory.sessions.create(by or w.me, body, None)[0]


def say(
    w: World, *turns: Any, session_id: str = "s", by: Principal | None = None, once: str | None = None
) -> tuple[Turn, ...]:
    """Texts are the user's; pairs name who speaks; mappings are turns as a caller gives them."""
    body = AppendTurns.model_validate({"turns": [_given(turn) for turn in turns]})
    return w.slate.memory.talking.append(by or w.me, session_id, body, once).turns


def _given(turn: Any) -> dict[str, Any]:
    if isinstance(turn, str):
        return {"role": "user", "content": turn}
    return dict(turn) if isinstance(turn, Mapping) else {"role": turn[0], "content": turn[1]}


def said(w: World, session_id: str = "s", limit: int = 100) -> list[Turn]:
    """All turns, page after page."""
    turns: list[Turn] = []
    cursor: str | None = None
    while True:
        page = w.slate.memory.talking.list(w.me, session_id, limit, cursor)
        turns += page.items
        cursor = page.next_cursor
        if cursor is None:
            return turns


def texts(turns: Sequence[Turn]) -> list[str]:
    return [turn.content for turn in turns]


def head(w: World, session_id: str = "s") -> Session:
    return store(w).head(TENANT, session_id)


def mark(w: World, seq: int, version: int | None = None, **more: Any) -> Turn:
    body = PatchTurn.model_validate(more)
    return w.slate.memory.talking.patch(w.me, "s", str(seq), body, version)


def remove(w: World, seq: int, version: int | None = None) -> None:
    w.slate.memory.talking.delete(w.me, "s", str(seq), version)


def pin(w: World, version: int | None = None, **parts: Any) -> Any:
    return w.slate.memory.pinning.put(w.me, "s", PutPinned.model_validate(parts), version)


def merge(w: World, version: int | None = None, **parts: Any) -> Any:
    return w.slate.memory.pinning.patch(w.me, "s", PatchPinned.model_validate(parts), version)


def close(w: World, session_id: str = "s") -> str:
    return w.slate.memory.sessions.close(w.me, session_id).extraction_id


def put_value(w: World, key: str, value: Any) -> None:
    w.slate.values.put(w.me, OwnerKind.SESSION, "s", key, PutValue(value=value), None)


def value_of(w: World, key: str) -> Any:
    return w.slate.values.get(w.me, OwnerKind.SESSION, "s", key).value


def decay(w: World) -> int:
    """All that is due of memory, until nothing is."""
    done = 0
    while now := w.slate.memory.decay.run_once():
        done += now
    return done


def items_of(w: World, session_id: str = "s") -> dict[str, Item]:
    return {key.sk: item for key, item in w.items().items() if key.pk == f"{TENANT}#S#{session_id}"}


def broken(items: Mapping[Key, Item]) -> list[str]:
    """Every law of sessions that the items break, as they stand between two calls."""
    partitions: dict[str, dict[str, Item]] = {}
    for key, item in items.items():
        if "#S#" in key.pk:
            partitions.setdefault(key.pk, {})[key.sk] = item
    return [f"{pk}: {fault}" for pk, partition in partitions.items() for fault in _session(partition)]


def _session(items: Mapping[str, Item]) -> Iterator[str]:
    head = items.get("TURNS#HEAD")
    if head is None or "state" not in head:
        yield f"ghosts without a head: {sorted(items)}"
        return
    if head["state"] == "DELETING":
        return
    for sk, item in items.items():
        if item.get("subject_pk") != head.get("subject_pk"):
            yield f"{sk}: not about the session's subject"
    turns = {item["seq"]: item for sk, item in items.items() if sk.startswith("TURN#")}
    if turns and max(turns) > head["turns"]:
        yield f"turn {max(turns)} beyond the head's {head['turns']}"
    yield from _copies(items, turns, head)
    yield from _counters(turns, head)
    yield from _segments(items, head)


def _copies(items: Mapping[str, Item], turns: Mapping[int, Item], head: Item) -> Iterator[str]:
    marked = {item["seq"]: item for sk, item in items.items() if sk.startswith("MARK#")}
    wanted = {seq for seq, turn in turns.items() if turn["marks"] or turn["importance"] > 7}
    if set(marked) != wanted:
        yield f"marked are {sorted(wanted)}, their copies {sorted(marked)}"
    first = items.get("TURNS#FIRST")
    users = [seq for seq in sorted(turns) if turns[seq]["role"] == "user"]
    if head.get("first_seq") != (users[0] if users else None) or (first or {}).get("seq") != head.get("first_seq"):
        yield f"first is {head.get('first_seq')}, its copy {(first or {}).get('seq')}, of {users[:3]}"
    for copy in (*marked.values(), *([first] if first else [])):
        for name in COPIED:
            if copy[name] != turns.get(copy["seq"], {}).get(name):
                yield f"{copy['sk']}: its {name} is not the turn's"
    for seq, turn in turns.items():
        if "content_by" in turn and f"CONTENT#{turn['content_by']}" not in items:
            yield f"turn {seq}: its content is missing"


def _counters(turns: Mapping[int, Item], head: Item) -> Iterator[str]:
    for name, start in (("exchanges", 1), ("segment_exchanges", head["segment_first"])):
        counted = sum(turn["role"] == "user" and seq >= start for seq, turn in turns.items())
        if head[name] != counted:
            yield f"{name} is {head[name]}, not {counted}"
    tokens = sum(turn["tokens"] for seq, turn in turns.items() if seq >= head["segment_first"])
    if head["segment_tokens"] != tokens:
        yield f"segment_tokens is {head['segment_tokens']}, not {tokens}"


def _segments(items: Mapping[str, Item], head: Item) -> Iterator[str]:
    after = 1
    for sk in sorted(sk for sk in items if sk.startswith("SEGMENT#")):
        segment = items[sk]
        if segment["first_seq"] != after or segment["last_seq"] < segment["first_seq"]:
            yield f"{sk}: begins at {segment['first_seq']}, not at {after}"
        after = segment["last_seq"] + 1
    if head["segment_first"] != after:
        yield f"the open segment begins at {head['segment_first']}, not at {after}"
