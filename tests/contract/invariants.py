"""What must hold of the stored items between any two calls, and what once nothing is due any more (DESIGN section 4).

Read from the raw items alone, so that no code under test vouches for itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from contract.value_laws import broken_value
from slate.adapters.dynamodb.calls import Item, Key
from slate.domain.slots import APPROVAL, HOLD_ADD, HOLD_CREATE

OPEN: Final = {"BLOCKED", "READY", "RUNNING", "DELAYED", "WAITING"}
PLACED: Final = {"RUNNING", "DELAYED", "WAITING"}


def broken(items: Mapping[Key, Item]) -> list[str]:
    """Every law that the items break, as they stand between two calls."""
    return [fault for partition in _graphs(items) for fault in _graph(partition)]


def unsettled(items: Mapping[Key, Item]) -> list[str]:
    """Every law that they break once all time has passed and the sweeper has nothing to do: broken, stuck, garbage."""
    faults = broken(items)
    for key, item in items.items():
        if "timer_pk" in item and key.sk != "VALUES":
            faults.append(f"{key.sk}: still in the timer")
        if "need" in item and item["state"] == "BLOCKED" and set(item["need"]) & {HOLD_ADD, HOLD_CREATE}:
            faults.append(f"{key.sk}: still on a hold")
    return faults


def _graphs(items: Mapping[Key, Item]) -> Iterable[dict[str, Item]]:
    partitions: dict[str, dict[str, Item]] = defaultdict(dict)
    for key, item in items.items():
        if "#G#" in key.pk:
            partitions[key.pk][key.sk] = item
    return partitions.values()


def _graph(items: dict[str, Item]) -> Iterator[str]:
    head = items.get("META")
    if head is None or "state" not in head:
        yield f"ghosts without a head: {sorted(items)}"
        return
    yield from _head(head, items)
    for sk, item in items.items():
        if item.get("subject_pk") != head.get("subject_pk"):
            yield f"{sk}: not about the graph's subject"
        if sk.startswith("T#"):
            yield from (f"{sk}: {fault}" for fault in _task(sk, item, items, head["state"]))
        elif sk.startswith("V"):
            yield from (f"{sk}: {fault}" for fault in broken_value(sk, items) if head["state"] != "DELETING")
        elif sk != "META" and head["state"] not in ("CREATING", "DELETING"):
            yield from _satellite(sk, items)


def _head(head: Item, items: dict[str, Item]) -> Iterator[str]:
    due = head["state"] in ("CREATING", "CANCELLING", "DELETING")
    if due and "timer_pk" not in head:
        yield f"META: {head['state']} outside the timer"
    if head["state"] == "CANCELLED" and "timer_pk" in head:
        yield "META: CANCELLED in the timer"
    if head["state"] == "CANCELLED" and any(i["state"] in OPEN for k, i in items.items() if k.startswith("T#")):
        yield "META: CANCELLED with open tasks"
    held = any(HOLD_CREATE in i.get("need", ()) for i in items.values() if i.get("state") == "BLOCKED")
    if head["state"] == "ACTIVE" and held and "timer_pk" not in head:
        yield "META: ACTIVE outside the timer with a root on its hold"


def _satellite(sk: str, items: dict[str, Item]) -> Iterator[str]:
    kind, _, rest = sk.partition("#")
    for task_id in rest.split("#"):
        if f"T#{task_id}" not in items:
            yield f"{sk}: there is no task {task_id}"
    if kind == "R" and not items.get(f"T#{rest}", {}).get("large_result"):
        yield f"{sk}: a result that was never committed"


def _task(sk: str, item: Item, items: dict[str, Item], graph: str) -> Iterator[str]:
    missing = {"state", "epoch", "version", "attempts", "dependents", "history", "body", "digest"} - item.keys()
    if missing:
        yield f"a ghost without {sorted(missing)}"
        return
    state, need = item["state"], set(item.get("need", ()))
    yield from _placed(state, item, need)
    if item.get("unlocking") and (state in OPEN or "timer_pk" not in item):
        yield f"unlocking while {state}, in the timer: {'timer_pk' in item}"
    if not 0 <= item["attempts"] <= item["max_attempts"]:
        yield f"{item['attempts']} attempts"
    if state == "READY" and item["attempts"] >= item["max_attempts"]:
        yield "READY that nobody can claim"
    if (state == "DONE") != ("outcome" in item):
        yield f"{state} with outcome: {'outcome' in item}"
    if item.get("large_result") and f"R#{sk[2:]}" not in items:
        yield "its result is missing"
    if item.get("large_input") and f"I#{sk[2:]}" not in items:
        yield "its input is missing"
    if graph == "ACTIVE":
        yield from _tied(sk[2:], item, need, items)


def _placed(state: str, item: Item, need: set[int]) -> Iterator[str]:
    """Where the state says that it stands in the indexes, and nowhere else."""
    if state == "BLOCKED" and not need:
        yield "BLOCKED by nothing"
    if state in ("READY", "RUNNING", "DELAYED", "WAITING", "DONE") and need:
        yield f"{state} with a need"
    if (state == "READY") != ("ready_pk" in item):
        yield f"{state}, in ready: {'ready_pk' in item}"
    place = item.get("ready_sk") or item.get("home_sk")
    if place is not None and place.split("#")[2] != item.get("subject_pk", "-").rpartition("#")[2]:
        yield f"{state}, in line for another subject"
    if (state in PLACED) != ("home_pk" in item):
        yield f"{state}, with a home: {'home_pk' in item}"
    due = state in ("RUNNING", "DELAYED") or bool(item.get("unlocking")) or (state == "BLOCKED" and HOLD_ADD in need)
    if due != ("timer_pk" in item):
        yield f"{state}, in the timer: {'timer_pk' in item}, need {need}"
    if (state == "RUNNING") != ("lease_until" in item):
        yield f"{state}, with a lease: {'lease_until' in item}"
    if (state == "DELAYED") != ("due_at" in item):
        yield f"{state}, with a due moment: {'due_at' in item}"
    if state == "RUNNING" and not {"token", "agent"} <= item.keys():
        yield "RUNNING with nobody"


def _tied(task_id: str, item: Item, need: set[int], items: dict[str, Item]) -> Iterator[str]:
    """The edges of an ACTIVE graph: counted, and each unmet slot has somebody who will free it, or break it."""
    edges = sum(sk.startswith(f"E#{task_id}#") for sk in items)
    if item["state"] in OPEN and item["dependents"] != edges:
        yield f"{item['dependents']} dependents, {edges} edges"
    if item["dependents"] > edges:
        yield f"{item['dependents']} dependents, only {edges} edges"
    if item["state"] != "BLOCKED" or HOLD_ADD in need:
        return
    for i, text in enumerate(item.get("parents", ())):
        parent = items.get("T#" + text.partition("#")[0])
        if i + 1 not in need:
            continue
        if parent is None or f"E#{text.partition('#')[0]}#{task_id}" not in items:
            yield f"stuck on {text}: no parent or no edge"
        elif parent["state"] not in OPEN and not parent.get("unlocking"):
            yield f"stuck on {text}, which is {parent['state']} and has told its children"
    if need - {APPROVAL, HOLD_CREATE} - set(range(1, 1 + len(item.get("parents", ())))):
        yield f"needs {need}, which nobody frees"
