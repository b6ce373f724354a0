"""What must hold of the items of values between any two calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

KEPT: Final = 20
Item = Mapping[str, Any]


def broken_value(sk: str, items: Mapping[str, Item]) -> Iterator[str]:
    """Every law that one item breaks, by its sort key: of a value, of a version before it, or of what all share."""
    item = items[sk]
    kind, _, rest = sk.partition("#")
    if kind == "VALUES":
        if "timer_pk" not in item:
            yield "nobody will look whether the values are to go"
    elif "VALUES" not in items:
        yield "a value that nobody will take away"
    elif kind == "V":
        yield from _value(item)
    elif kind == "VH":
        yield from _version(rest, item, items)


def _value(item: Item) -> Iterator[str]:
    missing = {"version", "by", "agent", "updated_at", "since"} - item.keys()
    if missing:
        yield f"a ghost without {sorted(missing)}"
        return
    holds = ("content" in item) + ("blob" in item)
    if holds != ("gone" not in item):
        yield f"gone: {'gone' in item}, and holds {holds} contents"
    if not 1 <= item["since"] <= item["version"]:
        yield f"a history since {item['since']} at version {item['version']}"
    if ("blob" in item) != (item["version"] in item.get("objects", ())):
        yield f"its object is not counted: {item.get('objects')}"


def _version(rest: str, item: Item, items: Mapping[str, Item]) -> Iterator[str]:
    key, _, slot = rest.partition("#")
    now = items.get(f"V#{key}")
    if now is None:
        if "going" not in items["VALUES"]:
            yield "a version of nothing"
        return
    if not now["version"] - KEPT <= item["version"] < now["version"]:
        yield f"version {item['version']} beside {now['version']}"
    if int(slot) != item["version"] % KEPT:
        yield f"version {item['version']} in place {slot}"
    if "blob" in item and item["version"] >= now["since"] and item["version"] not in now.get("objects", ()):
        yield "its object will be forgotten"
