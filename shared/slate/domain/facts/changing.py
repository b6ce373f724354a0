"""What is done to a fact that is there: deleted, restored, put in limbo, confirmed, edited. Pure, as ``deciding``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from slate.domain.errors import Conflict
from slate.domain.facts.deciding import Fetch, NewId, settle
from slate.domain.facts.model import Fact, FactState
from slate.domain.facts.slots import value_of
from slate.domain.facts.timeline import Observation, Timeline, fold, insert, observed, reopened, without


class Changed(NamedTuple):
    """The slot since, and the facts that change; the one that it is about is among them."""

    timeline: Timeline
    changed: tuple[Fact, ...]


DELETES: Final = "deleted"
KEEPS: Final = "keep_maybe"
CONSENT: Final = "consent_withdrawn"


def with_history(facts: Iterable[Fact], fact_id: str) -> list[str]:
    """A fact, and before it all that it replaced, and that these did: what goes for good together."""
    replaced = {fact.fact_id: fact.superseded_by for fact in facts if fact.state is FactState.SUPERSEDED}
    gone = [fact_id]
    for each in gone:
        gone += [earlier for earlier, by in replaced.items() if by == each and earlier not in gone]
    return gone[::-1]


def forget(timeline: Timeline, fact: Fact, fetch: Fetch, now: int, until: int, *, said: bool) -> Changed:
    """Forget a fact, until when it can be restored.

    ``said``: somebody says that it is to go, so that the same statement again is a new one; otherwise saying it again
    wakes it.
    """
    after = timeline
    standing = fold(timeline).get(fact.fact_id)
    if said and standing is not None and standing.stands:
        end = max([now, *(each.at for each in timeline)])
        value = next(each.value for each in timeline if each.fact_id == fact.fact_id)
        after = (*timeline, Observation(fact.fact_id, end, value, 0, withdraws=True, closes=fact.fact_id))
    changed, _ = settle(timeline, after, fetch)
    gone = {"state": FactState.FORGOTTEN, "restorable_until": until, "gone_by": None}
    return Changed(after, _with(changed, fact, gone))


def restore(timeline: Timeline, fact: Fact, fetch: Fetch, new_id: NewId) -> Changed:
    """Undo forgetting: it is active, or history where something newer was said of its slot meanwhile.

    Raises:
        Conflict: it is neither forgotten nor in limbo.
    """
    if fact.state is FactState.ACTIVE:
        return Changed(timeline, ())
    if fact.state is FactState.SUPERSEDED:
        raise Conflict("this fact was replaced by a newer one; state it again to make it hold", state=fact.state.value)
    again = reopened(timeline, fact.fact_id, new_id)
    after, merged = again.timeline, again.merged
    if not observed(after, fact.fact_id):
        said = Observation(fact.fact_id, fact.valid_from, value_of(fact.statement, fact.value), fact.confidence)
        inserted = insert(after, said, new_id)
        after, merged = inserted.timeline, {**merged, **inserted.merged}
    changed, _ = settle(timeline, after, fetch, merged=merged)
    standing = fold(after).get(fact.fact_id)
    state = FactState.ACTIVE if standing is None or standing.stands else FactState.SUPERSEDED
    return Changed(after, _with(changed, fact, {"state": state, "restorable_until": None, "keep_maybe": False}))


def keep_maybe(timeline: Timeline, fact: Fact, fetch: Fetch, new_id: NewId) -> Changed:
    """Put it in limbo: not served, restorable.

    Raises:
        Conflict: it was superseded.
    """
    restored = restore(timeline, fact, fetch, new_id)
    limbo = {"state": FactState.LIMBO, "keep_maybe": True, "restorable_until": None, "gone_by": None}
    return Changed(restored.timeline, _with(restored.changed, fact, limbo))


def confirm(timeline: Timeline, fact: Fact, fetch: Fetch, new_id: NewId, now: int, at_least: float = 0.0) -> Changed:
    """The person says that it holds: now, and rather than what contradicts it; so surely ``at_least``.

    Raises:
        Conflict: it holds no longer.
    """
    if fact.state not in (FactState.ACTIVE, FactState.LIMBO):
        raise Conflict(f"this fact is {fact.state}; restore it, or state it again", state=fact.state.value)
    value = next(
        (each.value for each in timeline if each.fact_id == fact.fact_id), value_of(fact.statement, fact.value)
    )
    at = max([now, *(each.at for each in timeline if each.value != value)])
    inserted = insert(timeline, Observation(fact.fact_id, at, value, max(fact.confidence, at_least), own=True), new_id)
    if not inserted.changed:
        return Changed(timeline, ())
    changed, _ = settle(
        timeline, inserted.timeline, fetch, fresh=fact, merged=inserted.merged, said_of=inserted.fact_id
    )
    return Changed(inserted.timeline, changed)


class Moved(NamedTuple):
    """The slots since, and the facts that change."""

    old: Timeline
    new: Timeline
    changed: tuple[Fact, ...]


def edit(old: Timeline, new: Timeline | None, fact: Fact, edited: Fact, fetch: Fetch, new_id: NewId) -> Moved:
    """Replace what a fact says; where that is of another slot, ``new`` is that slot's timeline.

    Raises:
        Conflict: it is not active or in limbo.
    """
    if fact.state not in (FactState.ACTIVE, FactState.LIMBO):
        raise Conflict(f"this fact is {fact.state}, and history is not edited; state it anew", state=fact.state.value)
    value = value_of(edited.statement, edited.value)
    mine = observed(old, fact.fact_id)
    if new is None and all(each.value == value and each.confidence == edited.confidence for each in mine):
        return Moved(old, old, (edited,))
    left = without(old, fact.fact_id)
    after, merged = left if new is None else new, dict[str, str]()
    for each in mine:
        inserted = insert(after, each._replace(value=value, confidence=edited.confidence), new_id)
        after, merged = inserted.timeline, {**merged, **inserted.merged}
    known: dict[str, Fact] = {fact.fact_id: edited}

    def fetched(ids: object) -> Mapping[str, Fact]:
        return {**fetch(ids), **known}  # type: ignore[arg-type]  # the same ids

    if new is None:
        changed, _ = settle(old, after, fetched, merged=merged)
        return Moved(after, after, _with(changed, edited, {}))
    first, _ = settle(old, left, fetch)
    second, _ = settle(new, after, fetched, merged=merged)
    return Moved(left, after, _with((*first, *second), edited, {}))


def _with(changed: tuple[Fact, ...], fact: Fact, update: Mapping[str, object]) -> tuple[Fact, ...]:
    """The facts that change, with this one changed so beside."""
    mine = next((each for each in changed if each.fact_id == fact.fact_id), fact)
    others = tuple(each for each in changed if each.fact_id != fact.fact_id)
    return (*others, mine.model_copy(update=dict(update)))
