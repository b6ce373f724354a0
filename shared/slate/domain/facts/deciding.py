"""What a statement does to what is known of its slot: ADD, UPDATE, DELETE or NOOP, and every fact that changes by it.

Pure: a store reads a slot, asks here, and writes all of the answer or none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from slate.domain.facts.model import Decision, Fact, FactState, Op
from slate.domain.facts.standing import serves
from slate.domain.facts.timeline import Observation, Standing, Timeline, fold, insert

Fetch = Callable[[Collection[str]], Mapping[str, Fact]]
"""Gives those of the facts that are there."""
NewId = Callable[[], str]

ADDED = "new"
AGAIN = "it was forgotten, and is active again"
BESIDE = "less certain than what it contradicts: both stand until one is confirmed"
CONFIRMED = "already known: confirmed"
KNOWN = "already known"
LEARNED = "learned from this turn when it was said"
KEPT_MAYBE = "kept in limbo, and not served until it is restored"
LATE = "older than what is known: kept as history"
NOTHING = "nothing of the kind is known"
REPLACED = "newer than what it replaces"
TRIVIAL = "importance below 4: not kept, can be restored"
WITHDRAWN = "withdrawn by a newer statement"


class Plan(NamedTuple):
    """What is to be written, and what to answer."""

    decision: Decision
    timeline: Timeline
    changed: tuple[Fact, ...] = ()
    """Facts as they are to be, new ones among them; their versions are not counted up yet."""
    replaced: tuple[Fact, ...] = ()
    """What was served until now and is no more, for a notice."""
    fact: Fact | None = None
    shelves: bool = False
    """A fact that was not let in, or that is kept perhaps, which the log is to say."""

    @property
    def writes(self) -> bool:
        """Whether anything changes."""
        return bool(self.changed) or self.timeline != ()


def state(timeline: Timeline, fact: Fact, said: Observation, fetch: Fetch, new_id: NewId, now: int) -> Plan:
    """A statement: ``fact`` is what it would be on its own, ``said`` its observation, under the same id."""
    if said.shelved and (known := _shelved_before(timeline, said)) is not None:
        return Plan(_noop(Op.REFUSED if fact.state is FactState.FORGOTTEN else Op.NOOP, known, TRIVIAL), ())
    if said.shelved and _stands(timeline, said.value):
        said = said._replace(shelved=False)
    inserted = insert(timeline, said, new_id)
    fresh = fact.model_copy(update={"fact_id": inserted.fact_id})
    if not inserted.changed and not (said.session_id is None and _sleeps(timeline, inserted.fact_id, fetch)):
        return Plan(_as_before(timeline, said, inserted.fact_id), ())
    changed, before = settle(
        timeline, inserted.timeline, fetch, fresh=fresh, merged=inserted.merged, said_of=inserted.fact_id
    )
    if said.shelved:
        changed = (*changed, fresh)
        reason, op = (TRIVIAL, Op.REFUSED) if fact.state is FactState.FORGOTTEN else (KEPT_MAYBE, Op.ADD)
        code = "importance" if op is Op.REFUSED else None
        decision = Decision(op=op, fact_id=fresh.fact_id, reason=reason, code=code)
        return Plan(decision, inserted.timeline, changed, fact=fresh, shelves=True)
    return _told(inserted.timeline, inserted.fact_id, changed, before, now, new=inserted.new)


def withdraw(timeline: Timeline, said: Observation, fetch: Fetch, new_id: NewId, now: int) -> Plan:
    """A withdrawal: what it names holds no longer; it is remembered, so that an older statement comes too late."""
    inserted = insert(timeline, said, new_id)
    if not inserted.changed:
        return Plan(Decision(op=Op.NOOP, reason=KNOWN), ())
    changed, before = settle(timeline, inserted.timeline, fetch)
    ended = tuple(fact.fact_id for fact in changed if fact.state is FactState.SUPERSEDED and _was_active(fact, before))
    if not ended:
        return Plan(Decision(op=Op.NOOP, reason=NOTHING), inserted.timeline, changed)
    decision = Decision(op=Op.DELETE, fact_id=ended[-1], reason=WITHDRAWN, superseded=ended)
    replaced = tuple(before[fact_id] for fact_id in ended if serves(before[fact_id], now))
    return Plan(decision, inserted.timeline, changed, replaced)


def settle(
    before: Timeline,
    after: Timeline,
    fetch: Fetch,
    *,
    fresh: Fact | None = None,
    merged: Mapping[str, str] | None = None,
    said_of: str | None = None,
) -> tuple[tuple[Fact, ...], Mapping[str, Fact]]:
    """The facts that change when a timeline does, and all that were looked at as they were.

    ``fresh`` is the fact that is new or was said again, ``said_of`` its id; ``merged`` are facts that are one with
    another by now.
    """
    then, now, one = fold(before), fold(after), merged or {}
    moved = {fact_id for fact_id in now if now[fact_id] != then.get(fact_id) or fact_id == said_of}
    parted = {fact_id: _same_value(before, after, fact_id) for fact_id in moved if fact_id not in then}
    known = fetch({*moved, *one, *parted.values()} - {""})
    changed: list[Fact] = []
    for fact_id in now:
        if fact_id not in moved:
            continue
        source = known.get(fact_id) or (fresh if fact_id == said_of else known.get(parted.get(fact_id, "")))
        if source is None:
            continue  # its item went; the timeline still says that it was
        is_said = fresh if fact_id == said_of else None
        updated = _standing(source.model_copy(update={"fact_id": fact_id}), now[fact_id], is_said)
        if updated != known.get(fact_id):
            changed.append(updated)
    changed += [_into(known[old], new) for old, new in one.items() if old in known]
    return tuple(changed), known


def _standing(fact: Fact, standing: Standing, said: Fact | None) -> Fact:
    update = {
        "valid_from": standing.valid_from,
        "observed_at": standing.valid_from,
        "last_confirmed_at": standing.last_confirmed_at,
        "confidence": standing.confidence,
        "valid_to": standing.valid_to,
        "superseded_by": standing.superseded_by,
        "contradicts": standing.contradicts,
        "state": _state(fact, standing, said=said is not None),
    }
    if said is not None and said is not fact:
        update["importance"] = max(fact.importance, said.importance)
        if said.expires_at is not None or fact.last_confirmed_at < standing.last_confirmed_at:
            update["expires_at"] = said.expires_at
    if update["state"] is FactState.ACTIVE:
        update |= {"restorable_until": None, "keep_maybe": False}
    return fact.model_copy(update=update)


def _state(fact: Fact, standing: Standing, *, said: bool) -> FactState:
    if not standing.stands:
        return fact.state if fact.state is FactState.FORGOTTEN else FactState.SUPERSEDED
    return FactState.ACTIVE if said or fact.state is FactState.SUPERSEDED else fact.state


def _into(fact: Fact, other: str) -> Fact:
    """A fact that is one with another by now holds at no instant of its own."""
    state = fact.state if fact.state is FactState.FORGOTTEN else FactState.SUPERSEDED
    return fact.model_copy(
        update={"state": state, "valid_to": fact.valid_from, "superseded_by": other, "contradicts": ()}
    )


def _told(
    timeline: Timeline, fact_id: str, changed: tuple[Fact, ...], before: Mapping[str, Fact], now: int, *, new: bool
) -> Plan:
    fact = next((each for each in changed if each.fact_id == fact_id), before.get(fact_id))
    ended = tuple(each.fact_id for each in changed if each.superseded_by == fact_id and _was_active(each, before))
    stands = fact is not None and fact.valid_to is None
    replaced = tuple(before[each] for each in ended if serves(before[each], now)) if stands else ()
    beside = () if fact is None else fact.contradicts
    was = before.get(fact_id)
    if not stands:
        op, reason = Op.NOOP, LATE
    elif ended:
        op, reason = Op.UPDATE, REPLACED
    elif new:
        op, reason = Op.ADD, BESIDE if beside else ADDED
    elif was is not None and was.state in (FactState.FORGOTTEN, FactState.LIMBO):
        op, reason = Op.ADD, AGAIN
    else:
        op, reason = Op.NOOP, CONFIRMED
    decision = Decision(op=op, fact_id=fact_id, reason=reason, superseded=ended, contradicts=beside)
    return Plan(decision, timeline, changed, replaced, fact)


def _sleeps(timeline: Timeline, fact_id: str, fetch: Fetch) -> bool:
    """Whether it would hold, had it not been put in limbo or forgotten: then saying it again wakes it."""
    standing, known = fold(timeline).get(fact_id), fetch([fact_id]).get(fact_id)
    asleep = known is not None and known.state in (FactState.LIMBO, FactState.FORGOTTEN)
    return asleep and standing is not None and standing.stands


def _was_active(fact: Fact, before: Mapping[str, Fact]) -> bool:
    return fact.fact_id in before and before[fact.fact_id].state is FactState.ACTIVE


def _noop(op: Op, fact_id: str, reason: str) -> Decision:
    return Decision(op=op, fact_id=fact_id, reason=reason, code="importance" if op is Op.REFUSED else None)


def _shelved_before(timeline: Timeline, said: Observation) -> str | None:
    return next((each.fact_id for each in timeline if each.shelved and each.value == said.value), None)


def _stands(timeline: Timeline, value: str) -> bool:
    stands = {fact_id for fact_id, one in fold(timeline).items() if one.stands}
    return any(each.fact_id in stands and each.value == value and not each.withdraws for each in timeline)


def _same_value(before: Timeline, after: Timeline, fact_id: str) -> str:
    """The fact that this one was parted from."""
    value = next(each.value for each in after if each.fact_id == fact_id)
    return next((each.fact_id for each in before if each.value == value and not each.withdraws), "")


def _as_before(timeline: Timeline, said: Observation, fact_id: str) -> Decision:
    """What is answered to the same statement of the same turn once more: what it did the first time."""
    first = next(each for each in timeline if each.fact_id == fact_id)
    if said.session_id is None or (first.session_id, first.seq) != (said.session_id, said.seq):
        return _noop(Op.NOOP, fact_id, KNOWN)
    told = fold(timeline)
    ended = tuple(each for each, one in told.items() if one.superseded_by == fact_id and one.valid_to == said.at)
    return Decision(op=Op.UPDATE if ended else Op.ADD, fact_id=fact_id, reason=LEARNED, superseded=ended)
