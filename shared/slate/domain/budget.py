"""Who gets how many tokens: the total is never exceeded, and what has no place is named with a reason.

What may never be dropped is taken out first; a total below it is refused. The digest has a share that nothing else
changes, so that it reads the same from call to call. The rest is shared: each section is sure of its part, or of the
number that the caller gave it. What one leaves over another borrows: first what sections need, then what they could
use, in the order of ``PRIORITY``, whose end is sacrificed first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from slate.domain.context import Budget, Dropped, Item, Section, SectionName
from slate.domain.errors import FieldError, Invalid

SUMMARY_SHARE: Final = 0.25
SHARES: Final[Mapping[SectionName, float]] = {
    SectionName.RECENT: 0.35,
    SectionName.MARKED: 0.20,
    SectionName.TASK: 0.15,
    SectionName.FACTS: 0.08,
    SectionName.KNOWLEDGE: 0.07,
    SectionName.RECALL: 0.05,
    SectionName.EPISODES: 0.04,
    SectionName.NOTICES: 0.03,
    SectionName.RECONFIRM: 0.03,
}
"""Of what is left after what is never dropped, and the digest."""
PRIORITY: Final = (
    SectionName.NOTICES,
    SectionName.RECONFIRM,
    SectionName.RECENT,
    SectionName.MARKED,
    SectionName.TASK,
    SectionName.FACTS,
    SectionName.KNOWLEDGE,
    SectionName.RECALL,
    SectionName.EPISODES,
)
"""Who borrows first; the last is sacrificed first."""


class Want(NamedTuple):
    """The tokens that a section's items need, and those that they could use."""

    need: int
    all: int


class Fit(NamedTuple):
    """What a section shows in the room it got, in the order shown, and what it leaves out."""

    items: tuple[Item, ...]
    dropped: tuple[Dropped, ...]


class Draft(Protocol):
    """A section before its room is known."""

    @property
    def name(self) -> SectionName:
        """Which section."""
        ...

    @property
    def whole(self) -> bool:
        """Whether it is shown whole or not at all."""
        ...

    def want(self) -> Want:
        """What its items cost."""
        ...

    def fit(self, room: int, shown: Collection[str]) -> Fit:
        """Choose for this room; what is ``shown`` in another section already is not shown again."""
        ...


@dataclass(frozen=True, slots=True)
class Ranked:
    """Items of which each fits or does not; ``order`` is by preference, places in ``items``."""

    name: SectionName
    items: tuple[Item, ...]
    order: tuple[int, ...] | None = None
    need: frozenset[str] | None = None
    """The ids that are needed; without it all are."""
    whole: bool = False

    def want(self) -> Want:
        """What they cost."""
        everything = sum(item.tokens for item in self.items)
        needed = self.need
        if needed is None:
            return Want(everything, everything)
        return Want(sum(item.tokens for item in self.items if item.id in needed), everything)

    def fit(self, room: int, shown: Collection[str]) -> Fit:
        """Take each that still fits, the preferred first."""
        chosen: set[int] = set()
        dropped: list[Dropped] = []
        left = room
        for place in self.order if self.order is not None else range(len(self.items)):
            item = self.items[place]
            if item.id in shown:
                continue
            if item.tokens <= left:
                left -= item.tokens
                chosen.add(place)
            else:
                dropped.append(no_room(item.id, self.name, item.tokens, left))
        return Fit(tuple(item for place, item in enumerate(self.items) if place in chosen), tuple(dropped))


def no_room(item_id: str, section: SectionName, tokens: int, left: int) -> Dropped:
    """Left out for want of room."""
    return Dropped(
        id=item_id, section=section, reason=f"no room: it has {tokens} tokens, the section {max(left, 0)} left"
    )


class Filled(NamedTuple):
    """The sections as they are shown, in their order, and what was left out."""

    sections: tuple[Section, ...]
    dropped: tuple[Dropped, ...]


