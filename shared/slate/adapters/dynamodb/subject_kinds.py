"""Every kind of item there is, in one table: what erasing, exporting and counting a person's data goes by.

A kind is a partition's letter (of a list, its name too) and how its sort keys begin. An item of no declared kind is an
error wherever it is met, so that nothing about a person is passed over because nobody thought of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import Key
from slate.adapters.dynamodb.keys import (
    AUDIT_DAY,
    AUDIT_ENTRY,
    BESIDE_TURNS,
    CONTENT_OF_TURN,
    DOCUMENT,
    EARLIER_FACT,
    EPISODE,
    EXPORT,
    EXPORT_PAGE,
    EXTRACTION,
    FEED,
    HOLD,
    LIVING_FACT,
    MARK,
    MARKED,
    META,
    PAGE,
    PART,
    PAST_FACT,
    SCRUB,
    SEGMENT,
    SESSION,
    TASK,
    TURN,
    VALUES,
    WRITING,
    partition_of,
)
from slate.domain.indexed import Kind

_SAID: Final = ("said",)
_CONTENT: Final = (contents.CONTENT,)


class Undeclared(Exception):  # not an error of a caller's: a store keeps items that no kind declares
    """An item of no declared kind: whether it is about somebody, and how it is erased, nobody has said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKind:
    """A kind of item; ``store`` is what receipts count it under."""

    partition: str
    """The letter of its partitions; of a list, ``N#`` and the list's name."""
    sort: str
    """How its sort keys begin; the whole of it where it ends in no ``#``; of an empty one, anything."""
    store: str
    sealed: tuple[str, ...] = ()
    """The attributes that hold content."""
    objects: bool = False
    """Its content may stand in an object, which its item names."""
    index: Kind | None = None
    """As what the index knows it."""
    export: str | None = None
    """The kind of line that an export has of it; None: what it says stands in another line, or is nobody's words."""
    kept: str | None = None
    """Why it is no data about a person, and stays when one is erased."""

    def has(self, sk: str) -> bool:
        """Whether a sort key of its partitions is of this kind."""
        return sk.startswith(self.sort) if self.sort.endswith("#") or not self.sort else sk == self.sort


def _graph(sort: str, store: str = "graphs", **more: object) -> ItemKind:
    return ItemKind(partition="G", sort=sort, store=store, **more)  # type: ignore[arg-type]  # the fields of a kind


def _session(sort: str, store: str = "sessions", **more: object) -> ItemKind:
    return ItemKind(partition="S", sort=sort, store=store, **more)  # type: ignore[arg-type]  # as above


def _person(sort: str, store: str, **more: object) -> ItemKind:
    return ItemKind(partition="U", sort=sort, store=store, **more)  # type: ignore[arg-type]  # as above


def _kept(partition: str, sort: str, store: str, why: str, *sealed: str) -> ItemKind:
    return ItemKind(partition=partition, sort=sort, store=store, kept=why, sealed=sealed)


_VALUE_KINDS: Final = (("V#", "value"), ("VH#", "earlier_value"))
_TENANTS: Final = "the tenant's own, and about nobody"

