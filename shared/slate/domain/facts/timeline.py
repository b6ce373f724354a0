"""What was said of one slot, in the order in which it was observed, decides what stands: the order of arrival does not.

A timeline is folded from its oldest observation to its newest. One that says what stands already confirms it. Another
is a fact of its own, and supersedes what stands and is no surer than it; what is surer stays and both stand. The
person's own words are at least as sure as what they replace. A withdrawal ends what it names. At the same instant the
one that arrived later is the newer, within a session the later turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, NamedTuple

KEPT_OF_A_RUN: Final = 16
"""Of one thing said over and over, so many observations are kept: the first ones and the last."""
MOST_STANDING: Final = 8
"""Of one slot; where more contradict each other, the least sure gives way."""
KEPT: Final = 300
"""Observations of one slot; the oldest that no longer stand make room."""


class Observation(NamedTuple):
    """That something was said of a slot."""

    fact_id: str
    at: int
    value: str
    """In the form in which values are compared."""
    confidence: float
    own: bool = False
    withdraws: bool = False
    """It says that the value holds no longer."""
    closes: str | None = None
    """A withdrawal by deleting this fact; restoring the fact takes it back."""
    shelved: bool = False
    """Of a fact that was not let in: it counts once the fact is restored, or said again."""
    session_id: str | None = None
    seq: int | None = None


Timeline = tuple[Observation, ...]


class Standing(NamedTuple):
    """What the fold says of one fact."""

    valid_from: int
    last_confirmed_at: int
    confidence: float
    valid_to: int | None
    superseded_by: str | None
    contradicts: tuple[str, ...]

    @property
    def stands(self) -> bool:
        """Whether it holds now."""
        return self.valid_to is None


class Inserted(NamedTuple):
    """A timeline with one observation more, and which fact that belongs to."""

    timeline: Timeline
    fact_id: str
    new: bool
    """The fact was not there before."""
    changed: bool
    """False: this very observation was there."""
    merged: dict[str, str]
    """Facts that are one with another by now, and with which."""


@dataclass(slots=True, eq=False)
class _Group:
    """The observations of one fact, while folding."""

    value: str
    confidence: float
    since: int
    members: list[int] = field(default_factory=list)
    last: int = 0
    until: int | None = None
    replaced_by: _Group | None = None
    beside: list[_Group] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    fact_id: str = ""


def insert(timeline: Timeline, said: Observation, new_id: Callable[[], str]) -> Inserted:
    """Put an observation in its place. ``new_id`` names facts that come to be, should one have to be parted in two.

    ``said.fact_id`` is the id of the fact should it be a new one.
    """
    if not said.closes and (known := _known(timeline, said)) is not None:
        return Inserted(timeline, known.fact_id, new=False, changed=False, merged={})
    place = _place(timeline, said)
    lifted = tuple(
        each._replace(shelved=False) if each.value == said.value and not said.withdraws else each for each in timeline
    )
    if said.shelved:
        lifted = timeline
    longer = (*lifted[:place], said, *lifted[place:])
    there = {each.fact_id for each in timeline}
    named = _named(longer, there, new_id)
    fact_id = named[place].fact_id
    merged = _merged(longer, named, there)
    return Inserted(_bounded(named), fact_id, new=fact_id not in there, changed=True, merged=merged)


def fold(timeline: Timeline) -> dict[str, Standing]:
    """What stands, what was superseded, from when to when; by fact, the oldest first. Shelved ones are not told of."""
    groups = _folded(timeline)
    return {
        group.fact_id: Standing(
            valid_from=group.since,
            last_confirmed_at=group.last,
            confidence=group.confidence,
            valid_to=group.until,
            superseded_by=None if group.replaced_by is None else group.replaced_by.fact_id,
            contradicts=tuple(other.fact_id for other in group.beside if other.until is None)
            if group.until is None
            else (),
        )
        for group in groups
    }


def without(timeline: Timeline, fact_id: str) -> Timeline:
    """The timeline as if this fact had never been said."""
    return tuple(each for each in timeline if fact_id not in (each.fact_id, each.closes))


def blanked(timeline: Timeline, fact_id: str) -> Timeline:
    """The timeline without a word of this fact; what it replaced stays replaced, from the same instant on.

    In whichever order facts are blanked, the same is left.
    """
    last = {each.fact_id: place for place, each in enumerate(timeline) if not each.withdraws}
    ends: defaultdict[int, list[Observation]] = defaultdict(list)
    for other, one in fold(timeline).items():
        if one.superseded_by != fact_id or one.valid_to is None:
            continue
        mine = (place for place, each in enumerate(timeline) if each.fact_id == fact_id and each.at == one.valid_to)
        place = next(place for place in mine if place > last[other])
        ends[place].append(Observation("", one.valid_to, "", 0, withdraws=True, closes=other))
    return tuple(
        kept
        for place, each in enumerate(timeline)
        for kept in (ends.get(place, ()) if fact_id in (each.fact_id, each.closes) else (each,))
    )


class Reopened(NamedTuple):
    """A timeline in which a fact counts again."""

    timeline: Timeline
    merged: dict[str, str]


def reopened(timeline: Timeline, fact_id: str, new_id: Callable[[], str]) -> Reopened:
    """The timeline without what deleting this fact left, and with what was shelved of it."""
    kept = tuple(
        each._replace(shelved=False) if each.fact_id == fact_id else each for each in timeline if each.closes != fact_id
    )
    there = {each.fact_id for each in kept}
    named = _named(kept, there, new_id)
    return Reopened(named, _merged(kept, named, there))


def observed(timeline: Timeline, fact_id: str) -> Timeline:
    """The observations of one fact."""
    return tuple(each for each in timeline if each.fact_id == fact_id and not each.withdraws)


def _known(timeline: Timeline, said: Observation) -> Observation | None:
    """The same observation, when a turn is read once more or a call repeated."""
    for each in timeline:
        same = (each.at, each.value, each.withdraws) == (said.at, said.value, said.withdraws) and not each.closes
        if same and each.confidence >= said.confidence and each.own >= said.own and each.shelved == said.shelved:
            # After it, something else may have been said at the same instant: then this says it again.
            after = timeline[timeline.index(each) + 1 :]
            same_turn = each.session_id is not None and (each.session_id, each.seq) == (said.session_id, said.seq)
            if same_turn or not any(_tells_otherwise(other, said) for other in after):
                return each
    return None


def _tells_otherwise(other: Observation, said: Observation) -> bool:
    return other.at == said.at and (other.value != said.value or other.withdraws != said.withdraws)


def _place(timeline: Timeline, said: Observation) -> int:
    """After all that was observed before it or at the same instant, but for later turns of the same session."""
    place = sum(each.at <= said.at for each in timeline)
    while place and _is_later_turn(timeline[place - 1], said):
        place -= 1
    return place


def _is_later_turn(one: Observation, said: Observation) -> bool:
    if one.at != said.at or said.session_id is None or one.session_id != said.session_id:
        return False
    return (one.seq or 0) > (said.seq or 0)


def _folded(timeline: Timeline) -> list[_Group]:
    groups: list[_Group] = []
    standing: list[_Group] = []
    for place, said in enumerate(timeline):
        if said.shelved:
            continue
        if said.withdraws:
            standing = _withdrawn(standing, said)
            continue
        group = next((each for each in standing if each.value == said.value), None)
        if group is None:
            group = _Group(said.value, said.confidence, said.at, fact_id=said.fact_id)
            groups.append(group)
        standing = _said(standing, group, said)
        group.members.append(place)
        group.ids.add(said.fact_id)
    for group in standing:
        group.beside = [other for other in standing if other is not group]
    return groups


def _withdrawn(standing: list[_Group], said: Observation) -> list[_Group]:
    for group in standing:
        ends = said.closes in group.ids if said.closes else said.value in ("", group.value)
        if ends:
            group.until = said.at
    return [group for group in standing if group.until is None]


def _said(standing: list[_Group], group: _Group, said: Observation) -> list[_Group]:
    """The observation joins its group, which supersedes what is no surer."""
    others = [each for each in standing if each is not group]
    sure = max(group.confidence, said.confidence)
    if said.own:
        sure = max([sure, *(each.confidence for each in others)])
    group.confidence, group.last = sure, said.at
    crowd = sorted(others, key=lambda each: -each.confidence)[MOST_STANDING - 1 :]
    for other in others:
        if other.confidence <= sure or other in crowd:
            other.until, other.replaced_by = said.at, group
    return [*(other for other in others if other.until is None), group]


def _named(timeline: Timeline, there: Collection[str], new_id: Callable[[], str]) -> Timeline:
    """Every observation with the fact it belongs to now; of a fact that was parted, the newest part keeps the id.

    Ids that are ``there`` already, and so may be known to others, stand before that of the observation just come.
    """
    ids: dict[int, str] = {}
    taken: set[str] = set()
    for group in reversed(_folded(timeline)):
        candidates = [timeline[place].fact_id for place in group.members]
        free = sorted((each for each in candidates if each not in taken), key=lambda each: each not in there)
        fact_id = free[0] if free else new_id()
        taken.add(fact_id)
        ids |= dict.fromkeys(group.members, fact_id)
    return tuple(each._replace(fact_id=ids.get(place, each.fact_id)) for place, each in enumerate(timeline))


def _merged(before: Timeline, named: Timeline, there: Collection[str]) -> dict[str, str]:
    """Ids that no observation has any more, and what has their observations."""
    gone = set(there) - {each.fact_id for each in named}
    pairs = zip(before, named, strict=True)
    return {old.fact_id: new.fact_id for old, new in pairs if old.fact_id in gone}


def _bounded(timeline: Timeline) -> Timeline:
    """Without the middle of long runs, and without the oldest that stands no more."""
    kept = _thinned(timeline)
    if len(kept) <= KEPT:
        return kept
    stands = {fact_id for fact_id, one in fold(kept).items() if one.stands}
    spare = [place for place, each in enumerate(kept) if each.fact_id not in stands][: len(kept) - KEPT]
    return tuple(each for place, each in enumerate(kept) if place not in set(spare))


def _thinned(timeline: Timeline) -> Timeline:
    kept: list[Observation] = []
    run: list[Observation] = []
    for each in (*timeline, None):
        if each is not None and run and _alike(run[-1], each):
            run.append(each)
            continue
        half = KEPT_OF_A_RUN // 2
        kept += run if len(run) <= KEPT_OF_A_RUN else [*run[:half], *run[-half:]]
        run = [] if each is None else [each]
    return tuple(kept)


def _alike(one: Observation, other: Observation) -> bool:
    if one.shelved or other.shelved or one.closes or other.closes or one.withdraws is not other.withdraws:
        return False
    if one.withdraws:
        return one.value == other.value
    return one.fact_id == other.fact_id and one.confidence >= other.confidence