def fill(drafts: Sequence[Draft], budget: Budget, frames: Mapping[SectionName, int]) -> Filled:
    """Give each section its room, and let it choose. ``frames`` is what a section costs beside its items.

    Raises:
        Invalid: what may never be dropped does not fit the total, or its own number; it is named.
    """
    used = {draft.name: draft for draft in drafts if draft.want().all}
    certain = {name: draft.want().all + frames[name] for name, draft in used.items() if draft.whole}
    _check(certain, budget)
    left = budget.total - sum(certain.values())
    rooms = dict(certain)
    if (summary := used.get(SectionName.SUMMARY)) is not None:
        share = _own(budget, SectionName.SUMMARY, int(left * SUMMARY_SHARE))
        rooms[SectionName.SUMMARY] = min(share, left, summary.want().all + frames[SectionName.SUMMARY])
        left -= rooms[SectionName.SUMMARY]
    shared = {name: draft.want() for name, draft in used.items() if name not in rooms}
    rooms |= _share(shared, left, budget, frames)
    return _chosen(used, rooms, budget, frames)


def _check(certain: Mapping[SectionName, int], budget: Budget) -> None:
    errors: list[FieldError] = []
    for name, tokens in certain.items():
        own = budget.of(name)
        if own is not None and tokens > own:
            message = f"{name} has {tokens} tokens and is never trimmed; give it at least as many, or make it shorter"
            errors.append({"field": f"budget.{name}", "message": message})
    needed = sum(certain.values())
    if needed > budget.total:
        parts = ", ".join(f"{name} {tokens}" for name, tokens in certain.items())
        message = (
            f"what is never dropped has {needed} tokens: {parts}; give at least as many, or make one of them shorter"
        )
        errors.append({"field": "budget.total", "message": message})
    if errors:
        raise Invalid(errors)


def _share(
    wants: Mapping[SectionName, Want], left: int, budget: Budget, frames: Mapping[SectionName, int]
) -> dict[SectionName, int]:
    """Rooms, frames among them: first what each is sure of, then what is needed, then what could be used."""
    most = {name: min(want.all + frames[name], _own(budget, name, left), left) for name, want in wants.items()}
    need = {name: min(want.need + frames[name], most[name]) for name, want in wants.items()}
    sure = {name: _own(budget, name, int(left * SHARES.get(name, 0))) for name in wants}
    asked = sum(sure.values())
    scale = min(1.0, left / asked) if asked else 0.0
    rooms = {name: min(int(sure[name] * scale), most[name]) for name in wants}
    pool = left - sum(rooms.values())
    order = [name for name in PRIORITY if name in wants]
    for goal in (need, most):
        for name in order:
            more = min(max(goal[name] - rooms[name], 0), pool)
            rooms[name] += more
            pool -= more
    return rooms


def _own(budget: Budget, name: SectionName, otherwise: int) -> int:
    """The section's own number, which may be 0."""
    own = budget.of(name)
    return otherwise if own is None else own


_CHOOSING: Final = (*PRIORITY[2:], *PRIORITY[:2])
"""Recent turns choose first, so that a marked turn among them is not shown twice."""


def _chosen(
    used: Mapping[SectionName, Draft],
    rooms: Mapping[SectionName, int],
    budget: Budget,
    frames: Mapping[SectionName, int],
) -> Filled:
    sections: dict[SectionName, Section] = {}
    dropped: list[Dropped] = []
    shown: set[str] = set()
    spare = 0
    certain = [name for name in SectionName if name in used and (used[name].whole or name is SectionName.SUMMARY)]
    for name in (*certain, *(name for name in _CHOOSING if name in used and name not in certain)):
        # What a section could not use after all goes to those that choose after it.
        most = _own(budget, name, budget.total)
        room = rooms[name] if name in certain else min(rooms[name] + spare, most)
        fit = used[name].fit(room - frames[name], shown)
        tokens = sum(item.tokens for item in fit.items) + frames[name] if fit.items else 0
        if name not in certain:
            spare += rooms[name] - tokens
        if fit.items:
            sections[name] = Section(name=name, tokens=tokens, items=fit.items)
        shown |= {item.id for item in fit.items}
        dropped += fit.dropped
    return Filled(tuple(sections[name] for name in SectionName if name in sections), _unseen(dropped, shown))


def _unseen(dropped: Iterable[Dropped], shown: Collection[str]) -> tuple[Dropped, ...]:
    """What one section left out and another shows is not dropped; what two left out is named once."""
    named: dict[str, Dropped] = {}
    for each in dropped:
        if each.id not in shown:
            named.setdefault(each.id, each)
    return tuple(named.values())