KINDS: Final[tuple[ItemKind, ...]] = (
    # A person's own partition.
    _person("SLOT#", "facts", sealed=_SAID),
    _person(LIVING_FACT, "facts", sealed=_SAID, index=Kind.FACT, export="fact"),
    _person(PAST_FACT, "facts", sealed=_SAID, index=Kind.FACT, export="fact"),
    _person(EARLIER_FACT, "facts", sealed=_SAID, export="earlier_fact"),
    _person("NOTICE#", "notices", sealed=_SAID, export="notice"),
    _person("TOLD#", "notices"),
    _person("QUARANTINE#", "quarantine", sealed=_SAID, export="quarantined"),
    _person("FORGOT#", "forgetting_log", sealed=_SAID, export="forgetting"),
    _person("CONSENT", "consents", sealed=_SAID, export="consents"),
    _person("STEP#", "use"),
    _person(SCRUB, "use"),
    _person("ASKED", "use", sealed=_SAID, export="queries"),
    _person("SERVED#", "use", sealed=_SAID),
    _person("ANSWERED", "use", sealed=_SAID),
    _person(SESSION, "sessions"),
    _kept("U", "FENCE", "fences", "an epoch and the names of holds: without it a late write would come back"),
    # Sessions.
    _session(BESIDE_TURNS + "HEAD", sealed=_SAID, export="session"),
    _session(BESIDE_TURNS + "FIRST", sealed=_SAID),
    _session(BESIDE_TURNS + "MERGED", "summaries", sealed=_SAID, export="summary"),
    _session(BESIDE_TURNS + "PINNED", sealed=_SAID, export="pinned"),
    _session(BESIDE_TURNS + "SYSTEM", sealed=_SAID, export="system"),
    _session(BESIDE_TURNS + "USAGE"),
    _session(TURN, sealed=_SAID, index=Kind.TURN, export="turn"),
    _session(MARKED, sealed=_SAID),
    _session(CONTENT_OF_TURN, sealed=_CONTENT, objects=True),
    _session("CLIENT#"),
    _session(SEGMENT, "summaries", sealed=_SAID, export="segment"),
    _session(EXTRACTION, "extractions"),
    *(_session(sort, "values", sealed=_CONTENT, objects=True, export=line) for sort, line in _VALUE_KINDS),
    _session("VO#", "values"),
    _session(VALUES, "values"),
    ItemKind(partition="X", sort="EXTRACTION", store="extractions", sealed=_SAID, export="extraction"),
    ItemKind(partition="X", sort="MATERIAL", store="extractions", sealed=_CONTENT, objects=True, export="material"),
    ItemKind(
        partition="P",
        sort=EPISODE,
        store="episodes",
        sealed=_CONTENT,
        objects=True,
        index=Kind.EPISODE,
        export="episode",
    ),
    ItemKind(partition="C", sort="RECEIPT#", store="contexts", sealed=_SAID, export="context"),
    ItemKind(partition="E", sort=EXPORT, store="exports", sealed=_SAID),
    ItemKind(partition="E", sort=EXPORT_PAGE, store="exports", sealed=_CONTENT, objects=True),
    # Graphs.
    _graph(META, sealed=_SAID, export="graph"),
    _graph(TASK, sealed=("body", "outcome", "error", "question", "answer", "progress"), export="task"),
    _graph("E#"),
    _graph("I#", sealed=_CONTENT, objects=True),
    _graph("R#", sealed=_CONTENT, objects=True),
    *(_graph(sort, "values", sealed=_CONTENT, objects=True, export=line) for sort, line in _VALUE_KINDS),
    _graph("VO#", "values"),
    _graph(VALUES, "values"),
    _graph(FEED, "feeds"),
    _graph(PAGE, "feeds"),
    _graph(MARK, "feeds"),
    # What names a person and stands among what does not.
    ItemKind(partition="N#graphs", sort="", store="graphs"),
    ItemKind(partition="N#sessions", sort=SESSION, store="sessions"),
    ItemKind(partition="N#keys", sort="", store="api_keys", sealed=("subject",), export="api_key"),
    ItemKind(partition="N#holds", sort=HOLD, store="holds", sealed=_SAID),
    ItemKind(partition="W", sort="", store="deliveries"),
    ItemKind(partition="I", sort="CALL", store="idempotency", sealed=("answer",)),
    _kept("N#erasures", "", "erasures", "steps, counts and instants; whose, and why, goes with their keys", "said"),
    _kept("A", AUDIT_ENTRY, "audit", "who did what, without content: it names nobody once the keys are gone"),
    _kept("N#audit", AUDIT_DAY, "audit", "a day that has entries"),
    # What is about nobody.
    _kept("N#settings", "TENANT", "settings", _TENANTS, "said"),
    _kept("N#webhooks", "", "webhooks", _TENANTS, "url", "secret"),
    _kept("N#documents", DOCUMENT, "documents", _TENANTS, "said"),
    _kept("N#documents", WRITING, "documents", _TENANTS),
    _kept("D", PART, "documents", _TENANTS, "said"),
    _kept("L", "LOCK", "locks", _TENANTS),
)

OWNED: Final = frozenset("UPSGXCE")
"""Letters of partitions that hold nothing but one person's data, where an item of theirs is about one."""


def _by_partition() -> Mapping[str, Sequence[ItemKind]]:
    found: defaultdict[str, list[ItemKind]] = defaultdict(list)
    for kind in KINDS:
        found[kind.partition].append(kind)
    return found


_BY_PARTITION: Final = _by_partition()


def kind_of(key: Key) -> ItemKind:
    """The kind of an item.

    Raises:
        Undeclared: there is none.
    """
    _, letter, owner = partition_of(key.pk)
    for kind in _BY_PARTITION.get(f"N#{owner}" if letter == "N" else letter, ()):
        if kind.has(key.sk):
            return kind
    raise Undeclared(f"items in partitions {letter!r} with a sort key like {key.sk.partition('#')[0]!r}")
